// Draws edges until there are enough distinct ones. Internal to the generators.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "generate/random.hpp"
#include "generate/synthetic_stream.hpp"

namespace deltamatch::generate {

/// A set of edges with linear probing: 8 bytes per slot, at most two thirds full.
class EdgeSet {
 public:
  explicit EdgeSet(std::uint64_t capacity) : slots_(std::bit_ceil(capacity + capacity / 2 + 1), empty) {}

  /// Returns false if the edge was in the set. May succeed at most `capacity` times.
  bool insert(const Edge& edge) noexcept {
    const std::uint64_t key = std::uint64_t{edge.first} << 32 | edge.second;
    const std::uint64_t mask = slots_.size() - 1;
    std::uint64_t slot = mix(key) & mask;
    while (slots_[slot] != empty) {
      if (slots_[slot] == key) return false;
      slot = (slot + 1) & mask;
    }
    slots_[slot] = key;
    return true;
  }

 private:
  static constexpr std::uint64_t empty = ~std::uint64_t{0};  // would be a self-loop
  std::vector<std::uint64_t> slots_;
};

/// Checks that edges fill at most half of all pairs, and that there are at most 2^31.
inline void check_edge_count(std::uint64_t edges, std::uint64_t vertices, bool directed, std::string_view where) {
  const std::uint64_t pairs = vertices * (vertices - 1) / (directed ? 1 : 2);
  if (edges > pairs / 2)
    throw Error(ErrorKind::usage, where, "there are more edges than half of all pairs of vertices",
                "ask for fewer edges or more vertices");
  if (edges > std::uint64_t{1} << 31)
    throw Error(ErrorKind::usage, where, "there are more than 2^31 edges", "ask for fewer edges");
}

/// Returns `count` distinct edges without self-loops, in the order drawn. Undirected ones have the smaller vertex first. `draw`
/// returns a pair of vertices. Throws Error(usage) if nearly all drawn edges exist already.
template <typename Draw>
std::vector<Edge> distinct_edges(std::uint64_t count, bool directed, std::string_view where, Draw draw) {
  std::vector<Edge> edges;
  edges.reserve(count);
  EdgeSet seen(count);
  const std::uint64_t round = count / 4 + 4096;
  while (edges.size() < count) {
    const std::size_t before = edges.size();
    for (std::uint64_t tries = 0; tries < round && edges.size() < count; ++tries) {
      Edge edge = draw();
      if (edge.first == edge.second) continue;
      if (!directed && edge.first > edge.second) std::swap(edge.first, edge.second);
      if (seen.insert(edge)) edges.push_back(edge);
    }
    if (edges.size() < count && edges.size() - before < round / 64)
      throw Error(ErrorKind::usage, where, "the graph is too skewed for so many distinct edges",
                  "ask for fewer edges or less skew");
  }
  return edges;
}

}  // namespace deltamatch::generate
