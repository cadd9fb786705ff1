// Numbers the edges of a graph, and lists the triangles on each edge.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "mine/ordered_graph.hpp"
#include "mine/run_control.hpp"

namespace deltamatch::mine {

/// The number of an edge. Edges are numbered by their later end, then by the earlier one.
using EdgeId = std::uint32_t;

class EdgeIndex {
 public:
  /// A triangle on an edge {a, b}, a < b: the edges that join a and b to its third vertex.
  struct Sides {
    EdgeId of_lesser;
    EdgeId of_greater;
  };

  /// Vertices early in the order should have many neighbours, because every triangle is found from its latest vertex. `list`:
  /// also store each edge's triangles, which takes 36 bytes per triangle. The index is unusable once the run is stopped.
  /// O(edges x longest list of earlier neighbours).
  EdgeIndex(const OrderedGraph& graph, bool list, Workers& workers, RunControl& control);

  [[nodiscard]] EdgeId edges() const noexcept { return static_cast<EdgeId>(ends_.size()); }
  /// The first of the edges to earlier(v), which are in the same order.
  [[nodiscard]] EdgeId first_earlier(VertexId v) const noexcept { return first_[v]; }
  [[nodiscard]] VertexId triangles(EdgeId e) const noexcept { return triangles_[e]; }
  [[nodiscard]] std::span<const Sides> sides(EdgeId e) const noexcept {
    return {sides_.get() + begin_[e], sides_.get() + begin_[e + 1]};
  }
  /// The third vertices of the triangles in sides(e), in the same order.
  [[nodiscard]] std::span<const VertexId> thirds(EdgeId e) const noexcept {
    return {thirds_.get() + begin_[e], thirds_.get() + begin_[e + 1]};
  }
  /// The edges of v, parallel to its neighbours.
  [[nodiscard]] std::span<const EdgeId> edges_of(VertexId v) const noexcept {
    return {edges_of_.data() + lists_[v], edges_of_.data() + lists_[v + 1]};
  }
  [[nodiscard]] VertexId lesser(EdgeId e) const noexcept { return ends_[e].lesser; }
  [[nodiscard]] VertexId greater(EdgeId e) const noexcept { return ends_[e].greater; }
  /// The end that is not v.
  [[nodiscard]] VertexId other(EdgeId e, VertexId v) const noexcept { return ends_[e].lesser ^ ends_[e].greater ^ v; }

  /// Calls visit(ab, ac, bc) once for every triangle a < b < c whose latest vertex is c, until the run is stopped. O(1) per
  /// triangle, plus the time to read the lists.
  template <class Visit>
  void for_each_triangle(const OrderedGraph& graph, VertexId c, std::vector<EdgeId>& mark, PeriodicCheck& check,
                         Visit&& visit) const {
    const auto earlier = graph.earlier(c);
    EdgeId e = first_[c];
    for (const VertexId a : earlier) mark[a] = ++e;  // 1 + the edge
    EdgeId bc = first_[c];
    for (const VertexId b : earlier) {
      if (!check.go_on(graph.earlier(b).size())) break;
      EdgeId ab = first_[b];
      for (const VertexId a : graph.earlier(b)) {
        if (mark[a] != 0) visit(ab, mark[a] - 1, bc);
        ++ab;
      }
      ++bc;
    }
    for (const VertexId a : earlier) mark[a] = 0;
  }

 private:
  struct Ends {
    VertexId lesser;
    VertexId greater;
  };
  std::vector<EdgeId> first_;
  std::vector<Ends> ends_;
  std::vector<VertexId> triangles_;
  std::vector<std::uint64_t> lists_;  // by vertex: start of its edges
  std::vector<EdgeId> edges_of_;
  std::vector<std::uint64_t> begin_;  // by edge: start of its triangles
  std::unique_ptr<Sides[]> sides_;
  std::unique_ptr<VertexId[]> thirds_;
};

}  // namespace deltamatch::mine
