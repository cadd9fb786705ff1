// One pattern's images by searching its vertices in an order, what lies below each once per image of its context.
#pragma once

#include "counter.hpp"

namespace counter {

using Order = std::vector<std::uint32_t>;  ///< a pattern's vertices; the first is searched first

/// Which demands on pairs the search looks at; images must be joined where the pattern says so in any case.
enum class Demands : std::uint8_t { joined, all };

/// An order, and what it leads to. Vertices are given by their places in it.
struct Search {
  Order order;
  std::vector<std::vector<std::uint32_t>>
      context;      ///< earlier places that what lies at and below a place depends on, ascending
  double cost = 0;  ///< an estimate of the images tried
};

/// The cheapest of some orders in which all but the first vertex are joined to one before them.
[[nodiscard]] Search best_search(const Graph& graph, const Pattern& pattern, Demands demands);

struct Outcome {
  Number count = 0;
  double share = 0;  ///< of the first vertex's images whose count is in it; 1: all
};

/// Counts along the search, which was made for all demands that the pattern has, until it has tried so many images (`steps`).
/// Throws TimeUp.
[[nodiscard]] Outcome run_search(const Graph& graph, const Pattern& pattern, const Search& search, std::uint64_t steps,
                                 Clock::time_point end);

}  // namespace counter
