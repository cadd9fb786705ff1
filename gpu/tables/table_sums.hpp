// The kernel that counts with tables: what the host prepares for it. Internal to gpu.
//
// The matching kernel (gpu/loops/kernel.hpp) walks a tree of free query vertices in nested loops. What lies beyond a vertex is
// then summed once for each way that leads there.
// Several ways may meet, as in the middle of a ring. Then it is cheaper by orders of magnitude to eliminate the tree's leaves
// with tables of weights by vertex (see match/tree_sum.hpp).
//
// A block works on one anchor or one root at a time. Its tables and sets lie in device memory. If they are too small, the block
// refuses the item, which is then tried again with more memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/loops/kernel.hpp"

namespace deltamatch::gpu {

// --- plan::CountPlan, flattened; indices are absolute ---

/// A flattened plan::Candidates.
struct SumVertex {
  std::uint32_t first_probe;
  std::uint32_t first_position;  ///< as in Node
  std::uint8_t probes;
  std::uint8_t distinct;
  std::uint8_t above;
  std::uint8_t below;
};

/// A flattened plan::TreeEdge.
struct SumEdge {
  std::uint16_t a_to_b;
  std::uint16_t b_to_a;
  float a_degree;
  float b_degree;
  std::uint8_t a;
  std::uint8_t b;
  std::uint8_t inclusive;
  std::uint8_t table;  ///< plan::no_table: none
  std::uint8_t leaf_is_a;
  std::uint8_t unused[3];
};

/// A flattened plan::Factor.
struct SumFactor {
  std::uint32_t first_vertex;
  std::uint32_t first_edge;
  std::uint32_t first_inner;
  std::uint32_t end_inner;
  std::uint32_t first_other;
  std::uint32_t end_other;
  std::uint32_t choose;
  float per_candidate;
  std::uint8_t bind;
  std::uint8_t position;
  std::uint8_t vertices;
  std::uint8_t edges;
};

struct SumTerm {
  long long coefficient;
  std::uint32_t first_factor;
  std::uint32_t end_factor;
};

struct SumProgram {
  std::uint32_t first_term;
  std::uint32_t end_term;
  std::uint32_t first_closing;  ///< into probes
  std::uint8_t closing;
  std::uint8_t pass;
  std::uint8_t root_tables;  ///< the first tables are those of the root
  std::uint8_t unused;
};

/// Work on an anchor or a root; for a root, both ends of the anchor are the root. It covers every `shares`-th candidate of the
/// first factor, from number `share` on.
struct SumItem {
  std::uint32_t program;
  std::uint32_t anchor;
  std::uint16_t share;
  std::uint16_t shares;
};

inline constexpr std::uint32_t max_sum_binds = 8;    ///< bound vertices at a time
inline constexpr std::uint32_t max_sum_tables = 32;  ///< of a root, and two to work with
inline constexpr std::uint32_t max_sum_probes = 32;  ///< of a vertex

/// A block's memory: tables of weights by vertex (weights, keys, touched entries), and room for sets.
struct SumMemory {
  std::byte* start;
  std::uint32_t dense;     ///< entries stand at their vertex; else tables are hashed
  std::uint32_t capacity;  ///< entries of a table; a power of two if hashed
  std::uint32_t tables;
  std::uint32_t room;        ///< for members of sets
  std::size_t block_stride;  ///< bytes

  static constexpr std::size_t entry_bytes = sizeof(unsigned long long) + 2 * sizeof(std::uint32_t);
  static constexpr std::size_t member_bytes = sizeof(unsigned long long) + sizeof(std::uint32_t);
  /// The bytes that must be zero before the first launch.
  [[nodiscard]] std::size_t clear_bytes() const {
    return std::size_t{tables} * capacity * (sizeof(unsigned long long) + (dense != 0 ? 0 : sizeof(std::uint32_t)));
  }
  [[nodiscard]] static std::size_t stride_for(std::size_t tables, std::size_t capacity, std::size_t room) {
    return (tables * capacity * entry_bytes + room * member_bytes + 127) / 128 * 128;
  }
};

/// The next_chunk of its queue counts items.
struct SumLaunch : CommonLaunch {
  const SumProgram* programs;
  const SumTerm* terms;
  const SumFactor* factors;
  const SumVertex* vertices;
  const SumEdge* edges;
  const SumItem* items;
  std::uint32_t item_count;
  SumMemory memory;        ///< the kernel expects its tables to be zero, and leaves them so
  std::uint32_t* refused;  ///< the number of items that need more memory, then their indices
};

/// The warps of a block for light items, and for heavy ones.
inline constexpr unsigned light_warps = 1;
inline constexpr unsigned heavy_warps = 8;

/// How many blocks can run at once on the current device.
[[nodiscard]] unsigned sum_blocks(unsigned warps);

/// Queues the kernel and does not wait. `warps`: warps of each block.
void launch(const SumLaunch& work, unsigned blocks, unsigned warps, CUstream_st* stream);

}  // namespace deltamatch::gpu
