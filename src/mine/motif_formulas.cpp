// Computes the counts that formulas start from, and turns counts of all occurrences into counts of induced ones. The formulas
// for five vertices are from Pinar, Seshadhri and Vishal (ESCAPE, 2017), those for four from Ahmed et al. (2015).
#include "mine/motif_formulas.hpp"

#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "mine/cliques.hpp"
#include "mine/edge_index.hpp"
#include "mine/five_vertices.hpp"

namespace deltamatch::mine {
namespace {

/// Counts how often each pattern of the table's size (row) is a spanning subgraph of each other one (column).
std::vector<std::vector<std::uint32_t>> spanning_counts(const PatternTable& table) {
  const unsigned k = table.k();
  const auto patterns = table.patterns(k);
  std::vector<std::vector<std::uint32_t>> counts(patterns.size(), std::vector<std::uint32_t>(patterns.size(), 0));
  for (std::size_t whole = 0; whole < patterns.size(); ++whole) {
    for (Key part = patterns[whole];; part = (part - 1) & patterns[whole]) {
      const auto found = std::find(patterns.begin(), patterns.end(), canonical_form(k, part).key);
      if (found != patterns.end()) ++counts[static_cast<std::size_t>(found - patterns.begin())][whole];
      if (part == 0) break;
    }
  }
  return counts;
}

/// Turns the counts into induced ones. A pattern has no more edges than those after it, so the last count is induced already.
void make_induced(const PatternTable& table, std::vector<Count>& counts) {
  const auto spanning = spanning_counts(table);
  for (std::size_t part = counts.size(); part-- > 0;) {
    for (std::size_t whole = part + 1; whole < counts.size(); ++whole) {
      counts[part] -= checked_mul(spanning[part][whole], counts[whole]);
    }
  }
}

template <class Graph>
Wide degree_sum(const Graph& graph, unsigned choose) {
  Wide sum = 0;
  for (VertexId v = 0; v < graph.vertices(); ++v) sum += static_cast<Wide>(checked_binomial(graph.degree(v), choose));
  return sum;
}

Wide clique_count(const SimpleGraph& graph, unsigned k, Workers& workers, RunControl& control,
                  match::DenseSetCounter* devices = nullptr) {
  const auto counts = clique_counts(graph, k, workers, control, devices);
  return counts.size() > k ? static_cast<Wide>(counts[k]) : 0;
}

/// Counts 4-cycles, each from its smallest vertex. So a list is read only for vertices of larger degree.
Wide four_cycles(const OrderedGraph& graph, Workers& workers, RunControl& control) {
  struct Row {
    std::vector<VertexId> common;
    Wide sum = 0;
  };
  std::vector<Row> rows(workers.size());
  workers.for_each(graph.vertices(), 16, [&](unsigned worker, std::size_t begin, std::size_t end) {
    Row& row = rows[worker];
    row.common.resize(graph.vertices(), 0);
    for (std::size_t u = begin; u < end && !control.check(worker); ++u) {
      const auto each = [&](auto&& visit) {
        for (const VertexId w : graph.later(static_cast<VertexId>(u))) {
          const auto list = graph.neighbours(w);
          for (const VertexId* v = list.data() + list.size(); v[-1] > u;) visit(*--v);
        }
      };
      each([&](VertexId v) { row.sum += row.common[v]++; });
      each([&](VertexId v) { row.common[v] = 0; });
    }
  });
  Wide sum = 0;
  for (const Row& row : rows) sum += row.sum;
  return sum;
}

Spanning three_vertices(const SimpleGraph& graph, Workers& workers, RunControl& control, match::DenseSetCounter* devices) {
  return {{key_of_edges(3, "01 12"), degree_sum(graph, 2)},
          {key_of_edges(3, "01 12 02"), clique_count(graph, 3, workers, control, devices)}};
}

Spanning four_vertices(const SimpleGraph& whole, const OrderedGraph& graph, const EdgeIndex& index, Workers& workers,
                       RunControl& control) {
  Wide paths = 0;
  Wide tailed = 0;
  Wide diamonds = 0;
  for (EdgeId e = 0; e < index.edges(); ++e) {
    const Wide a = graph.degree(index.lesser(e));
    const Wide b = graph.degree(index.greater(e));
    const Wide t = index.triangles(e);
    paths += (a - 1) * (b - 1) - t;
    tailed += t * (a + b - 4);  // each triangle has two edges at the tail's end
    diamonds += t * (t - 1) / 2;
  }
  return {{key_of_edges(4, "01 12 23"), paths},
          {key_of_edges(4, "01 02 03"), degree_sum(graph, 3)},
          {key_of_edges(4, "01 12 23 03"), four_cycles(graph, workers, control)},
          {key_of_edges(4, "01 12 02 03"), tailed / 2},
          {key_of_edges(4, "01 12 23 03 02"), diamonds},
          {key_of_edges(4, "01 02 03 12 13 23"), clique_count(whole, 4, workers, control)}};
}

}  // namespace

std::vector<Count> formula_counts(const SimpleGraph& graph, const PatternTable& table, Workers& workers, RunControl& control,
                                  match::DenseSetCounter* devices) {
  const unsigned k = table.k();
  const auto patterns = table.patterns(k);
  std::vector<Count> counts(patterns.size(), 0);
  if (k == 2) {
    counts[0] = graph.edges();
    return counts;
  }
  Spanning spanning;
  if (k == 3) {
    spanning = three_vertices(graph, workers, control, devices);
  } else {
    const OrderedGraph ordered(graph, degree_order(graph));
    const EdgeIndex index(ordered, k == 5, workers, control);
    if (control.stopped()) return counts;
    spanning = k == 4 ? four_vertices(graph, ordered, index, workers, control)
                      : five_vertices(graph, ordered, index, workers, control);
  }
  if (control.stopped()) return counts;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const auto same = [&](const SpanningCount& entry) { return entry.pattern == patterns[i]; };
    const auto found = std::find_if(spanning.begin(), spanning.end(), same);
    counts[i] = static_cast<Count>(found->count);
  }
  make_induced(table, counts);
  return counts;
}

}  // namespace deltamatch::mine
