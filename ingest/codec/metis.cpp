#include "ingest/codec/metis.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ingest/codec/head_lines.hpp"

namespace deltamatch::ingest {
namespace {

using Numbers = std::vector<std::int64_t>;

std::optional<Numbers> numbers_of(std::string_view line) {
  Numbers numbers;
  for (const std::string_view word : split_at_blanks(line)) {
    std::int64_t number = 0;
    if (parse_integer(word, number) != NumberFault::none || number < 0) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

struct Graph {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  bool weights = false;        // behind each neighbour
  std::vector<Numbers> lists;  // of the vertices from 1 on
};

/// Reads the lines, of which blank ones are vertices without neighbours. Nothing if some line does not fit.
std::optional<Graph> read_graph(std::string_view head) {
  std::optional<Graph> graph;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = without_blanks(head.substr(0, end - (end != 0 && head[end - 1] == '\r' ? 1 : 0)));
    head.remove_prefix(std::min(end + 1, head.size()));
    if (line.starts_with('%')) continue;
    std::optional<Numbers> numbers = numbers_of(line);
    if (!numbers) return std::nullopt;
    if (!graph) {
      const std::size_t count = numbers->size();
      if (count < 2 || count > 3 || (*numbers)[0] < 2 || (*numbers)[1] < 1 || (count == 3 && (*numbers)[2] > 1))
        return std::nullopt;
      graph = Graph{(*numbers)[0], (*numbers)[1], count == 3 && (*numbers)[2] == 1, {}};
      continue;
    }
    const auto vertex = static_cast<std::int64_t>(graph->lists.size()) + 1;
    if (vertex > graph->vertices) {
      if (numbers->empty()) continue;
      return std::nullopt;
    }
    Numbers& neighbours = graph->lists.emplace_back();
    const std::size_t step = graph->weights ? 2 : 1;
    if (numbers->size() % step != 0) return std::nullopt;
    for (std::size_t at = 0; at < numbers->size(); at += step) {
      const std::int64_t neighbour = (*numbers)[at];
      if (neighbour < 1 || neighbour > graph->vertices || neighbour == vertex) return std::nullopt;
      neighbours.push_back(neighbour);
    }
    std::ranges::sort(neighbours);
  }
  return graph;
}

}  // namespace

std::optional<std::string> metis_command(std::string_view head) {
  constexpr std::size_t enough = 16;  // pairs that agree, if the file goes on
  const std::optional<Graph> graph = read_graph(head);
  if (!graph) return std::nullopt;
  const auto known = static_cast<std::int64_t>(graph->lists.size());
  std::size_t pairs = 0;
  std::int64_t entries = 0;
  for (std::int64_t vertex = 1; vertex <= known; ++vertex) {
    for (const std::int64_t neighbour : graph->lists[static_cast<std::size_t>(vertex - 1)]) {
      ++entries;
      if (neighbour > known) continue;
      if (!std::ranges::binary_search(graph->lists[static_cast<std::size_t>(neighbour - 1)], vertex)) return std::nullopt;
      ++pairs;
    }
  }
  const bool whole = known == graph->vertices;
  if (whole ? entries != 2 * graph->edges : pairs < 2 * enough) return std::nullopt;
  return std::string("grep -v '^%' FILE | awk 'NR>1{for(i=1;i<=NF;i+=") + (graph->weights ? "2" : "1") +
         ") if($i>NR-1) print NR-1,$i}' (edges have no direction: --undirected)";
}

}  // namespace deltamatch::ingest
