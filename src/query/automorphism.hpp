// The automorphism group Aut(Q) of a query graph: the permutations of its vertices that keep label sets, directions, edge label
// sets, directedness and the condition.
//
// The group is stored as a stabiliser chain over the base points 0, 1, 2, and so on. A group of 32! elements has at most 31
// levels and 496 representatives. It is never enumerated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "deltamatch/count.hpp"
#include "deltamatch/query.hpp"
#include "query/structure.hpp"

namespace deltamatch::query {

class ConditionSymmetry;

/// One level of a stabiliser chain: the images of `base` under the subgroup that fixes every vertex below `base`.
struct Level {
  Vertex base = 0;
  std::vector<Vertex> orbit;             ///< ascending; the first is `base`; at least two
  std::vector<Permutation> transversal;  ///< [i] maps base to orbit[i] and fixes every vertex below base; [0] is the identity
};

/// A group of automorphisms. Every element is a product t_k ... t_1 t_0 (t_k is applied first) with one t_i from each level's
/// transversal. This product is unique.
class Group {
 public:
  /// Computes Aut(query). Requires a valid query. With a condition, it keeps the automorphisms that map the condition's normal
  /// form to itself. Edges that are alike (query/alike.hpp) never change places.
  explicit Group(const Query& query);
  explicit Group(const Structure& structure) : Group(structure, nullptr) {}

  /// The number of query vertices.
  [[nodiscard]] std::size_t degree() const noexcept { return structure_.size; }
  /// The number of elements; at most 32!.
  [[nodiscard]] Count order() const noexcept;
  /// Strong generators: for every b, the generators that fix all vertices below b generate the subgroup that fixes them. Empty
  /// for the trivial group.
  [[nodiscard]] const std::vector<Permutation>& generators() const noexcept { return generators_; }
  /// The levels with more than one orbit element, ascending by base.
  [[nodiscard]] const std::vector<Level>& chain() const noexcept { return chain_; }

  /// The subgroup that fixes each of the given vertices.
  [[nodiscard]] Group stabiliser(std::span<const Vertex> vertices) const;
  /// The images of `vertex` under the group, ascending.
  [[nodiscard]] std::vector<Vertex> orbit(Vertex vertex) const;

 private:
  /// Finds an automorphism that fixes all vertices below `base` and maps `base` to `image`.
  Group(const Structure& structure, std::shared_ptr<const ConditionSymmetry> condition);
  using Find = std::function<std::optional<Permutation>(Vertex base, Vertex image)>;
  void build(const Find& find);

  Structure structure_;
  std::shared_ptr<const ConditionSymmetry> condition_;  // null: there is no condition
  std::vector<Permutation> generators_;
  std::vector<Level> chain_;
};

/// Requires image(first) < image(second).
using OrderConstraint = std::pair<Vertex, Vertex>;

/// Returns constraints that select one member of each class {f o g : g in group} of maps f with distinct values. It is the
/// member whose sequence of values is lexicographically smallest. The constraints are sorted and transitively closed. A planner
/// may drop those that others imply.
[[nodiscard]] std::vector<OrderConstraint> order_constraints(const Group& group);

/// Writes the lexicographically smallest of {values o g : g in group} to `out` (out[v] = values[g[v]]) and returns that g. The
/// values must be pairwise distinct under `less`. `out` has the same size and must not overlap them. O(sum of orbit lengths + n
/// levels).
template <typename T, typename Less = std::less<>>
Permutation least_image(const Group& group, std::span<const T> values, std::span<T> out, Less less = {}) {
  Permutation g = identity();
  for (const Level& level : group.chain()) {
    // values o g is smallest up to this level's base. The subgroup that fixes the vertices below may still move the base.
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
