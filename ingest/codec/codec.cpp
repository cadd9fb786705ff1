// The list of formats, and how one is recognised.
#include "ingest/codec/codec.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/binary.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/mtx.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::array<std::string_view, 8> format_names = {"snap", "csv", "tsv", "tve", "jlg", "jsonl", "binary", "mtx"};

/// The lines of a head that say something.
std::vector<std::string_view> telling_lines(std::string_view head) {
  constexpr std::size_t enough = 16;
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < head.size() && lines.size() < enough;) {
    const std::size_t end = std::min(head.find('\n', at), head.size());
    std::string_view line = head.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] == '#' || line[first] == '%') continue;
    lines.push_back(line);
  }
  return lines;
}

bool is_text(std::string_view head) noexcept {
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\t' && c != '\r' && c != '\n';
  });
}

/// An object, or an array of objects, arrays, texts or numbers. Over many lines they begin with a bracket alone.
bool is_json(std::string_view line) noexcept {
  const std::size_t first = line.find_first_not_of(" \t");
  if (line[first] == '{') return true;
  if (line[first] != '[') return false;
  const std::size_t inner = line.find_first_not_of(" \t", first + 1);
  return inner == std::string_view::npos || std::string_view("{[]\"-0123456789").find(line[inner]) != std::string_view::npos;
}

/// JSON that goes on in the next lines.
bool begins_json(std::string_view line) noexcept {
  return is_json(line) && (line[line.find_first_not_of(" \t")] == '[' || without_blanks(line) == "{");
}

bool is_tve(std::string_view line) noexcept {
  const std::size_t first = line.find_first_not_of(" \t");
  const std::string_view rest = line.substr(first);
  const std::size_t end = rest.find_first_of(" \t");
  if (end == std::string_view::npos) return false;
  const std::string_view verb = rest.substr(0, end);
  constexpr std::array<std::string_view, 7> verbs = {"t", "v", "e", "-v", "-e", "+v", "+e"};
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) return false;
  const std::size_t operand = rest.find_first_not_of(" \t", end);  // an integer follows in every such line, or # in `t # N`
  return operand != std::string_view::npos && (std::isdigit(static_cast<unsigned char>(rest[operand])) != 0 ||
                                               rest[operand] == '-' || (verb == "t" && rest[operand] == '#'));
}

/// Of numbers that may be negative, so that such a header is refused as what it is.
bool is_jlg_header(std::string_view line) noexcept {
  const auto number = [&line] {
    if (line.starts_with('-')) line.remove_prefix(1);
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    const bool found = digits != 0 && digits < line.size() && line[digits] == ',';
    line.remove_prefix(found ? digits + 1 : 0);
    return found;
  };
  const bool vertices = number();
  const bool edges = vertices && number();
  return edges && (line == "u" || line == "d" || line.starts_with("u,") || line.starts_with("d,"));
}

/// Fields between single tabs, or between runs of blanks.
std::size_t count_fields(std::string_view line, bool tabs) noexcept {
  if (tabs) return static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1;
  std::size_t count = 0;
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos; ++count) {
    at = line.find_first_of(" \t", at);
    if (at != std::string_view::npos) at = line.find_first_not_of(" \t", at);
  }
  return count;
}

/// Whether a field between tabs is several numbers or signs: the line's blanks separate them, too.
bool is_several_numbers(std::string_view field) noexcept {
  field = without_blanks(field);
  return field.find(' ') != std::string_view::npos && field.find_first_not_of("+-0123456789 ") == std::string_view::npos;
}

bool is_tsv(std::string_view line) noexcept {
  if (is_several_numbers(line.substr(0, line.find('\t')))) return false;
  const std::size_t fields = count_fields(line, true);
  const bool is_signed = line.size() > 1 && (line[0] == '+' || line[0] == '-') && line[1] == '\t';
  return is_signed ? fields == 3 || fields == 5 : fields == 4;
}

/// Whether a line is a list of names that a header could be: with the usual ones for source and target, or for a vertex and its
/// label.
bool is_header(std::string_view line) {
  const char separator = csv_separator(line);
  Layout layout;
  for (std::size_t at = 0, column = 0; at <= line.size(); ++column) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    if (const auto role = role_by_usual_name(csv_cell(line.substr(at, end - at)))) layout.set(*role, column);
    at = end + 1;
  }
  return (layout.has(Role::source) && layout.has(Role::target)) || (layout.has(Role::vertex) && layout.has(Role::label));
}

/// Whether a line has ids alone where an edge list has them.
bool is_snap(std::string_view line) noexcept {
  const std::size_t fields = count_fields(line, false);
  if (fields < 2 || fields > 5) return false;
  const std::string_view ids = line.substr(0, line.find_first_of(" \t", line.find_first_not_of("+- \t")));
  return ids.find_first_not_of("+-0123456789 \t") == std::string_view::npos;
}

}  // namespace

std::string_view format_name(Format format) noexcept { return format_names[static_cast<std::size_t>(format)]; }

std::optional<Format> format_by_name(std::string_view name) noexcept {
  if (name == "json") return Format::jsonl;
  if (name == "matrix-market") return Format::mtx;
  const auto* const found = std::find(format_names.begin(), format_names.end(), name);
  if (found == format_names.end()) return std::nullopt;
  return static_cast<Format>(found - format_names.begin());
}

Decoded within_max_name(const Decoded& decoded) noexcept {
  const auto long_id = [](const Id& id) { return id.is_text() && id.text().size() > max_name; };
  const auto long_label = [](const std::optional<std::string_view>& label) { return label && label->size() > max_name; };
  for (const Update& update : decoded.updates) {
    if (long_id(update.source) || long_id(update.target))
      return {{}, RejectReason::bad_id, "an id has more than 1024 bytes", {}};
    if (long_label(update.label) || long_label(update.source_label) || long_label(update.target_label))
      return {{}, RejectReason::too_long, "a label has more than 1024 bytes", {}};
  }
  return decoded;
}

std::unique_ptr<Codec> make_codec(Format format, const CodecOptions& options) {
  if (options.envelope != Envelope::none && format != Format::jsonl) {
    throw Error(ErrorKind::usage, "envelope", std::string(format_name(format)) + " records have none", "leave it out");
  }
  switch (format) {
    case Format::tve:
      return make_tve_codec(options);
    case Format::jsonl:
      return make_jsonl_codec(options);
    case Format::binary:
      return make_binary_codec(options);
    case Format::csv:
      return make_csv_codec(options);
    case Format::mtx:
      return make_mtx_codec(options);
    default:
      return make_delimited_codec(format, options);
  }
}

std::optional<Format> detect_format(std::string_view head, std::size_t columns) {
  const std::vector<std::string_view> lines = telling_lines(head);
  if (head.empty() || !is_text(head)) return std::nullopt;
  if (begins_as_mtx(head)) return Format::mtx;
  if (lines.empty()) return Format::snap;  // comments only
  const auto all = [&](auto holds) { return std::all_of(lines.begin(), lines.end(), holds); };
  const auto most = [&](auto holds) {
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), holds)) * 2 > lines.size();
  };
  const auto has_separator = [](std::string_view line) { return line.find_first_of(",;") != std::string_view::npos; };
  if (most(is_json) || begins_json(lines[0])) return Format::jsonl;
  if (most(is_tve)) return Format::tve;
  if (is_jlg_header(lines[0])) return Format::jlg;
  if (is_header(lines[0])) return Format::csv;
  const auto has_columns = [&](std::string_view line) { return columns > 1 && count_fields(line, true) == columns; };
  if (most(has_columns) || (columns == 0 && most(is_tsv))) return Format::tsv;
  if (most(is_snap) && !all(has_separator)) return Format::snap;
  if (most(has_separator)) return Format::csv;
  if (lines.size() == 1) return std::nullopt;
  // Then the first record decides, and later ones are refused by line and reason. Not as csv: prose has commas, too.
  const std::optional<Format> first = detect_format(lines[0], columns);
  return first == Format::csv ? std::nullopt : first;
}

}  // namespace deltamatch::ingest
