// A block's memory: tables of weights by vertex, sets of vertices, and the state that its threads share. First layer of the
// kernel that counts with tables (gpu/tables/table_sums.cu).
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
  bool refused;  // the item needs more memory
  bool overflow;
};

class BlockMemory {
 protected:
  __device__ BlockMemory(const SumLaunch& work, BlockState& state)
      : work_(work), state_(state), lane_(threadIdx.x % 32), warp_(threadIdx.x / 32) {
    const SumMemory& memory = work.memory;
    std::byte* at = memory.start + blockIdx.x * memory.block_stride;
    const std::size_t entries = std::size_t{memory.tables} * memory.capacity;
    table_weights_ = reinterpret_cast<Weight*>(at);
    keys_ = reinterpret_cast<std::uint32_t*>(table_weights_ + entries);
    touched_ = keys_ + entries;
    set_weights_ = reinterpret_cast<Weight*>(touched_ + entries);
    set_ids_ = reinterpret_cast<std::uint32_t*>(set_weights_ + memory.room);
  }

  __device__ const SumProgram& program() const { return state_.program; }

  // --- tables; all threads call these together, except add, mark and weight_of ---

  __device__ void add(std::uint32_t table, std::uint32_t vertex, Weight weight) {
    const std::uint32_t entry = claim(table, vertex);
    if (entry == none) return;
    const Weight old = atomicAdd(&table_weights_[first_entry(table) + entry], weight);
    if (old + weight < old) overflow_ = true;
    if (work_.memory.dense != 0 && old == 0) touch(table, entry);
  }
  __device__ void mark(std::uint32_t table, std::uint32_t vertex) {
    const std::uint32_t entry = claim(table, vertex);
    if (entry == none) return;
    const Weight old = atomicExch(&table_weights_[first_entry(table) + entry], Weight{1});
    if (work_.memory.dense != 0 && old == 0) touch(table, entry);
  }
  __device__ Weight weight_of(std::uint32_t table, std::uint32_t vertex) const {
    const std::size_t first = first_entry(table);
    if (work_.memory.dense != 0) return table_weights_[first + vertex];
    const std::uint32_t mask = work_.memory.capacity - 1;
#pragma unroll 1
    for (std::uint32_t at = hash(vertex) & mask;; at = (at + 1) & mask) {
      const std::uint32_t key = keys_[first + at];
      if (key == vertex + 1) return table_weights_[first + at];
      if (key == 0) return 0;
    }
  }
  // Makes a set with weights of a table's entries. The table stays as it is. Returns false if memory runs out.
  __device__ bool take_members(std::uint32_t table, Members& into) {
    const std::size_t first = first_entry(table);
    const std::uint32_t size = min(state_.touched[table], work_.memory.capacity);
    if (!make_ids(size, into) || !make_weights(into)) return false;
    auto* ids = const_cast<std::uint32_t*>(into.ids);
    for (std::uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
      const std::uint32_t entry = touched_[first + i];
      ids[i] = work_.memory.dense != 0 ? entry : keys_[first + entry] - 1;
      into.weights[i] = table_weights_[first + entry];
    }
    __syncthreads();
    return true;
  }
  __device__ void clear(std::uint32_t table) {
    __syncthreads();
    const std::size_t first = first_entry(table);
    const std::uint32_t size = min(state_.touched[table], work_.memory.capacity);
    for (std::uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
      const std::uint32_t entry = touched_[first + i];
      table_weights_[first + entry] = 0;
      if (work_.memory.dense == 0) keys_[first + entry] = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) state_.touched[table] = 0;
    __syncthreads();
  }

  // Clears all tables, even entries that are not noted as touched. Needed if a weight overflowed to zero.
  __device__ void wipe() {
    __syncthreads();
    const std::size_t entries = std::size_t{work_.memory.tables} * work_.memory.capacity;
    for (std::size_t i = threadIdx.x; i < entries; i += blockDim.x) {
      table_weights_[i] = 0;
      if (work_.memory.dense == 0) keys_[i] = 0;
    }
    if (threadIdx.x < work_.memory.tables) state_.touched[threadIdx.x] = 0;
    __syncthreads();
  }

  // --- sets: setting top_ back to an earlier value frees their memory ---

  __device__ bool make_ids(std::uint32_t size, Members& into) {
    into.size = size;
    into.weights = nullptr;
    into.ids = set_ids_ + top_;
    if (size > work_.memory.room - top_) return refuse();
    top_ += size;
    return true;
  }
  // Finds memory for weights beside a set's own ids. Foreign ids get memory as for a copy of them.
  __device__ bool make_weights(Members& of) {
    const bool own = of.ids >= set_ids_ && of.ids < set_ids_ + work_.memory.room;
    const std::uint32_t at = own ? static_cast<std::uint32_t>(of.ids - set_ids_) : top_;
    if (!own) {
      if (of.size > work_.memory.room - top_) return refuse();
      top_ += of.size;
    }
    of.weights = set_weights_ + at;
    return true;
  }
  __device__ bool refuse() {
    state_.refused = true;
    return false;
  }

  __device__ Weight multiply(Weight a, Weight b) {
    if (__umul64hi(a, b) != 0) overflow_ = true;
    return a * b;
  }
  __device__ Weight plus(Weight a, Weight b) {
    if (a + b < a) overflow_ = true;
    return a + b;
  }

  const SumLaunch& work_;
  BlockState& state_;
  std::uint32_t lane_;
  std::uint32_t warp_;
  std::uint32_t top_ = 0;  // members in use, the same in all threads
  bool overflow_ = false;  // of this thread

 private:
  __device__ static std::uint32_t hash(std::uint32_t vertex) {
    vertex *= 0x9e3779b1U;
    return vertex ^ vertex >> 15;
  }
  __device__ std::size_t first_entry(std::uint32_t table) const { return std::size_t{table} * work_.memory.capacity; }

  // Finds or makes the entry of a vertex. Returns none if the table is full.
  __device__ std::uint32_t claim(std::uint32_t table, std::uint32_t vertex) {
    if (work_.memory.dense != 0) return vertex;
    const std::size_t first = first_entry(table);
    const std::uint32_t mask = work_.memory.capacity - 1;
#pragma unroll 1
    for (std::uint32_t at = hash(vertex) & mask;; at = (at + 1) & mask) {
      std::uint32_t key = keys_[first + at];
      if (key == 0) {
        // Every thread may claim one entry beyond the limit. A quarter of the table has room for that.
        if (*static_cast<volatile std::uint32_t*>(&state_.touched[table]) >= mask - mask / 4) {
          refuse();
          return none;
        }
        key = atomicCAS(&keys_[first + at], 0U, vertex + 1);
        if (key == 0) {
          touch(table, at);
          return at;
        }
      }
      if (key == vertex + 1) return at;
    }
  }
  __device__ void touch(std::uint32_t table, std::uint32_t entry) {
    const std::uint32_t at = atomicAdd(&state_.touched[table], 1U);
    // A weight that overflows to zero is noted twice, so `at` may exceed the capacity.
    if (at < work_.memory.capacity) touched_[first_entry(table) + at] = entry;
  }

  Weight* table_weights_;
  std::uint32_t* keys_;
  std::uint32_t* touched_;
  Weight* set_weights_;
  std::uint32_t* set_ids_;
};

}  // namespace deltamatch::gpu::device
