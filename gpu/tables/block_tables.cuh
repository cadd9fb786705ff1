// What a block of the kernel that counts with tables (gpu/tables/table_sums.cu) knows, and its memory: tables of weights by
// vertex, and sets of vertices.
//
// If the graph has few vertices, a table has one entry for each. Otherwise it is hashed with open addressing, and refuses
// entries beyond three quarters of its capacity. Touched entries are noted, so that clearing costs no more than filling.
#pragma once

#include "gpu/loops/lists.cuh"
#include "gpu/tables/table_sums.hpp"

namespace deltamatch::gpu::device {

inline constexpr unsigned most_warps = heavy_warps;
inline constexpr std::uint32_t no_table = 0xff;

using Weight = unsigned long long;

/// A set of vertices with weights.
struct Members {
  const std::uint32_t* ids;
  Weight* weights;  // parallel to ids; null: all 1
  std::uint32_t size;
};

/// A vertex of a tree while the tree's leaves are eliminated.
struct TreeNode {
  Members members;
  std::uint32_t table;  // a table of the members for look-ups, or no_table
  bool bare;            // has no candidates yet: any vertex fits
  std::uint8_t open_edges;
};

enum class Way : std::uint8_t { pull, push, reach };

/// Eliminates a leaf into its neighbour. With Way::reach, it finds candidates for a bare neighbour instead.
struct TreeStep {
  std::uint32_t edge;
  bool into_a;
  Way way;
};

/// A list with the changes that count.
struct OpenList {
  const std::uint32_t* ids;
  std::uint32_t count;
  std::uint32_t slice;
  Changes changes;
};

/// What the threads of a block share.
struct BlockState {
  SumProgram program;
  Anchor anchor;
  std::uint32_t vertices[max_positions];  // by position
  TreeNode nodes[max_positions];
  OpenList lists[max_sum_probes];
  TreeStep step;
  std::uint32_t touched[max_sum_tables];  // by table, how many entries are touched
  Weight lane_sums[most_warps][32];
  Weight warp_sums[most_warps];
  std::uint32_t next;  // next member that a warp takes
  std::uint32_t size;  // of the set that is being made
  std::uint32_t item;
  long long began;  // the clock when the block took the item
  bool refused;     // the item needs more memory
};

/// The state of a block. Each thread has a copy.
struct Block {
  static constexpr bool fills = false;

  __device__ Block(const SumLaunch& its_work, BlockState& its_state)
      : work(its_work), state(its_state), lane(threadIdx.x % 32), warp(threadIdx.x / 32) {
    const SumMemory& memory = work.memory;
    std::byte* at = memory.start + blockIdx.x * memory.block_stride;
    const std::size_t entries = std::size_t{memory.tables} * memory.capacity;
    table_weights = reinterpret_cast<Weight*>(at);
    keys = reinterpret_cast<std::uint32_t*>(table_weights + entries);
    touched = keys + entries;
    set_weights = reinterpret_cast<Weight*>(touched + entries);
    set_ids = reinterpret_cast<std::uint32_t*>(set_weights + memory.room);
  }

  __device__ const SumProgram& program() const { return state.program; }

  const SumLaunch& work;
  BlockState& state;
  std::uint32_t lane;
  std::uint32_t warp;
  std::uint32_t top = 0;  ///< members of sets in use, the same in all threads
  bool overflow = false;  ///< of this thread

  // The block's part of SumMemory.
  Weight* table_weights;
  std::uint32_t* keys;
  std::uint32_t* touched;
  Weight* set_weights;
  std::uint32_t* set_ids;

  // Look-ups of this thread, by whether the list was in device memory.
  unsigned long long hits = 0;
  unsigned long long misses = 0;

  // The same in all threads.
  unsigned root_tables = 0;  ///< bits of the tables of the root that are made
  std::uint32_t last = 0;    ///< the vertex into which the last leaf was eliminated
  bool interrupted = false;
  std::uint32_t tried = 0;  ///< candidates of bound vertices
};

// Ends the item, which is tried again with more memory. Returns false.
__device__ inline bool refuse(Block& block) {
  block.state.refused = true;
  return false;
}

__device__ inline Weight multiply(Block& block, Weight a, Weight b) {
  if (__umul64hi(a, b) != 0) block.overflow = true;
  return a * b;
}
__device__ inline Weight plus(Block& block, Weight a, Weight b) {
  if (a + b < a) block.overflow = true;
  return a + b;
}

__device__ inline std::uint32_t hash(std::uint32_t vertex) {
  vertex *= 0x9e3779b1U;
  return vertex ^ vertex >> 15;
}
__device__ inline std::size_t first_entry(const Block& block, std::uint32_t table) {
  return std::size_t{table} * block.work.memory.capacity;
}

// Notes an entry, so that it is cleared later.
__device__ inline void touch(Block& block, std::uint32_t table, std::uint32_t entry) {
  const std::uint32_t at = atomicAdd(&block.state.touched[table], 1U);
  // A weight that overflows to zero is noted twice, so `at` may exceed the capacity.
  if (at < block.work.memory.capacity) block.touched[first_entry(block, table) + at] = entry;
}

// Finds or makes the entry of a vertex. Returns none if the table is full.
__device__ inline std::uint32_t claim(Block& block, std::uint32_t table, std::uint32_t vertex) {
  if (block.work.memory.dense != 0) return vertex;
  const std::size_t first = first_entry(block, table);
  const std::uint32_t mask = block.work.memory.capacity - 1;
#pragma unroll 1
  for (std::uint32_t at = hash(vertex) & mask;; at = (at + 1) & mask) {
    std::uint32_t key = block.keys[first + at];
    if (key == 0) {
      // Every thread may claim one entry beyond the limit. A quarter of the table has room for that.
      if (*static_cast<volatile std::uint32_t*>(&block.state.touched[table]) >= mask - mask / 4) {
        refuse(block);
        return none;
      }
      key = atomicCAS(&block.keys[first + at], 0U, vertex + 1);
      if (key == 0) {
        touch(block, table, at);
        return at;
      }
    }
    if (key == vertex + 1) return at;
  }
}

// --- sets: setting `top` back to an earlier value frees their memory ---

__device__ inline bool make_ids(Block& block, std::uint32_t size, Members& into) {
  into.size = size;
  into.weights = nullptr;
  into.ids = block.set_ids + block.top;
  if (size > block.work.memory.room - block.top) return refuse(block);
  block.top += size;
  return true;
}
// Finds memory for weights beside a set's own ids. Foreign ids get memory as for a copy of them.
__device__ inline bool make_weights(Block& block, Members& of) {
  const bool own = of.ids >= block.set_ids && of.ids < block.set_ids + block.work.memory.room;
  const std::uint32_t at = own ? static_cast<std::uint32_t>(of.ids - block.set_ids) : block.top;
  if (!own) {
    if (of.size > block.work.memory.room - block.top) return refuse(block);
    block.top += of.size;
  }
  of.weights = block.set_weights + at;
  return true;
}

// --- tables; all threads call these together, except add, mark and weight_of ---

__device__ inline void add(Block& block, std::uint32_t table, std::uint32_t vertex, Weight weight) {
  const std::uint32_t entry = claim(block, table, vertex);
  if (entry == none) return;
  const Weight old = atomicAdd(&block.table_weights[first_entry(block, table) + entry], weight);
  if (old + weight < old) block.overflow = true;
  if (block.work.memory.dense != 0 && old == 0) touch(block, table, entry);
}
__device__ inline void mark(Block& block, std::uint32_t table, std::uint32_t vertex) {
  const std::uint32_t entry = claim(block, table, vertex);
  if (entry == none) return;
  const Weight old = atomicExch(&block.table_weights[first_entry(block, table) + entry], Weight{1});
  if (block.work.memory.dense != 0 && old == 0) touch(block, table, entry);
}
__device__ inline Weight weight_of(const Block& block, std::uint32_t table, std::uint32_t vertex) {
  const std::size_t first = first_entry(block, table);
  if (block.work.memory.dense != 0) return block.table_weights[first + vertex];
  const std::uint32_t mask = block.work.memory.capacity - 1;
#pragma unroll 1
  for (std::uint32_t at = hash(vertex) & mask;; at = (at + 1) & mask) {
    const std::uint32_t key = block.keys[first + at];
    if (key == vertex + 1) return block.table_weights[first + at];
    if (key == 0) return 0;
  }
}
// Makes a set with weights of a table's entries. The table stays as it is. Returns false if memory runs out.
__device__ inline bool take_members(Block& block, std::uint32_t table, Members& into) {
  const std::size_t first = first_entry(block, table);
  const std::uint32_t size = min(block.state.touched[table], block.work.memory.capacity);
  if (!make_ids(block, size, into) || !make_weights(block, into)) return false;
  auto* ids = const_cast<std::uint32_t*>(into.ids);
  for (std::uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
    const std::uint32_t entry = block.touched[first + i];
    ids[i] = block.work.memory.dense != 0 ? entry : block.keys[first + entry] - 1;
    into.weights[i] = block.table_weights[first + entry];
  }
  __syncthreads();
  return true;
}
__device__ inline void clear_table(Block& block, std::uint32_t table) {
  __syncthreads();
  const std::size_t first = first_entry(block, table);
  const std::uint32_t size = min(block.state.touched[table], block.work.memory.capacity);
  for (std::uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
    const std::uint32_t entry = block.touched[first + i];
    block.table_weights[first + entry] = 0;
    if (block.work.memory.dense == 0) block.keys[first + entry] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) block.state.touched[table] = 0;
  __syncthreads();
}

// Clears all tables, even entries that are not noted as touched. Needed if a weight overflowed to zero.
__device__ inline void wipe_tables(Block& block) {
  __syncthreads();
  const std::size_t entries = std::size_t{block.work.memory.tables} * block.work.memory.capacity;
  for (std::size_t i = threadIdx.x; i < entries; i += blockDim.x) {
    block.table_weights[i] = 0;
    if (block.work.memory.dense == 0) block.keys[i] = 0;
  }
  if (threadIdx.x < block.work.memory.tables) block.state.touched[threadIdx.x] = 0;
  __syncthreads();
}

}  // namespace deltamatch::gpu::device
