// Which options read lines whose format is not recognised.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ingest/codec/beginning.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/head_lines.hpp"
#include "ingest/codec/header_words.hpp"

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
  return spelling("columns", label_is_in_the_middle(table) ? "source,label,target" : "source,target,label");
}

std::string csv_with_header(const OptionSpelling& spelling, const Table& table) {
  const auto ends = columns_of_ends(table.rows[0]);
  const std::string source = ends ? ends->first : std::string(table.rows[0][0]);
  const std::string target = ends ? ends->second : std::string(table.rows[0][1]);
  return fmt::format("; the first line looks like a header: {} {} reads it so", spelling("format", "csv"),
                     spell_columns(spelling, fmt::format("source={},target={}", source, target)));
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
  const auto is_plain = [](std::string_view word) { return word.find_first_of("()[]{}<>,;\"'|") == std::string_view::npos; };
  const bool plain = std::ranges::all_of(blanks.rows, [&](const Fields& row) {
    return row.size() >= 2 && row.size() <= most_words && std::ranges::all_of(row, is_plain);
  });
  if (!plain) blanks.columns = 0;
  if (vertices) return advice_on_vertices(spelling, tabs, blanks);
  if (table_of(lines, [](std::string_view line) { return split_at(line, "::"); }).columns > 1)
    return "; if :: separates the fields, convert the file: sed 's/::/\\t/g' FILE";
  if (table_of(lines, [](std::string_view line) { return split_at(line, "|"); }).columns > 1)
    return fmt::format("; if | separates the fields, give {}", spelling("separator", "bar"));
  if (begins_with_header(tabs)) return csv_with_header(spelling, tabs);
  const std::string tsv = spelling("format", "tsv");
  if (tabs.columns == 2) return fmt::format("; if the lines are edges between names, give {}", tsv);
  if (tabs.columns == 3)
    return fmt::format("; if the lines are edges between names, give {} {}", tsv, columns_of_three(spelling, tabs));
  if (!plain) return {};
  if (begins_with_header(blanks))
    return fmt::format("; the first line looks like a header: leave it out, and convert the file: sed {}d FILE",
                       lines[0].number);
  const std::string snap = fmt::format("; if the lines are edges between names, give {} {}", spelling("format", "snap"),
                                       spelling.common("ids", "string"));
  return blanks.columns == 3 ? fmt::format("{} {}", snap, columns_of_three(spelling, blanks)) : snap;
}

}  // namespace deltamatch::ingest
