// Which options read lines whose format is not recognised.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ingest/codec/beginning.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/head_lines.hpp"
#include "ingest/codec/header_words.hpp"
#include "ingest/codec/operation_words.hpp"

namespace deltamatch::ingest {
namespace {

using Fields = std::vector<std::string_view>;

/// The fields of all lines, if they have the same number.
struct Table {
  std::vector<Fields> rows;
  std::size_t columns = 0;  // 0: the lines differ
};

template <class Split>
Table table_of(const std::vector<Line>& lines, Split split) {
  Table table;
  for (const Line& line : lines) table.rows.push_back(split(line.text));
  const bool same = std::ranges::all_of(table.rows, [&](const Fields& row) { return row.size() == table.rows[0].size(); });
  if (same && !table.rows.empty()) table.columns = table.rows[0].size();
  return table;
}

Fields split_at(std::string_view line, std::string_view separator) {
  Fields fields;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    fields.push_back(without_blanks(line.substr(at, end - at)));
    if (end == line.size()) return fields;
    at = end + separator.size();
  }
}

/// Whether the first of several lines has names of columns, and none of them stands in their column again.
bool begins_with_header(const Table& table) {
  if (table.columns < 2 || table.rows.size() < 2) return false;
  const Fields& first = table.rows[0];
  const auto named = std::ranges::count_if(first, [](std::string_view cell) { return is_header_word(cell); });
  if (static_cast<std::size_t>(named) * 2 < table.columns || named < 2) return false;
  return std::ranges::all_of(table.rows.begin() + 1, table.rows.end(), [&](const Fields& row) {
    for (std::size_t column = 0; column < table.columns; ++column) {
      if (row[column] == first[column]) return false;
    }
    return true;
  });
}

bool has_digit(std::string_view text) noexcept { return text.find_first_of("0123456789") != std::string_view::npos; }
bool looks_like_number(std::string_view text) noexcept {
  return text.find_first_not_of("0123456789.-") == std::string_view::npos;
}

/// Whether the first line has words in the columns of ids, and all others have names with digits there: `tconst`, `tt0000001`.
bool has_words_above_numbered_names(const Table& table) {
  if (table.columns < 2 || table.columns > 3 || table.rows.size() < 3) return false;
  return std::ranges::all_of(std::array{std::size_t{0}, std::size_t{1}}, [&](std::size_t column) {
    return !has_digit(table.rows[0][column]) && std::ranges::all_of(table.rows.begin() + 1, table.rows.end(),
                                                                    [&](const Fields& row) { return has_digit(row[column]); });
  });
}

/// Whether the label of three columns seems to stand in the middle, as in SIF and triples. Values that occur at both ends, or
/// in the middle too, show where ids are. Else the column with fewer values is the label.
bool label_is_in_the_middle(const Table& table) {
  const auto values = [&](std::size_t column) {
    Fields all;
    for (const Fields& row : table.rows) all.push_back(row[column]);
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  };
  const Fields first = values(0);
  const auto shared = [&](const Fields& with) {
    Fields both;
    std::ranges::set_intersection(first, with, std::back_inserter(both));
    return both.size();
  };
  const Fields middle = values(1);
  const Fields last = values(2);
  if (shared(middle) != shared(last)) return shared(last) > shared(middle);
  return middle.size() < last.size();
}

std::string columns_of_three(const OptionSpelling& spelling, const Table& table) {
  const bool empty = std::ranges::all_of(table.rows, [](const Fields& row) { return row[2] == "{}"; });
  if (empty) return spelling("columns", "source,target,-");
  return spelling("columns", label_is_in_the_middle(table) ? "source,label,target" : "source,target,label");
}

std::string csv_with_header(const OptionSpelling& spelling, const Table& table) {
  const auto ends = columns_of_ends(table.rows[0]);
  const std::string source = ends ? ends->first : std::string(table.rows[0][0]);
  const std::string target = ends ? ends->second : std::string(table.rows[0][1]);
  std::string columns = fmt::format("source={},target={}", source, target);
  const bool in_order = source == table.rows[0][0] && target == table.rows[0][1];
  if (table.columns == 3 && in_order && !looks_like_number(table.rows[1][2]) && !role_by_usual_name(table.rows[0][2]))
    columns += fmt::format(",label={}", table.rows[0][2]);
  return fmt::format("; the first line looks like a header: {} {} reads it so", spelling("format", "csv"),
                     spell_columns(spelling, columns));
}

/// What to do if the first column has only words for operations, or letters beside numbers. Empty if it has others.
std::string advice_on_operations(const OptionSpelling& spelling, const Table& table, std::string_view format) {
  if (table.columns < 3) return {};
  bool words = true;
  bool numbers = true;
  std::string_view letter;  // for added
  for (const Fields& row : table.rows) {
    if (!is_operation_field(row[0])) return {};
    words = words && read_word(row[0]);
    if (same_letters(row[0], "a")) letter = row[0];
    for (const std::string_view field : {row[row.size() - 2], row[row.size() - 1]}) numbers = numbers && is_numeric(Id(field));
  }
  if (!words && !numbers) return {};
  const std::string values = letter.empty() ? std::string() : " " + spell(spelling, "op-values", fmt::format("{}=+", letter));
  return fmt::format("; the first column seems to say the operation: {}{} {}{} reads it so", spelling("format", format),
                     numbers ? "" : " " + spelling.common("ids", "string"),
                     spelling("columns", columns_by_position(table.rows[0])), values);
}

/// Whether the first line is of words, and numbers follow in the last of three columns.
bool scores_follow_header(const Table& table) {
  if (table.columns != 3 || table.rows.size() < 2) return false;
  const auto number = [](std::string_view field) { return field.find_first_not_of("0123456789.-") == std::string_view::npos; };
  const Fields& first = table.rows[0];
  return !number(first[2]) && std::ranges::all_of(table.rows.begin() + 1, table.rows.end(), [&](const Fields& row) {
    return number(row[2]) && row[0] != first[0] && row[1] != first[1];
  });
}

std::string advice_on_vertices(const OptionSpelling& spelling, const Table& tabs, const Table& blanks) {
  const bool tabbed = tabs.columns > 1;
  const std::size_t columns = tabbed ? tabs.columns : blanks.columns;
  if (columns < 2) return {};
  std::string advice =
      fmt::format("; if the lines are vertices and their labels, give {}", spelling("format", tabbed ? "tsv" : "snap"));
  if (!tabbed) advice += " " + spelling.common("ids", "string");
  if (columns == 2) return advice;
  std::string skipping = "vertex,label";
  for (std::size_t column = 2; column < columns; ++column) skipping += ",-";
  return advice + " " + spelling("columns", skipping);
}

}  // namespace

std::string advice_on_names(std::string_view head, const OptionSpelling& spelling, bool vertices) {
  constexpr std::size_t enough = 16;
  constexpr std::size_t most_words = 5;
  const std::vector<Line> lines = lines_of(head, enough);
  if (lines.empty()) return {};
  const Table tabs = table_of(lines, [](std::string_view line) { return split_at(line, "\t"); });
  Table blanks = table_of(lines, [](std::string_view line) { return split_at_blanks(line); });
  const auto is_plain = [](std::string_view word) {
    return word == "{}" || word.find_first_of("()[]{}<>,;\"'|") == std::string_view::npos;
  };
  const bool plain = std::ranges::all_of(blanks.rows, [&](const Fields& row) {
    return row.size() >= 2 && row.size() <= most_words && std::ranges::all_of(row, is_plain);
  });
  if (!plain) blanks.columns = 0;
  if (vertices) return advice_on_vertices(spelling, tabs, blanks);
  if (table_of(lines, [](std::string_view line) { return split_at(line, "::"); }).columns > 1)
    return "; if :: separates the fields, convert the file: sed 's/::/\\t/g' FILE";
  if (table_of(lines, [](std::string_view line) { return split_at(line, "|"); }).columns > 1)
    return fmt::format("; if | separates the fields, give {}", spelling("separator", "bar"));
  if (std::string said = advice_on_operations(spelling, tabs, "tsv"); !said.empty()) return said;
  if (plain && tabs.columns < 2) {
    if (std::string said = advice_on_operations(spelling, blanks, "snap"); !said.empty()) return said;
  }
  if (begins_with_header(tabs) || has_words_above_numbered_names(tabs)) return csv_with_header(spelling, tabs);
  const std::string tsv = spelling("format", "tsv");
  if (tabs.columns == 2) return fmt::format("; if the lines are edges between names, give {}", tsv);
  if (tabs.columns == 3)
    return fmt::format("; if the lines are edges between names, give {} {}", tsv, columns_of_three(spelling, tabs));
  if (!plain) return {};
  if (scores_follow_header(blanks)) {
    return fmt::format("; the first line looks like a header: leave it out with sed {}d FILE, and give {} {} {}",
                       lines[0].number, spelling("format", "snap"), spelling.common("ids", "string"),
                       spelling("columns", "source,target,-"));
  }
  if (begins_with_header(blanks) || has_words_above_numbered_names(blanks))
    return fmt::format("; the first line looks like a header: leave it out, and convert the file: sed {}d FILE",
                       lines[0].number);
  const std::string snap = fmt::format("; if the lines are edges between names, give {} {}", spelling("format", "snap"),
                                       spelling.common("ids", "string"));
  return blanks.columns == 3 ? fmt::format("{} {}", snap, columns_of_three(spelling, blanks)) : snap;
}

}  // namespace deltamatch::ingest
