// Chooses how a tree of free query vertices is eliminated, leaf by leaf: which edge is next and which way, by the sizes met.
// Sums (match/tree_sum.hpp) and the estimate of their look-ups (estimate/sum_walker.hpp) must choose alike.
#pragma once

#include <bit>
#include <cstdint>

#include "plan/plan.hpp"

namespace deltamatch::match {

/// One step. A leaf is eliminated into its neighbour. With `reach`, a bare neighbour is given candidates instead.
struct Elimination {
  enum class Way : std::uint8_t { pull, push, reach };
  std::size_t edge;
  bool into_a;  ///< the leaf is b, its neighbour a
  Way way;
  double cost;
};

/// The cheapest step among the edges of the bit set `open`, which must not be empty. `nodes` describes the vertices of
/// the tree. `size` is the number of candidates, `bare` means that there are none yet, `open_edges` is the number of edges
/// left. The tree is joined to a matched vertex, so some vertex has candidates. O(edges).
template <class Node>
[[nodiscard]] Elimination next_elimination(const plan::Factor& tree, std::uint32_t open, const Node* nodes) noexcept {
  using Way = Elimination::Way;
  constexpr double look_up_cost = 8;  // a look-up of a list costs about as much as reading this many entries
  Elimination best{0, true, Way::pull, -1};
  const bool last = std::has_single_bit(open);
  const auto consider = [&](std::size_t edge, bool into_a, Way way, double cost) {
    if (best.cost < 0 || cost < best.cost) best = {edge, into_a, way, cost};
  };
  const auto for_each_side = [&](auto&& visit) {
    for (std::uint32_t rest = open; rest != 0; rest &= rest - 1) {
      const auto e = static_cast<std::size_t>(std::countr_zero(rest));
      const plan::TreeEdge& edge = tree.edges[e];
      // The last two arguments are the list lengths of a leaf's candidate and of a neighbour's.
      visit(e, true, nodes[edge.a], nodes[edge.b], double{edge.b_degree}, double{edge.a_degree});
      visit(e, false, nodes[edge.b], nodes[edge.a], double{edge.a_degree}, double{edge.b_degree});
    }
  };
  for_each_side([&](std::size_t e, bool into_a, const Node& into, const Node& leaf, double out, double back) {
    if (leaf.open_edges != 1) return;
    const auto into_size = static_cast<double>(into.size);
    if (!into.bare) consider(e, into_a, Way::pull, into_size * (look_up_cost + (leaf.bare ? 0 : back)));
    if (!leaf.bare && (!into.bare || !last)) {
      consider(e, into_a, Way::push, static_cast<double>(leaf.size) * (look_up_cost + 2 * out) + (into.bare ? 0 : into_size));
    }
  });
  if (best.cost >= 0) return best;
  // All leaves and their neighbours are bare. Somewhere in the tree, a vertex with candidates is next to one without.
  for_each_side([&](std::size_t e, bool into_a, const Node& into, const Node& from, double out, double /*back*/) {
    if (from.bare || !into.bare) return;
    consider(e, into_a, Way::reach, static_cast<double>(from.size) * (look_up_cost + out));
  });
  return best;
}

}  // namespace deltamatch::match
