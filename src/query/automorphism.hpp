// The automorphism group Aut(Q) of a query graph: the permutations of its vertices that keep label sets, directions, edge label
// sets and directedness. It is held as a stabiliser chain over the base points 0, 1, 2, ...: a group of 32! elements has at
// most 31 levels and 496 representatives, and is never enumerated.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "deltamatch/count.hpp"
#include "deltamatch/query.hpp"
#include "query/structure.hpp"

namespace deltamatch::query {

/// One level of a stabiliser chain: within the subgroup that fixes every vertex below `base`, where `base` can go.
struct Level {
  Vertex base = 0;
  std::vector<Vertex> orbit;             ///< ascending; the first is `base` itself; at least two
  std::vector<Permutation> transversal;  ///< [i] maps base to orbit[i] and fixes every vertex below base; [0] is the identity
};

/// A group of automorphisms. Every element is a product t_k ... t_1 t_0 (t_k applied first) with one t_i from each level's
/// transversal, in exactly one way.
class Group {
 public:
  /// Aut(query). Requires a valid query.
  explicit Group(const Query& query) : Group(Structure(query)) {}
  explicit Group(const Structure& structure);

  /// Number of query vertices.
  [[nodiscard]] std::size_t degree() const noexcept { return structure_.size; }
  /// Number of elements; at most 32!.
  [[nodiscard]] Count order() const noexcept;
  /// Strong generators: those that fix every vertex below b generate the subgroup that does. Empty for the trivial group.
  [[nodiscard]] const std::vector<Permutation>& generators() const noexcept { return generators_; }
  /// Levels with more than one orbit element, ascending by base.
  [[nodiscard]] const std::vector<Level>& chain() const noexcept { return chain_; }

  /// The subgroup that fixes each of the given vertices.
  [[nodiscard]] Group stabiliser(std::span<const Vertex> vertices) const;
  /// Where the group takes `vertex`: ascending.
  [[nodiscard]] std::vector<Vertex> orbit(Vertex vertex) const;

 private:
  Structure structure_;
  std::vector<Permutation> generators_;
  std::vector<Level> chain_;
};

/// image(first) < image(second).
using OrderConstraint = std::pair<Vertex, Vertex>;

/// Constraints that exactly one member of each class {f o g : g in group} of maps f with distinct values satisfies: the one
/// whose sequence of values is lexicographically least. Sorted and transitively closed: a planner may drop those that others
/// imply.
[[nodiscard]] std::vector<OrderConstraint> order_constraints(const Group& group);

/// The lexicographically least of {values o g : g in group}, written to `out` (out[v] = values[g[v]]); returns that g. The
/// values are pairwise distinct under `less`; `out` has as many and does not overlap them. O(sum of orbit lengths + n levels).
template <typename T, typename Less = std::less<>>
Permutation least_image(const Group& group, std::span<const T> values, std::span<T> out, Less less = {}) {
  Permutation g = identity();
  for (const Level& level : group.chain()) {
    // values o g is least up to this level's base; the subgroup that fixes what is below may still move the base.
    std::size_t best = 0;
    for (std::size_t i = 1; i < level.orbit.size(); ++i) {
      if (less(values[g[level.orbit[i]]], values[g[level.orbit[best]]])) best = i;
    }
    if (best != 0) g = compose(level.transversal[best], g);
  }
  for (std::size_t v = 0; v < values.size(); ++v) out[v] = values[g[v]];
  return g;
}

}  // namespace deltamatch::query
