// Counts the connected induced patterns of a graph elsewhere than on CPU cores. A backend may provide it for mining.
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

/// An undirected simple graph. Holds views. Vertices early in the order should have many neighbours.
struct NeighbourLists {
  std::span<const std::uint64_t> begin;  ///< by vertex: where its list begins; and one more, where the last list ends
  std::span<const VertexId> neighbours;  ///< ascending in each list

  [[nodiscard]] VertexId vertices() const noexcept { return static_cast<VertexId>(begin.size() - 1); }
};

/// What a subgraph becomes with one more vertex. `pattern`: its pattern. `places`: four bits for each vertex, in the order in
/// which they were added: its position in the pattern's canonical form.
struct PatternStep {
  std::uint32_t places;
  std::uint32_t pattern;
};

/// Tables of the patterns on the way to those of k vertices. A mask is a set of positions in a canonical form.
struct MotifTables {
  static constexpr unsigned most_vertices = 8;

  unsigned depth;     ///< subgraphs of this size are not grown further: what completes them is counted
  unsigned patterns;  ///< of k vertices

  std::vector<PatternStep> steps;  ///< of `size` vertices: at first_step[size] + (pattern << size | mask)
  std::array<std::uint32_t, most_vertices> first_step;
  std::vector<std::uint8_t> admitted;  ///< whether to grow a pattern of `size` vertices: at first_pattern[size] + pattern
  std::array<std::uint32_t, most_vertices> first_pattern;
  /// At depth k - 2: the pattern with two more vertices of masks a and b, joined or not. It is at
  /// ((pattern << depth | a) << depth | b) << 1 | joined. Empty at depth k - 1.
  std::vector<std::uint16_t> pairs;
};

class MotifCounter {
 public:
  virtual ~MotifCounter() = default;
  MotifCounter() = default;
  MotifCounter(const MotifCounter&) = delete;
  MotifCounter& operator=(const MotifCounter&) = delete;

  /// Counts by pattern of k vertices. No value if the devices have too little memory. Calls `go_on` from the calling thread.
  /// Once it returns false, the result is what was found before. Throws Error if a device fails.
  [[nodiscard]] virtual std::optional<std::vector<Count>> count(const NeighbourLists& graph, const MotifTables& tables,
                                                                const GoOn& go_on) = 0;

  /// Seconds that kernels ran, over all runs. If there are several devices, the longest time of each run counts.
  [[nodiscard]] virtual double kernel_seconds() const noexcept = 0;
};

}  // namespace deltamatch::match
