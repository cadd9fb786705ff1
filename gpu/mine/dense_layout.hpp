// Dense sets on a device: what kernels read and write (gpu/mine/device_dense_sets.hpp explains the idea).
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda/lane_bits.hpp"

namespace deltamatch::gpu {

/// The candidates around one root as a small dense graph. A row of bits for each of `size` members says which members are
/// adjacent.
struct Space {
  std::uint64_t members;    ///< offset of its list: ascending vertices
  std::uint32_t first_row;  ///< the row of member 0
  std::uint32_t size;
};

/// How lanes of a warp hold a set of members together: `words` words in each of `lanes` lanes. Word i of a row is word i /
/// lanes of lane i % lanes.
struct Width {
  unsigned words;
  unsigned lanes;

  [[nodiscard]] constexpr unsigned row_words() const noexcept { return words * lanes; }
  [[nodiscard]] constexpr unsigned members() const noexcept { return row_words() * 64; }
};

/// The head of a node of a search tree. The node's sets of members are stored apart, in Nodes::words.
struct NodeHead {
  std::uint32_t rows;  ///< the first row of its space
  std::uint16_t used;  ///< cliques: pivots; quasi-cliques: missing edges
  std::uint16_t from;  ///< quasi-cliques: members before this one have been taken
};
static_assert(sizeof(NodeHead) == 8);

struct Nodes {
  NodeHead* heads;
  Word* words;  ///< the same number for each node of a list

  [[nodiscard]] Nodes behind(std::uint64_t nodes, std::size_t node_words) const noexcept {
    return {heads + nodes, words + nodes * node_words};
  }
};

/// One more than the edges that a set may lack. Sets have at most 24 vertices, and lack at most 22 edges.
inline constexpr unsigned most_layers = 23;

/// What a launch adds up, starting from zero.
struct Progress {
  unsigned long long taken;     ///< nodes of the input
  unsigned long long reserved;  ///< slots of the output
  unsigned long long cut;       ///< ~s: nothing was written from slot s on; 0: all that was reserved was written
  unsigned long long deferred;  ///< nodes that found no room for their children
  /// Cliques that were counted one by one; quasi-cliques by the number of edges they lack.
  unsigned long long sums[most_layers];

  [[nodiscard]] unsigned long long written() const noexcept { return cut == 0 ? reserved : ~cut; }
};

/// Where children go. A node whose children find no room goes to `deferred` in its current state.
struct Output {
  Nodes nodes;
  std::uint64_t capacity;
  Nodes deferred;  ///< room for all of the input
  Progress* progress;
};

/// Rows made from the later lists of an ordered graph. That of vertex v is later[begin[v]] to later[begin[v + 1]], ascending.
struct RowWork {
  const std::uint64_t* begin;
  const std::uint32_t* later;
  const std::uint32_t* members;  ///< the array that Space::members points into
  const Space* spaces;
  const std::uint32_t* owner;  ///< of each row: its space
  std::uint64_t count;         ///< of rows
  Word* rows;                  ///< zero before
  unsigned row_words;
};

/// Makes one node for each row with at least `least` adjacent later members. These are its candidates.
struct SeedWork {
  RowWork rows;
  unsigned least;
  Output output;
};

struct CliqueWork {
  Nodes nodes;
  std::uint64_t count;
  const Word* rows;
  unsigned missing;  ///< vertices that the cliques still lack; 0: cliques of all sizes
  Output output;
  unsigned long long* leaves;  ///< by pivots: how many nodes have no candidates left
  unsigned leaf_slots;
};

/// Nodes whose candidates lie in layers of `row_words` words each.
struct SetWork {
  Nodes nodes;
  std::uint64_t count;
  const Word* rows;
  unsigned row_words;
  unsigned layers;
  unsigned missing;  ///< vertices that the sets still lack: at least 2
  Output output;
};

}  // namespace deltamatch::gpu
