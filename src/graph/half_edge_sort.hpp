// Sorts half-edges by (vertex, relation, neighbour, tag).
#pragma once

#include <boost/sort/pdqsort/pdqsort.hpp>
#include <vector>

#include "graph/adjacency.hpp"

namespace deltamatch::graph {

/// O(n log n), without branches on what is compared: the keys of a batch are close to random.
inline void sort_half_edges(std::vector<HalfEdge>& halves) {
  __extension__ using Key = unsigned __int128;
  const auto key = [](const HalfEdge& half) {
    const std::uint64_t high = std::uint64_t{half.vertex} << 32 | half.relation;
    const std::uint64_t low = std::uint64_t{half.neighbour} << 32 | half.tag;
    return static_cast<Key>(high) << 64 | low;
  };
  boost::sort::pdqsort_branchless(halves.begin(), halves.end(),
                                  [&](const HalfEdge& a, const HalfEdge& b) { return key(a) < key(b); });
}

}  // namespace deltamatch::graph
