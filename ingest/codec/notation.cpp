// Notations of edges that are not read, or that would be misread.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/beginning.hpp"
#include "ingest/codec/head_lines.hpp"
#include "ingest/codec/metis.hpp"

namespace deltamatch::ingest {
namespace {

/// The arrow between two ends: `1 -> 2`, with anything behind it, or `1->2` alone. Empty if there is none.
std::string_view arrow_in(std::string_view line) {
  constexpr auto arrows = std::to_array<std::string_view>({"-->", "->", "=>", "\u2192", "<--", "<-", "--"});
  const std::vector<std::string_view> words = split_at_blanks(line);
  for (const std::string_view arrow : arrows) {
    if (words.size() >= 3 && words[1] == arrow) return arrow;
    const std::size_t at = words.size() == 1 && arrow != "--" ? words[0].find(arrow) : std::string_view::npos;
    if (at != std::string_view::npos && at != 0 && at + arrow.size() < words[0].size()) return arrow;
  }
  return {};
}

/// Whether a line is a tuple, or a list of tuples: `(1, 2)`, `('a', 'b'),`, `[(1, 2), (2, 3)]`.
bool is_tuple(std::string_view line) noexcept {
  line = without_blanks(line);
  if (line.starts_with('[')) line = without_blanks(line.substr(1));
  return line.starts_with('(') && line.find(',') < line.find(')') && line.find(')') != std::string_view::npos;
}

/// Whether a line is the problem line of DIMACS: `p edge 5 4`.
bool is_dimacs_problem(std::string_view line) {
  const std::vector<std::string_view> words = split_at_blanks(line);
  const auto is_count = [](std::string_view word) { return word.find_first_not_of("0123456789") == std::string_view::npos; };
  return words.size() == 4 && words[0] == "p" && !is_count(words[1]) && is_count(words[2]) && is_count(words[3]);
}

/// Whether a line is an edge with a dict of Python behind it, in which blanks stand: `1 2 {'weight': 3}`.
bool has_dict(std::string_view line) noexcept {
  line = without_blanks(line);
  const std::size_t start = line.find('{');
  return start != 0 && start != std::string_view::npos && (line[start - 1] == ' ' || line[start - 1] == '\t') &&
         line.ends_with('}') && line.find('}') + 1 == line.size() &&
         (line.substr(start).find(": ") != std::string_view::npos || line.ends_with("{}"));
}

}  // namespace

void refuse_notation(std::string_view head, const std::string& name, std::optional<Format> format) {
  if (format && *format != Format::snap && *format != Format::tve) return;
  constexpr std::size_t enough = 32;
  std::vector<Line> lines = lines_of(head, enough);
  std::erase_if(lines, [](const Line& line) { return is_comment(line.text); });
  const auto refuse = [&](const Line& line, std::string_view what, const std::string& command) {
    throw Error(fmt::format("{}:{}", name, line.number), fmt::format("{} {}", in_ticks(line.text), what),
                "convert the file: " + command);
  };
  const auto problem =
      std::ranges::find_if(lines, [](const Line& line) { return !split_at_blanks(line.text)[0].starts_with('c'); });
  if (problem != lines.end() && is_dimacs_problem(problem->text)) {
    refuse(*problem, "begins a graph of DIMACS, which is not read here",
           R"(awk '$1 == "e" || $1 == "a" {print $2, $3}' FILE (edges `e` have no direction))");
  }
  if (lines.empty() || format == Format::tve) return;
  if (!format) {
    if (const std::optional<std::string> command = metis_command(head))
      refuse(lines[0], "begins a graph of METIS, whose lines are the neighbours of vertices 1, 2, 3, ...; it is not read here",
             *command);
    const auto is_triple = [](const Line& line) {
      return line.text.starts_with('<') && without_blanks(line.text).ends_with(" .");
    };
    if (std::ranges::all_of(lines, is_triple)) {
      refuse(lines[0], "is a triple of RDF, which is not read",
             R"(sed -E 's/^([^ ]+) +([^ ]+) +(.*[^ ]) +\.$/\1\t\2\t\3/' FILE)");
    }
  }
  const auto dict = std::ranges::find_if(lines, [](const Line& line) { return !without_blanks(line.text).ends_with("{}"); });
  if (dict != lines.end() && std::ranges::all_of(lines, [](const Line& line) { return has_dict(line.text); }))
    refuse(*dict, "is an edge with data in the notation of Python, which is not read",
           R"(sed -E 's/[[:blank:]]*\{.*\}[[:blank:]]*$//' FILE)");
  const std::string_view arrow = arrow_in(lines[0].text);
  if (!arrow.empty() && std::ranges::all_of(lines, [&](const Line& line) { return arrow_in(line.text) == arrow; })) {
    refuse(lines[0], "is an edge with an arrow, which is not read",
           arrow.starts_with('<') ? fmt::format(R"(sed -E 's/^(.*[^ ]) *{} *([^ ]+)/\2\t\1/' FILE)", arrow)
                                  : fmt::format(R"(sed 's/[[:blank:]]*{}[[:blank:]]*/\t/' FILE)", arrow));
  }
  if (std::ranges::all_of(lines, [](const Line& line) { return is_tuple(line.text); }))
    refuse(lines[0], "is an edge in parentheses, which are not read", R"(grep -o '([^()]*)' FILE | tr -d "()'")");
}

}  // namespace deltamatch::ingest
