// The kernel that counts with tables. Every block takes one anchor or root after the other and evaluates a sum of products for
// it.
//
// The block is a class in layers, each in a header of its own:
// - block_tables: its memory
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

class Block : public BlockTrees {
 public:
  __device__ Block(const SumLaunch& work, BlockState& state) : BlockTrees(work, state) {}

  __device__ void run() {
    static_assert(max_sum_tables <= 32 && max_positions <= 32 && max_sum_probes <= 32);
    if (threadIdx.x < max_sum_tables) state_.touched[threadIdx.x] = 0;
    if (threadIdx.x < max_positions) state_.nodes[threadIdx.x].table = no_table;
    while (take_item()) {
      const SumItem item = work_.items[state_.item];
      const long long found = closes() ? sum_terms(item) : 0;
      clear_root_tables();
      overflow_ = __syncthreads_or(overflow_ ? 1 : 0) != 0;
      if (overflow_) wipe();
      if (threadIdx.x == 0) give_result(item, found);
      overflow_ = false;
    }
    count_look_ups();
  }

 private:
  // A bound vertex: its current candidate, and how to go on after the last one.
  struct Binding {
    Members candidates;
    std::uint32_t at;
    std::uint32_t factor;
    std::uint32_t next;  // the factor after this one in the same product
    std::uint32_t end;
    std::uint32_t mark;  // value of top_ before
    Weight product;      // so far, without this factor
    Weight sum;
  };

  __device__ bool take_item() {
    __syncthreads();
    if (threadIdx.x == 0) {
      std::uint32_t item = atomicAdd(&work_.queue->next_chunk, 1U);
      if (stopped()) item = none;
      state_.item = item;
      state_.refused = false;
      if (item < work_.item_count) {
        state_.program = work_.programs[work_.items[item].program];
        state_.anchor = work_.anchors[work_.items[item].anchor];
        state_.vertices[0] = state_.anchor.tail;
        state_.vertices[1] = state_.anchor.head;
      }
    }
    top_ = 0;
    __syncthreads();
    return state_.item < work_.item_count;
  }

  __device__ bool stopped() const { return *const_cast<const volatile unsigned*>(&work_.queue->stop) != 0; }

  // Whether the graph has the other query edges between the anchor's ends.
  __device__ bool closes() {
    bool all = true;
    for (std::uint32_t i = 0; i < program().closing; ++i) {
      const Probe probe = work_.probes[program().first_closing + i];
      all = all && leads(open(probe.reading, probe.inclusive != 0, state_.anchor.tail, threadIdx.x == 0), state_.anchor.head);
    }
    return all;
  }

  __device__ long long sum_terms(const SumItem& item) {
    long long total = 0;
    for (std::uint32_t t = program().first_term; t < program().end_term; ++t) {
      const SumTerm term = work_.terms[t];
      Weight value = 0;
      if (term.first_factor < term.end_factor) {
        value = product(term.first_factor, term.end_factor, item.share, item.shares);
      } else if (item.share == 0) {
        value = 1;
      }
      __syncthreads();
      if (state_.refused || interrupted_) return 0;
      const auto factor = static_cast<long long>(value);
      const long long own = factor * term.coefficient;
      if (factor < 0 || __mul64hi(factor, term.coefficient) != own >> 63) overflow_ = true;
      const auto sum = static_cast<long long>(static_cast<Weight>(total) + static_cast<Weight>(own));
      if (((total ^ sum) & (own ^ sum)) < 0) overflow_ = true;
      total = sum;
    }
    return total;
  }

  // The product of some factors. A bound vertex sums the product of its inner factors over its candidates. The share applies to
  // the first factor only.
  __device__ Weight product(std::uint32_t next, std::uint32_t end, std::uint32_t share, std::uint32_t shares) {
    Binding bound[max_sum_binds];
    std::uint32_t depth = 0;
    Weight value = 1;
    while (true) {
      if (value == 0 || next == end) {
        if (depth == 0) return value;
        Binding& top = bound[depth - 1];
        top.sum = plus(top.sum, value);
        ++top.at;
      } else {
        const std::uint32_t index = next++;
        if (work_.factors[index].bind == 0) {
          value = multiply(value, count_tree(work_.factors[index], share, shares));
          share = 0;
          shares = 1;
          __syncthreads();
          if (state_.refused) return 0;
          continue;
        }
        Binding& made = bound[depth++];
        made.mark = top_;
        made.factor = fewest_candidates(index);
        if (!candidates(work_.vertices[work_.factors[made.factor].first_vertex], share, shares, true, made.candidates))
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
      if (top.at < top.candidates.size && !is_stopping()) {
        const SumFactor& factor = work_.factors[top.factor];
        __syncthreads();
        if (threadIdx.x == 0) state_.vertices[factor.position] = top.candidates.ids[top.at];
        __syncthreads();
        next = factor.first_inner;
        end = factor.end_inner;
        value = 1;
      } else {
        value = multiply(top.product, top.sum);
        next = top.next;
        end = top.end;
        top_ = top.mark;
        --depth;
      }
    }
  }

  // Called for every candidate; checks for a stop now and then. After a stop, the result of the item is meaningless.
  __device__ bool is_stopping() {
    constexpr std::uint32_t interval = 64;
    if (interrupted_ || ++tried_ % interval != 0) return interrupted_;
    interrupted_ = __syncthreads_or(threadIdx.x == 0 && stopped() ? 1 : 0) != 0;
    return interrupted_;
  }

  // Chooses the factor with the least expected work: a bound vertex, or one that could be bound first in its place.
  __device__ std::uint32_t fewest_candidates(std::uint32_t index) {
    const SumFactor& planned = work_.factors[index];
    if (planned.first_other == planned.end_other) return index;
    std::uint32_t best = index;
    float least = expected_work(index);
    for (std::uint32_t other = planned.first_other; other < planned.end_other; ++other) {
      const float work = expected_work(other);
      if (work >= least) continue;
      least = work;
      best = other;
    }
    return best;
  }

  __device__ float expected_work(std::uint32_t index) {
    const SumFactor& bind = work_.factors[index];
    const SumVertex& vertex = work_.vertices[bind.first_vertex];
    std::uint32_t shortest = none;
    for (std::uint32_t i = 0; i < vertex.probes; ++i) {
      const Probe probe = work_.probes[vertex.first_probe + i];
      shortest =
          min(shortest, length(open(probe.reading, probe.inclusive != 0, state_.vertices[probe.position], threadIdx.x == 0)));
    }
    return static_cast<float>(shortest) * bind.per_candidate;
  }

  __device__ void give_result(const SumItem& item, long long found) {
    if (interrupted_) return;
    if (state_.refused) {
      work_.refused[1 + atomicAdd(work_.refused, 1U)] = state_.item;
      return;
    }
    Total& total = work_.totals[item.program];
    if (overflow_) {
      total.overflow = 1;
    } else if (found != 0) {
      add_to(total, found);
    }
  }

  __device__ void count_look_ups() {
    unsigned long long counted[2] = {this->hits_, this->misses_};
    for (auto& count : counted) {
      for (unsigned offset = 16; offset > 0; offset /= 2) count += __shfl_down_sync(all_lanes, count, offset);
    }
    if (lane_ != 0) return;
    atomicAdd(&work_.counters->hits, counted[0]);
    atomicAdd(&work_.counters->misses, counted[1]);
  }

  // These are the same in all threads.
  bool interrupted_ = false;
  std::uint32_t tried_ = 0;  // candidates
};

__global__ void __launch_bounds__(32 * most_warps, resident_blocks) sum_kernel(const __grid_constant__ SumLaunch work) {
  __shared__ BlockState state;
  Block(work, state).run();
}

}  // namespace

unsigned sum_blocks(unsigned warps) {
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_kernel, static_cast<int>(32 * warps), 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  if (blocks < 1) throw Error("kernel of sums", "does not fit the device", "use --backend cpu");
  return static_cast<unsigned>(blocks * multiprocessors());
}

void launch(const SumLaunch& work, unsigned blocks, unsigned warps, CUstream_st* stream) {
  sum_kernel<<<blocks, 32 * warps, 0, stream>>>(work);
  check(cudaGetLastError(), "kernel of sums");
}

}  // namespace deltamatch::gpu
