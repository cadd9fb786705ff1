// The action of Aut(Q) on the edges of a query graph, and its orbits on arcs. Delta plans start from these arcs, their anchors.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "deltamatch/query.hpp"
#include "query/automorphism.hpp"

namespace deltamatch::query {

/// A query edge in one orientation. A directed query edge gives one arc, from source to target. An undirected one gives two.
struct Arc {
  std::uint32_t edge = 0;  ///< index into Query::edges
  bool reversed = false;   ///< from the edge's target to its source; only if the edge is undirected
  friend auto operator<=>(const Arc&, const Arc&) = default;
};

/// The query vertices at the two ends of an arc. It leads from its tail to its head.
[[nodiscard]] inline Vertex tail(const Query& query, Arc arc) {
  return arc.reversed ? query.edges[arc.edge].target : query.edges[arc.edge].source;
}
[[nodiscard]] inline Vertex head(const Query& query, Arc arc) {
  return arc.reversed ? query.edges[arc.edge].source : query.edges[arc.edge].target;
}

/// All arcs, ascending.
[[nodiscard]] std::vector<Arc> arcs(const Query& query);

/// The action of automorphisms on edges and arcs. Keeps no reference to the query.
class EdgeAction {
 public:
  explicit EdgeAction(const Query& query);
  /// Returns the image of `arc` under `automorphism`. O(edges between two vertices).
  [[nodiscard]] Arc image(Arc arc, const Permutation& automorphism) const;
  /// Returns the image of `edge` under `automorphism`.
  [[nodiscard]] std::uint32_t image(std::uint32_t edge, const Permutation& automorphism) const {
    return image(Arc{edge, false}, automorphism).edge;
  }

 private:
  struct Edge {
    std::uint8_t source;
    std::uint8_t target;
    bool directed;
    std::uint32_t labels;  ///< equal iff the label sets are equal
    std::uint32_t rank;    ///< the number of alike edges before it; an image has the same rank
  };
  /// Whether `edge` is like `like`, except that it joins these ends.
  static bool leads_alike(const Edge& edge, const Edge& like, std::uint8_t source, std::uint8_t target) noexcept {
    if (edge.labels != like.labels || edge.directed != like.directed) return false;
    return (edge.source == source && edge.target == target) ||
           (!edge.directed && edge.source == target && edge.target == source);
  }
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> by_pair_;  ///< edges sorted by the unordered pair of their ends
  std::array<std::uint32_t, max_query_vertices * max_query_vertices + 1> first_{};  ///< [u * 32 + v], u < v, into by_pair_
};

/// An orbit of the group on arcs. |members| * |stabiliser of the representative's ends| = |group|.
struct ArcOrbit {
  Arc representative;        ///< the smallest member
  std::vector<Arc> members;  ///< ascending; the first is the representative
  /// [i] is a group element that maps the representative to members[i]; [0] is the identity. If f maps members[i] to a data
  /// edge, then f o transversal[i] maps the representative to it. Conversely, f = (f o transversal[i]) o
  /// inverse(transversal[i]).
  std::vector<Permutation> transversal;
};

/// The orbits of `group` (Aut(query) or a subgroup of it) on the query's arcs, ascending by representative.
[[nodiscard]] std::vector<ArcOrbit> arc_orbits(const Query& query, const Group& group);

}  // namespace deltamatch::query
