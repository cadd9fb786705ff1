// Counts one pattern's images by searching its vertices in an order. What is below a vertex is counted once per image of its
// context.
#pragma once

#include "counter.hpp"

namespace counter {

using Order = std::vector<std::uint32_t>;  ///< a pattern's vertices; the first is searched first

/// Which demands on pairs the search checks. It always checks that images are joined if the pattern demands it.
enum class Demands : std::uint8_t { joined, all };

/// An order and its consequences. Vertices are given by their places in the order.
struct Search {
  Order order;
  std::vector<std::vector<std::uint32_t>>
      context;      ///< for each place, the earlier places that it and later ones depend on, ascending
  double cost = 0;  ///< estimated number of images tried
};

/// The cheapest of some orders in which each vertex but the first is joined to an earlier one.
[[nodiscard]] Search best_search(const Graph& graph, const Pattern& pattern, Demands demands);

struct Outcome {
  Number count = 0;
  double share = 0;  ///< share of the first vertex's images that is counted; 1 means all
};

/// Counts along the search until it has tried `steps` images. The search must have been made for all demands of the pattern.
/// Throws TimeUp.
[[nodiscard]] Outcome run_search(const Graph& graph, const Pattern& pattern, const Search& search, std::uint64_t steps,
                                 Clock::time_point end);

}  // namespace counter
