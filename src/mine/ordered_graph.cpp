#include "mine/ordered_graph.hpp"

#include <algorithm>

namespace deltamatch::mine {

OrderedGraph::OrderedGraph(const SimpleGraph& graph, std::vector<VertexId> order) : order_(std::move(order)) {
  std::vector<VertexId> position(graph.vertices(), invalid_vertex);
  for (VertexId i = 0; i < order_.size(); ++i) position[order_[i]] = i;
  begin_.assign(order_.size() + 1, 0);
  later_.assign(order_.size(), 0);
  for (VertexId v = 0; v < order_.size(); ++v) {
    for (const VertexId neighbour : graph.neighbours(order_[v])) {
      if (position[neighbour] != invalid_vertex) neighbours_.push_back(position[neighbour]);
    }
    const auto list = neighbours_.begin() + static_cast<std::ptrdiff_t>(begin_[v]);
    std::sort(list, neighbours_.end());
    begin_[v + 1] = neighbours_.size();
    later_[v] = static_cast<std::uint64_t>(std::upper_bound(list, neighbours_.end(), v) - neighbours_.begin());
  }
}

bool OrderedGraph::joined(VertexId u, VertexId v) const noexcept {
  if (degree(u) > degree(v)) std::swap(u, v);
  const auto list = neighbours(u);
  return std::binary_search(list.begin(), list.end(), v);
}

std::vector<VertexId> degree_order(const SimpleGraph& graph) {
  std::vector<VertexId> order;
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    if (graph.degree(v) > 0) order.push_back(v);
  }
  std::stable_sort(order.begin(), order.end(), [&](VertexId a, VertexId b) { return graph.degree(a) > graph.degree(b); });
  return order;
}

std::vector<VertexId> degeneracy_order(const SimpleGraph& graph, VertexId core) {
  const VertexId n = graph.vertices();
  std::vector<VertexId> degree(n);
  VertexId most = 0;
  for (VertexId v = 0; v < n; ++v) most = std::max(most, degree[v] = graph.degree(v));
  // Vertices are sorted by remaining degree, and those of degree d start at `first[d]`. If a vertex's degree falls by one, it
  // is swapped with the first vertex of its degree. Its new place then belongs to the lower degree.
  std::vector<VertexId> first(std::size_t{most} + 2, 0);
  for (const VertexId d : degree) ++first[d + 1];
  for (std::size_t d = 1; d < first.size(); ++d) first[d] += first[d - 1];
  std::vector<VertexId> sorted(n);
  std::vector<VertexId> place(n);
  std::vector<VertexId> next(first.begin(), first.end());
  for (VertexId v = 0; v < n; ++v) sorted[place[v] = next[degree[v]]++] = v;
  VertexId reached = 0;
  std::size_t kept = n;  // start of the core
  for (VertexId i = 0; i < n; ++i) {
    const VertexId v = sorted[i];
    reached = std::max(reached, degree[v]);
    if (kept == n && reached >= core) kept = i;
    for (const VertexId u : graph.neighbours(v)) {
      if (degree[u] <= degree[v]) continue;  // removed already, or its degree cannot matter any more
      const VertexId head = first[degree[u]]++;
      const VertexId other = sorted[head];
      std::swap(sorted[head], sorted[place[u]]);
      std::swap(place[other], place[u]);
      --degree[u];
    }
  }
  return {sorted.begin() + static_cast<std::ptrdiff_t>(kept), sorted.end()};
}

}  // namespace deltamatch::mine
