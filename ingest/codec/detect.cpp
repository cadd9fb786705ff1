// How the format of a text is recognised: first by the formats that claim it, then as csv, tsv or snap. These three share one
// look at the lines.
#include "ingest/codec/codec.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/formats.hpp"
#include "ingest/codec/operations.hpp"
#include "ingest/codec/text_head.hpp"

namespace deltamatch::ingest {
namespace {

bool is_text(std::string_view head) noexcept {
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\t' && c != '\r' && c != '\n';
  });
}

/// The fields between single tabs, without the blanks around them, or the fields between runs of blanks.
std::vector<std::string_view> fields_of(std::string_view line, bool tabs) {
  std::vector<std::string_view> fields;
  if (tabs) {
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find('\t', at), line.size());
      fields.push_back(without_blanks(line.substr(at, end - at)));
      at = end + 1;
    }
    return fields;
  }
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos; at = line.find_first_not_of(" \t", at)) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end;
  }
  return fields;
}

bool is_sign(std::string_view field) noexcept { return parse_sign(field).has_value(); }

/// Removes a leading sign, unless there are as many fields as columns. Returns whether it did.
bool take_sign(std::vector<std::string_view>& fields, std::size_t columns) {
  if (fields.empty() || fields.size() == columns || !is_sign(fields[0])) return false;
  fields.erase(fields.begin());
  return true;
}

/// Whether blanks separate fields of this line too. That is so if the first field between tabs is several numbers, or a sign
/// before something.
bool blanks_separate(std::string_view line) noexcept {
  const std::string_view first = without_blanks(line.substr(0, line.find('\t')));
  if (first.find(' ') == std::string_view::npos) return false;
  return is_sign(first.substr(0, first.find(' '))) || first.find_first_not_of("+-0123456789 ") == std::string_view::npos;
}

/// How a line can be read: with fields between single tabs (tsv), or as a line of an edge list. In tsv, blanks belong to
/// fields. In an edge list, tabs and blanks separate alike.
enum class Tabs : std::uint8_t {
  none,    // it is not tsv
  same,    // it can be both, with the same meaning
  either,  // it can be both, with different meanings
  sure     // it is not a line of an edge list
};

/// Source, target, label and time, by the number of fields. Nothing if no record has that number.
std::optional<std::array<std::string_view, 4>> meaning(const std::vector<std::string_view>& fields, bool tabs) {
  if (fields.size() == 2) return std::array<std::string_view, 4>{fields[0], fields[1], "", ""};
  if (fields.size() == 3 && !tabs) return std::array<std::string_view, 4>{fields[0], fields[1], "", fields[2]};
  if (fields.size() == 4) return std::array<std::string_view, 4>{fields[0], fields[1], fields[2], fields[3]};
  return std::nullopt;
}

bool is_integer(std::string_view field) noexcept {
  std::int64_t number = 0;
  return parse_integer(field, number) != NumberFault::not_a_number;
}

/// Whether a signed line has the form that convert writes: five fields, no blanks around them, and none in ids.
bool is_as_converted(std::string_view line, const std::vector<std::string_view>& fields) noexcept {
  std::size_t size = 1;  // the sign
  for (const std::string_view field : fields) size += 1 + field.size();
  return fields.size() == 4 && size == line.size() && fields[0].find(' ') == std::string_view::npos &&
         fields[1].find(' ') == std::string_view::npos;
}

/// `texts`: ids of an edge list may be texts.
Tabs tabs_of(std::string_view line, std::size_t columns, bool texts) {
  std::vector<std::string_view> tabbed = fields_of(line, true);
  std::vector<std::string_view> split = fields_of(line, false);
  const bool with_sign = take_sign(tabbed, columns);
  const bool split_sign = take_sign(split, columns);
  if (columns != 0) {
    if (columns == 1 || tabbed.size() != columns || blanks_separate(line)) return Tabs::none;
    const auto integers = static_cast<std::size_t>(std::ranges::count_if(split, is_integer));
    if (split.size() != columns || (!texts && integers < 2)) return Tabs::sure;
    return tabbed == split ? Tabs::same : Tabs::either;
  }
  const auto meant = meaning(tabbed, true);
  if (!meant || (tabbed.size() == 2 && !with_sign) || blanks_separate(line)) return Tabs::none;
  const auto other = meaning(split, false);
  const bool is_edge = other && (texts || (is_integer((*other)[0]) && is_integer((*other)[1]))) &&
                       ((*other)[3].empty() || (*other)[3].find_first_of("+-.0123456789") == 0);
  if (!is_edge) return Tabs::sure;
  if (*meant == *other && with_sign == split_sign) return Tabs::same;
  return with_sign && is_as_converted(line, tabbed) ? Tabs::sure : Tabs::either;
}

/// The number of lines of each kind.
struct TabCounts {
  std::array<std::size_t, 4> of{};
  [[nodiscard]] std::size_t operator[](Tabs tabs) const noexcept { return of[static_cast<std::size_t>(tabs)]; }
  /// Whether most lines have fields between single tabs.
  [[nodiscard]] bool most() const noexcept {
    const std::size_t some = of[1] + of[2] + of[3];
    return some > of[0];
  }
  /// Whether all lines can be both, and at least one has two meanings.
  [[nodiscard]] bool doubtful() const noexcept {
    return most() && (*this)[Tabs::either] != 0 && (*this)[Tabs::sure] == 0 && (*this)[Tabs::none] == 0;
  }
};

TabCounts count_tabs(const std::vector<std::string_view>& lines, std::size_t columns, bool texts) {
  TabCounts counts;
  for (const std::string_view line : lines) ++counts.of[static_cast<std::size_t>(tabs_of(line, columns, texts))];
  return counts;
}

/// Whether a line can be a header: it has the usual names for source and target, or for a vertex and its label.
bool is_header(std::string_view line) {
  const char separator = csv_separator(line);
  Layout layout;
  for (std::size_t at = 0, column = 0; at <= line.size(); ++column) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    if (const auto role = role_by_usual_name(csv_cell(line.substr(at, end - at)))) layout.set(*role, column);
    at = end + 1;
  }
  return (layout.has(Role::source) && layout.has(Role::target)) || (layout.has(Role::vertex) && layout.has_labels());
}

bool has_fields_of_snap(std::string_view line) {
  const std::size_t fields = fields_of(line, false).size();
  return fields >= 2 && fields <= 5;
}

bool begins_with_comment(std::string_view head) noexcept {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (head[first] == '#' || head[first] == '%');
}

/// Whether a line has integers in the places of an edge list's ids.
bool is_snap(std::string_view line) {
  if (!has_fields_of_snap(line)) return false;
  const std::string_view ids = line.substr(0, line.find_first_of(" \t", line.find_first_not_of("+- \t")));
  return ids.find_first_not_of("+-0123456789 \t") == std::string_view::npos;
}

}  // namespace

Decoded within_max_name(const Decoded& decoded) noexcept {
  const auto long_id = [](const Id& id) { return id.is_text() && id.text().size() > max_name; };
  const auto long_label = [](const std::optional<std::string_view>& label) { return label && label->size() > max_name; };
  for (const Update& update : decoded.updates) {
    if (long_id(update.source) || long_id(update.target))
      return {{}, RejectReason::bad_id, "an id has more than 1024 bytes", {}};
    if (long_label(update.label) || long_label(update.source_label) || long_label(update.target_label))
      return {{}, RejectReason::too_long, "a label has more than 1024 bytes", {}};
    if (update.properties == nullptr) continue;
    if (update.properties->key && long_id(*update.properties->key))
      return {{}, RejectReason::bad_id, "the key of an edge has more than 1024 bytes", {}};
    for (const AttributeValue& value : update.properties->attributes) {
      const auto* const text = std::get_if<std::string_view>(&value);
      if (text != nullptr && text->size() > max_name)
        return {{}, RejectReason::too_long, "the value of an attribute has more than 1024 bytes", {}};
    }
  }
  return decoded;
}

std::optional<Format> detect_format(std::string_view head, std::size_t columns, bool texts) {
  if (head.empty() || !is_text(head)) return std::nullopt;
  const TextHead text(head);
  if (const auto claiming = claiming_format(text)) return claiming;
  const std::vector<std::string_view>& lines = text.lines;
  if (lines.empty()) return Format::snap;  // comments only
  const auto all = [&](auto holds) { return std::all_of(lines.begin(), lines.end(), holds); };
  const auto has_separator = [](std::string_view line) { return line.find_first_of(",;") != std::string_view::npos; };
  if (is_header(lines[0])) return Format::csv;
  const TabCounts tabs = count_tabs(lines, columns, texts);
  if (tabs.doubtful()) return std::nullopt;
  // A line that cannot be tsv shows that blanks separate, if all others can be lines of an edge list.
  const auto is_edge = [&](std::string_view line) { return texts ? has_fields_of_snap(line) : is_snap(line); };
  const bool mixed = tabs[Tabs::sure] == 0 && tabs[Tabs::none] != 0 && all(is_edge) && !all(has_separator);
  // Only an edge list has comments.
  const bool alike = tabs[Tabs::same] == lines.size() && begins_with_comment(head) && all(is_edge);
  if (tabs.most() && alike) return Format::snap;
  if (tabs.most()) return mixed ? Format::snap : Format::tsv;
  if (text.most(is_snap) && !all(has_separator)) return Format::snap;
  if (text.most(has_separator)) return Format::csv;
  if (lines.size() == 1) return std::nullopt;
  // The first record decides, and later ones are refused by line and reason. It does not decide for csv, because prose has
  // commas too.
  const std::optional<Format> first = detect_format(lines[0], columns, texts);
  return first == Format::csv ? std::nullopt : first;
}

std::string_view tsv_or_snap(std::string_view head, std::size_t columns, bool texts) {
  const std::vector<std::string_view> lines = TextHead(head).lines;
  if (!count_tabs(lines, columns, texts).doubtful()) return {};
  return *std::ranges::find_if(lines, [&](std::string_view line) { return tabs_of(line, columns, texts) == Tabs::either; });
}

}  // namespace deltamatch::ingest
