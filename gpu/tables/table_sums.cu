// The kernel that counts with tables. Every block takes one anchor or root after the other and evaluates a sum of products for
// it.
//
// What a block knows is the struct Block. What it does are functions, by subject:
// - block_tables: its memory, tables and sets
// - block_lists: the lists that it reads
// - block_trees: trees of free query vertices
// - this file: terms and bound vertices
#include "gpu/tables/table_sums.hpp"

#include <cuda_runtime.h>

#include "gpu/cuda/check.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/loops/total.hpp"
#include "gpu/tables/block_trees.cuh"

namespace deltamatch::gpu {

namespace {

using namespace device;

constexpr unsigned resident_blocks = 4;  // per multiprocessor; limits the registers of a thread

// A bound vertex: its current candidate, and how to go on after the last one.
struct Binding {
  Members candidates;
  std::uint32_t at;
  std::uint32_t factor;
  std::uint32_t next;  // the factor after this one in the same product
  std::uint32_t end;
  std::uint32_t mark;  // value of the block's `top` before
  Weight product;      // so far, without this factor
  Weight sum;
};

// Whether the host has asked the kernel to stop.
__device__ bool stop_is_set(const Block& block) { return *const_cast<const volatile unsigned*>(&block.work.queue->stop) != 0; }

// Takes the next item. Returns false if none is left.
__device__ bool take_item(Block& block) {
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint32_t item = atomicAdd(&block.work.queue->next_chunk, 1U);
    if (stop_is_set(block)) item = none;
    block.state.item = item;
    block.state.refused = false;
    if (item < block.work.item_count) {
      block.state.program = block.work.programs[block.work.items[item].program];
      block.state.anchor = block.work.anchors[block.work.items[item].anchor];
      block.state.vertices[0] = block.state.anchor.tail;
      block.state.vertices[1] = block.state.anchor.head;
    }
  }
  block.top = 0;
  __syncthreads();
  return block.state.item < block.work.item_count;
}

// Whether the graph has the other query edges between the anchor's ends.
__device__ bool closes(Block& block) {
  bool all = true;
  for (std::uint32_t i = 0; i < block.program().closing; ++i) {
    const Probe probe = block.work.probes[block.program().first_closing + i];
    all = all &&
          leads(block, open_list(block, probe.query_relation, probe.inclusive != 0, block.state.anchor.tail, threadIdx.x == 0),
                block.state.anchor.head);
  }
  return all;
}

// Called for every candidate; checks for a stop now and then. After a stop, the result of the item is meaningless.
__device__ bool is_stopping(Block& block) {
  constexpr std::uint32_t interval = 64;
  if (block.interrupted || ++block.tried % interval != 0) return block.interrupted;
  block.interrupted = __syncthreads_or(threadIdx.x == 0 && stop_is_set(block) ? 1 : 0) != 0;
  return block.interrupted;
}

// The expected work if a factor's vertex is bound next.
__device__ float expected_work(Block& block, std::uint32_t index) {
  const SumFactor& bind = block.work.factors[index];
  const SumVertex& vertex = block.work.vertices[bind.first_vertex];
  std::uint32_t shortest = none;
  for (std::uint32_t i = 0; i < vertex.probes; ++i) {
    const Probe probe = block.work.probes[vertex.first_probe + i];
    shortest = min(shortest, length(open_list(block, probe.query_relation, probe.inclusive != 0,
                                              block.state.vertices[probe.position], threadIdx.x == 0)));
  }
  return static_cast<float>(shortest) * bind.per_candidate;
}

// Chooses the factor with the least expected work: a bound vertex, or one that could be bound first in its place.
__device__ std::uint32_t fewest_candidates(Block& block, std::uint32_t index) {
  const SumFactor& planned = block.work.factors[index];
  if (planned.first_other == planned.end_other) return index;
  std::uint32_t best = index;
  float least = expected_work(block, index);
  for (std::uint32_t other = planned.first_other; other < planned.end_other; ++other) {
    const float work = expected_work(block, other);
    if (work >= least) continue;
    least = work;
    best = other;
  }
  return best;
}

// The product of some factors. A bound vertex sums the product of its inner factors over its candidates. The share applies to
// the first factor only.
__device__ Weight product_of(Block& block, std::uint32_t next, std::uint32_t end, std::uint32_t share, std::uint32_t shares) {
  Binding bound[max_sum_binds];
  std::uint32_t depth = 0;
  Weight value = 1;
  while (true) {
    if (value == 0 || next == end) {
      if (depth == 0) return value;
      Binding& top = bound[depth - 1];
      top.sum = plus(block, top.sum, value);
      ++top.at;
    } else {
      const std::uint32_t index = next++;
      if (block.work.factors[index].bind == 0) {
        value = multiply(block, value, count_tree(block, block.work.factors[index], share, shares));
        share = 0;
        shares = 1;
        __syncthreads();
        if (block.state.refused) return 0;
        continue;
      }
      Binding& made = bound[depth++];
      made.mark = block.top;
      made.factor = fewest_candidates(block, index);
      if (!find_candidates(block, block.work.vertices[block.work.factors[made.factor].first_vertex], share, shares, true,
                           made.candidates))
        return 0;
      share = 0;
      shares = 1;
      made.at = 0;
      made.next = next;
      made.end = end;
      made.product = value;
      made.sum = 0;
    }
    Binding& top = bound[depth - 1];
    if (top.at < top.candidates.size && !is_stopping(block)) {
      const SumFactor& factor = block.work.factors[top.factor];
      __syncthreads();
      if (threadIdx.x == 0) block.state.vertices[factor.position] = top.candidates.ids[top.at];
      __syncthreads();
      next = factor.first_inner;
      end = factor.end_inner;
      value = 1;
    } else {
      value = multiply(block, top.product, top.sum);
      next = top.next;
      end = top.end;
      block.top = top.mark;
      --depth;
    }
  }
}

// The sum of all terms of the item's program, for the item's share.
__device__ long long sum_terms(Block& block, const SumItem& item) {
  long long total = 0;
  for (std::uint32_t t = block.program().first_term; t < block.program().end_term; ++t) {
    const SumTerm term = block.work.terms[t];
    Weight value = 0;
    if (term.first_factor < term.end_factor) {
      value = product_of(block, term.first_factor, term.end_factor, item.share, item.shares);
    } else if (item.share == 0) {
      value = 1;
    }
    __syncthreads();
    if (block.state.refused || block.interrupted) return 0;
    const auto factor = static_cast<long long>(value);
    const long long own = factor * term.coefficient;
    if (factor < 0 || __mul64hi(factor, term.coefficient) != own >> 63) block.overflow = true;
    const auto sum = static_cast<long long>(static_cast<Weight>(total) + static_cast<Weight>(own));
    if (((total ^ sum) & (own ^ sum)) < 0) block.overflow = true;
    total = sum;
  }
  return total;
}

// Adds what was found for an item to the total of its program, or notes that the item was refused.
__device__ void give_result(Block& block, const SumItem& item, long long found) {
  if (block.interrupted) return;
  const auto clocks = static_cast<unsigned long long>(clock64() - block.state.began);
  fetch_add(&block.work.totals[item.program].clocks, clocks * (blockDim.x / 32));
  if (block.state.refused) {
    block.work.refused[1 + atomicAdd(block.work.refused, 1U)] = block.state.item;
    return;
  }
  Total& total = block.work.totals[item.program];
  if (block.overflow) {
    total.overflow = 1;
  } else if (found != 0) {
    add_to(total, found);
  }
}

__global__ void __launch_bounds__(32 * most_warps, resident_blocks) sum_kernel(const __grid_constant__ SumLaunch work) {
  static_assert(max_sum_tables <= 32 && max_positions <= 32 && max_sum_probes <= 32);
  __shared__ BlockState state;
  Block block(work, state);
  if (threadIdx.x < max_sum_tables) state.touched[threadIdx.x] = 0;
  if (threadIdx.x < max_positions) state.nodes[threadIdx.x].table = no_table;
  while (take_item(block)) {
    const SumItem item = work.items[state.item];
    if (threadIdx.x == 0) state.began = clock64();
    const long long found = closes(block) ? sum_terms(block, item) : 0;
    clear_root_tables(block);
    block.overflow = __syncthreads_or(block.overflow ? 1 : 0) != 0;
    if (block.overflow) wipe_tables(block);
    if (threadIdx.x == 0) give_result(block, item, found);
    block.overflow = false;
  }
  count_look_ups(block);
}

}  // namespace

unsigned sum_blocks(unsigned warps) {
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_kernel, static_cast<int>(32 * warps), 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  if (blocks < 1) throw Error("kernel of sums", "the kernel does not fit the device", "use --backend cpu");
  return static_cast<unsigned>(blocks * multiprocessors());
}

void launch(const SumLaunch& work, unsigned blocks, unsigned warps, CUstream_st* stream) {
  sum_kernel<<<blocks, 32 * warps, 0, stream>>>(work);
  check(cudaGetLastError(), "kernel of sums");
}

}  // namespace deltamatch::gpu
