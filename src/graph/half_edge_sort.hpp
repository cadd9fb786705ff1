// Sorts half-edges by (vertex, relation, neighbour, tag).
#pragma once

#include <array>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/adjacency.hpp"

namespace deltamatch::graph {

/// Sorts by the whole key in O(n log n). It compares without branches, because the keys of a batch are nearly random.
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

/// Sorts by (vertex, relation) alone and is stable, for half-edges whose neighbours ascend in each list already. O(n) for each
/// digit in which keys differ. `spare` is work memory.
inline void group_half_edges(std::vector<HalfEdge>& halves, std::vector<HalfEdge>& spare) {
  constexpr unsigned digit_bits = 11;
  constexpr std::uint64_t digits = std::uint64_t{1} << digit_bits;
  constexpr std::size_t worthwhile = 256;  // fewer are sorted faster by comparison
  if (halves.size() < worthwhile) return sort_half_edges(halves);
  const auto key = [](const HalfEdge& half) { return std::uint64_t{half.vertex} << 32 | half.relation; };
  std::uint64_t differing = 0;
  for (const HalfEdge& half : halves) differing |= key(half) ^ key(halves.front());
  spare.resize(halves.size());
  for (unsigned shift = 0; shift < 64; shift += digit_bits) {
    if ((differing >> shift) % digits == 0) continue;
    std::array<std::uint32_t, digits> places{};
    for (const HalfEdge& half : halves) ++places[(key(half) >> shift) % digits];
    std::uint32_t place = 0;
    for (std::uint32_t& first : places) place += std::exchange(first, place);
    for (const HalfEdge& half : halves) spare[places[(key(half) >> shift) % digits]++] = half;
    halves.swap(spare);
  }
}

}  // namespace deltamatch::graph
