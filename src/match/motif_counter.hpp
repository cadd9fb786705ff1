// Counting the connected induced patterns of a graph elsewhere than on the CPU's cores: what a backend may do for mining.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "base/types.hpp"
#include "match/dense_set_counter.hpp"

namespace deltamatch::match {

/// An undirected simple graph. Views. Vertices early in the order should have many neighbours.
struct NeighbourLists {
  std::span<const std::uint64_t> begin;  ///< of each vertex, and where the last list ends
  std::span<const VertexId> neighbours;  ///< ascending in each list

  [[nodiscard]] VertexId vertices() const noexcept { return static_cast<VertexId>(begin.size() - 1); }
};

/// What a subgraph becomes with one vertex more: its pattern, and where each of its vertices, in the order in which they were
/// added, is in the pattern's canonical form; four bits each.
struct PatternStep {
  std::uint32_t places;
  std::uint32_t pattern;
};

/// Which patterns are met on the way to those of k vertices, by tables. A mask is a set of places in a canonical form.
struct MotifTables {
  static constexpr unsigned most_vertices = 8;

  unsigned depth;     ///< what completes a subgraph is counted at so many vertices
  unsigned patterns;  ///< of k vertices

  std::vector<PatternStep> steps;  ///< of `size` vertices: at first_step[size] + (pattern << size | mask)
  std::array<std::uint32_t, most_vertices> first_step;
  std::vector<std::uint8_t> admitted;  ///< whether to grow a pattern of `size` vertices: at first_pattern[size] + pattern
  std::array<std::uint32_t, most_vertices> first_pattern;
  /// At depth k - 2: the pattern with two vertices more of masks a and b, joined or not, at
  /// ((pattern << depth | a) << depth | b) << 1 | joined. Empty at depth k - 1.
  std::vector<std::uint16_t> pairs;
};

class MotifCounter {
 public:
  virtual ~MotifCounter() = default;
  MotifCounter() = default;
  MotifCounter(const MotifCounter&) = delete;
  MotifCounter& operator=(const MotifCounter&) = delete;

  /// By pattern of k vertices; nothing where the devices have too little memory. Once `go_on` has said no, what was found
  /// before. Calls `go_on` from the calling thread. Throws Error where a device fails.
  [[nodiscard]] virtual std::optional<std::vector<Count>> count(const NeighbourLists& graph, const MotifTables& tables,
                                                                const GoOn& go_on) = 0;

  /// That kernels ran, in all runs; of each the longest of several devices.
  [[nodiscard]] virtual double kernel_seconds() const noexcept = 0;
};

}  // namespace deltamatch::match
