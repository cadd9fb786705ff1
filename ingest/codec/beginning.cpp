#include "ingest/codec/beginning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

struct Line {
  std::string_view text;
  std::uint64_t number;
};

/// The first lines that are not blank.
std::vector<Line> lines_of(std::string_view head, std::size_t most) {
  std::vector<Line> lines;
  std::uint64_t number = 0;
  while (!head.empty() && lines.size() < most) {
    std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    if (!without_blanks(line).empty()) lines.push_back({line, number});
  }
  return lines;
}

bool is_comment(std::string_view line) noexcept {
  line = without_blanks(line);
  return line.starts_with('#') || line.starts_with('%');
}

/// The words of a comment, in small letters.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool within = false;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = std::isalpha(byte) != 0 || byte >= 0x80;
    if (letter && !within) words.emplace_back();
    if (letter) words.back() += static_cast<char>(std::tolower(byte));
    within = letter;
  }
  return words;
}

/// Whether a line can be the header of a CSV file with these options.
bool is_header(std::string_view line, CodecOptions options) {
  options.doubts = nullptr;
  if (options.separator == 0) options.separator = csv_separator(line);
  const std::unique_ptr<Codec> codec = make_codec(Format::csv, options);
  const Decoded decoded = codec->decode(line);
  return !decoded.refused && decoded.remedy.empty();
}

/// Whether a line is Excel's `sep=;`.
bool is_separator_line(std::string_view line) noexcept {
  line = csv_cell(line);
  return line.size() == 5 && same_letters(line.substr(0, 4), "sep=");
}

bool is_number(const Id& id) {
  std::int64_t number = 0;
  return !id.is_text() || parse_integer(id.text(), number) == NumberFault::none;
}

}  // namespace

void refuse_wide_text(std::string_view head, const std::string& name) {
  const bool mark = head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff");
  const std::string_view sample = head.substr(0, 64);
  const auto zeros = static_cast<std::size_t>(std::ranges::count(sample, '\0'));
  const bool wide = sample.size() >= 4 && zeros * 5 >= sample.size() * 2 && (sample[0] == '\0') != (sample[1] == '\0');
  if (!mark && !wide) return;
  throw Error(name + ":1", "the text is UTF-16, but must be UTF-8",
              mark ? "convert it: iconv -f UTF-16 -t UTF-8 FILE"
                   : fmt::format("convert it: iconv -f UTF-16{} -t UTF-8 FILE", sample[0] == '\0' ? "BE" : "LE"));
}

void refuse_lone_returns(std::string_view head, const std::string& name) {
  head = head.substr(0, head.find_last_not_of("\r\n") + 1);
  if (head.find('\n') != std::string_view::npos) return;
  const std::size_t first = head.find_first_not_of(" \t\r");
  const bool json = first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
  bool quoted = false;
  for (std::size_t at = 0; at < head.size(); ++at) {
    if (head[at] == '"') quoted = !quoted;
    if (head[at] != '\r' || quoted) continue;
    // Between the tokens of JSON a CR is a blank. Only lines of objects need line ends.
    if (json && !(head[first] == '{' && at != 0 && head[at - 1] == '}' && head[head.find_first_not_of('\r', at)] == '{'))
      continue;
    throw Error(name + ":1", "the lines end in CR alone, but must end in LF or CR LF", "convert it: tr '\\r' '\\n' <FILE");
  }
}

void refuse_lines_above_header(std::string_view head, const std::string& name, const CodecOptions& options) {
  constexpr std::size_t enough = 32;
  const std::vector<Line> lines = lines_of(head, enough);
  if (lines.empty()) return;
  const auto where = [&](const Line& line) { return fmt::format("{}:{}", name, line.number); };
  if (is_separator_line(lines[0].text)) {
    throw Error(where(lines[0]),
                fmt::format("{} is a line about the separator for Excel, not a header", in_ticks(lines[0].text)),
                fmt::format("leave the line out: tail -n +{} FILE", lines[0].number + 1));
  }
  if (!options.header.value_or(true) || is_header(lines[0].text, options)) return;
  for (const Line& line : lines) {
    if (!is_header(line.text, options)) continue;
    throw Error(where(lines[0]), fmt::format("{} is above the header, which is line {}", in_ticks(lines[0].text), line.number),
                fmt::format("leave out the lines above it: tail -n +{} FILE", line.number));
  }
}

void doubt_comments(std::string_view head, bool stated, Doubts& doubts) {
  constexpr std::size_t enough = 64;
  for (const Line& line : lines_of(head, enough)) {
    if (!is_comment(line.text)) return;
    const std::vector<std::string> words = words_of(line.text);
    const auto says = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
    const bool konect = without_blanks(line.text).starts_with('%') && !words.empty();
    if (!stated && ((says("undirected") && !says("directed")) || (konect && words[0] == "sym"))) {
      const bool configured = doubts.spelling().in_configuration;
      doubts.report_at(
          {line.number, 0}, "undirected_comment",
          fmt::format("{} says that edges have no direction, but they are read as directed", in_ticks(line.text)),
          configured ? "directed: false reads them so" : "--undirected reads them so; --directed says that they are directed");
    }
    if (konect && words[0] == "bip") {
      doubts.report_at({line.number, 0}, "bipartite_comment",
                       fmt::format("{} says that sources and targets are two sets, but equal numbers are read as one vertex",
                                   in_ticks(line.text)),
                       "give the targets ids of their own, such as negative ones");
    }
  }
}

void doubt_first_record(std::string_view head, Format format, const CodecOptions& options, Doubts& doubts) {
  constexpr std::size_t enough = 16;
  CodecOptions alone = options;
  alone.doubts = nullptr;
  const std::unique_ptr<Codec> codec = make_codec(format, alone);
  std::optional<Line> first;
  std::size_t numbers = 0;
  for (const Line& line : lines_of(head, enough)) {
    const Decoded decoded = codec->decode(line.text);
    if (!decoded.remedy.empty()) return;
    if (decoded.updates.size() != 1) continue;
    const Update& update = decoded.updates[0];
    const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
    const bool source = is_number(update.source);
    const bool target = edge ? is_number(update.target) : source;
    if (!first) {
      if (source || target) return;
      first = line;
    } else if (!source || !target) {
      return;
    } else {
      ++numbers;
    }
  }
  if (!first || numbers < 2) return;
  doubts.report_at(
      {first->number, 0}, "header_as_record",
      fmt::format("the words of {} are read as ids, but numbers follow: it may be a header", in_ticks(first->text)),
      format == Format::csv ? fmt::format("{} skips it, {} says that it is a record", doubts.spelling()("header", "yes"),
                                          doubts.spelling()("header", "no"))
                            : "leave the line out if it is one");
}

}  // namespace deltamatch::ingest
