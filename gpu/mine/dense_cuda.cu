// Kernels that count dense sets, and the operations that run them.
#include <cuda_runtime.h>

#include <algorithm>

#include "gpu/cuda/cuda_memory_ops.cuh"
#include "gpu/cuda/warp_nodes.cuh"
#include "gpu/mine/clique_step.hpp"
#include "gpu/mine/dense_ops.hpp"
#include "gpu/mine/dense_rows.hpp"
#include "gpu/mine/set_step.hpp"

namespace deltamatch::gpu {
namespace {

using device::GroupOf;
using device::no_node;
using device::NumberDispenser;
using device::reserve;
using device::sum_of_warp;

constexpr unsigned block_threads = 128;
constexpr unsigned row_lanes = 8;  // later lists are short on average

__global__ void __launch_bounds__(block_threads) fill_rows_kernel(RowWork work) {
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x / row_lanes;
  for (std::uint64_t row = thread / row_lanes; row < work.count; row += step) {
    fill_row(work, row, threadIdx.x % row_lanes, row_lanes, [&](std::uint64_t at, unsigned bit) {
      atomicOr(reinterpret_cast<unsigned long long*>(work.rows) + at * work.row_words + bit / 64, 1ULL << bit % 64);
    });
  }
}

__global__ void __launch_bounds__(block_threads) seed_kernel(SeedWork work) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t last = (work.rows.count + 31) / 32 * 32;  // whole warps stay in the loop together
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; row < last; row += step) {
    const bool seed = row < work.rows.count && is_seed(work, row);
    const std::uint64_t slot = reserve(Lane{}, work.output, seed ? 1 : 0);
    if (seed) store_seed(work, row, slot);
  }
}

template <unsigned words, unsigned lanes>
__global__ void __launch_bounds__(block_threads) expand_kernel(CliqueWork work) {
  extern __shared__ unsigned leaves[];  // by pivots; a launch has fewer than 2^32 nodes, and each ends in one leaf at most
  for (unsigned i = threadIdx.x; i < work.leaf_slots; i += blockDim.x) leaves[i] = 0;
  __syncthreads();

  using Group = typename GroupOf<lanes>::type;
  const CliqueSteps<words, Group> steps(Group{}, work.rows);
  const bool leader = steps.group.rank() == 0;
  NumberDispenser feed(work.count, &work.output.progress->taken);
  CliqueNode<words> node{};
  CliqueSplit<words> split{};
  bool active = false;
  while (feed.refill(steps.group, active, [&](std::uint64_t number) { node = steps.load(work.nodes, number); })) {
    unsigned children = 0;
    if (active) {
      const CliqueStep step = steps.step(node, work.missing, split);
      if (step == CliqueStep::leaf && leader) atomicAdd(&leaves[node.pivots], 1);
      active = step == CliqueStep::split;
      if (active) children = steps.count(split.branches);
    }
    __syncwarp();
    std::uint64_t slot = reserve(steps.group, work.output, children);
    if (!active) continue;
    if (slot == no_node && children > 0) {
      unsigned long long at = 0;
      if (leader) at = atomicAdd(&work.output.progress->deferred, 1);
      steps.store(node, work.output.deferred, steps.group.from(at, 0));
      active = false;
      continue;
    }
    steps.branch(node, split, [&](const CliqueNode<words>& child) { steps.store(child, work.output.nodes, slot++); });
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < work.leaf_slots; i += blockDim.x) {
    if (leaves[i] != 0) atomicAdd(&work.leaves[i], leaves[i]);
  }
}

template <unsigned words, unsigned lanes>
__global__ void __launch_bounds__(block_threads) evaluate_kernel(CliqueWork work) {
  using Group = typename GroupOf<lanes>::type;
  const CliqueSteps<words, Group> steps(Group{}, work.rows);
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x / lanes;
  unsigned long long sum = 0;
  for (std::uint64_t i = thread / lanes; i < work.count; i += step) {
    sum += steps.completions(steps.load(work.nodes, i), work.missing);
  }
  sum = sum_of_warp(steps.group.rank() == 0 ? sum : 0);
  if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(&work.output.progress->sums[0], sum);
}

/// For sets that lack more than two vertices: each candidate that is taken makes a child.
template <unsigned lanes>
__global__ void __launch_bounds__(block_threads) grow_kernel(SetWork work) {
  using Group = typename GroupOf<lanes>::type;
  const SetSteps<Group> steps{Group{}, work.rows, work.row_words, work.layers};
  const bool leader = steps.group.rank() == 0;
  const std::size_t node_words = std::size_t{work.layers} * work.row_words;
  NumberDispenser feed(work.count, &work.output.progress->taken);
  NodeHead head{};
  const Word* node = nullptr;
  bool active = false;
  const auto load = [&](std::uint64_t number) {
    head = work.nodes.heads[number];
    node = work.nodes.words + number * node_words;
  };
  while (feed.refill(steps.group, active, load)) {
    TakenMember taken;
    bool grows = false;
    if (active) {
      taken = steps.next(node, head.used, head.from);
      active = taken.member != TakenMember::none;
      grows = active && steps.left(node, head.rows, head.used, taken) + 1 >= work.missing;
    }
    __syncwarp();
    const std::uint64_t slot = reserve(steps.group, work.output, grows ? 1 : 0);
    if (!active) continue;
    const auto behind = static_cast<std::uint16_t>(taken.member + 1);
    if (grows && slot == no_node) {
      unsigned long long at = 0;
      if (leader) at = atomicAdd(&work.output.progress->deferred, 1);
      at = steps.group.from(at, 0);
      if (leader) work.output.deferred.heads[at] = {head.rows, head.used, static_cast<std::uint16_t>(taken.member)};
      steps.copy(node, work.output.deferred.words + at * node_words);
      active = false;
      continue;
    }
    if (grows) {
      if (leader) work.output.nodes.heads[slot] = {head.rows, static_cast<std::uint16_t>(head.used + taken.layer), behind};
      steps.take(node, head.rows, head.used, taken, work.output.nodes.words + slot * node_words);
    }
    head.from = behind;
  }
}

/// For sets that lack two vertices: after a candidate is taken, each remaining candidate completes a set.
template <unsigned lanes>
__global__ void __launch_bounds__(block_threads) finish_kernel(SetWork work) {
  extern __shared__ unsigned long long sums[];  // by layer, then thread
  for (unsigned i = threadIdx.x; i < work.layers * block_threads; i += block_threads) sums[i] = 0;
  using Group = typename GroupOf<lanes>::type;
  const SetSteps<Group> steps{Group{}, work.rows, work.row_words, work.layers};
  const std::size_t node_words = std::size_t{work.layers} * work.row_words;
  NumberDispenser feed(work.count, &work.output.progress->taken);
  NodeHead head{};
  const Word* node = nullptr;
  bool active = false;
  const auto load = [&](std::uint64_t number) {
    head = work.nodes.heads[number];
    node = work.nodes.words + number * node_words;
  };
  while (feed.refill(steps.group, active, load)) {
    if (!active) continue;
    const TakenMember taken = steps.next(node, head.used, head.from);
    active = taken.member != TakenMember::none;
    if (!active) continue;
    head.from = static_cast<std::uint16_t>(taken.member + 1);
    const unsigned below = head.used + taken.layer;
    steps.for_each_word(node, head.rows, head.used, taken, [&](unsigned layer, unsigned, Word bits) {
      sums[(below + layer) * block_threads + threadIdx.x] += count_bits(bits);
    });
  }
  __syncthreads();
  for (unsigned layer = threadIdx.x / 32; layer < work.layers; layer += block_threads / 32) {
    unsigned long long sum = 0;
    for (unsigned i = threadIdx.x % 32; i < block_threads; i += 32) sum += sums[layer * block_threads + i];
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(&work.output.progress->sums[layer], sum);
  }
}

using CliqueKernel = void (*)(CliqueWork);

struct CliqueKernels {
  CliqueKernel expand;
  CliqueKernel evaluate;
};

template <std::size_t width>
constexpr CliqueKernels kernels_of() {
  return {expand_kernel<clique_widths[width].words, clique_widths[width].lanes>,
          evaluate_kernel<clique_widths[width].words, clique_widths[width].lanes>};
}

CliqueKernels kernels_of(Width width) {
  static constexpr CliqueKernels all[] = {kernels_of<0>(), kernels_of<1>(), kernels_of<2>(),
                                          kernels_of<3>(), kernels_of<4>(), kernels_of<5>()};
  static_assert(std::size(all) == clique_widths.size());
  for (std::size_t i = 0; i < clique_widths.size(); ++i) {
    if (clique_widths[i].members() == width.members()) return all[i];
  }
  throw Error("clique kernel", "no kernel has this width", "report this as a bug");
}

struct SetKernels {
  void (*grow)(SetWork);
  void (*finish)(SetWork);
};

SetKernels set_kernels(unsigned lanes) {
  if (lanes == 1) return {grow_kernel<1>, finish_kernel<1>};
  if (lanes == 8) return {grow_kernel<8>, finish_kernel<8>};
  return {grow_kernel<32>, finish_kernel<32>};
}

class CudaDenseOps final : public CudaMemoryOps<DenseOps> {
 public:
  void fill_rows(const RowWork& work) override { run(fill_rows_kernel, work, work.count * row_lanes, 0); }
  void seed(const SeedWork& work) override { run(seed_kernel, work, work.rows.count, 0); }
  void expand(const CliqueWork& work, Width width) override {
    run(kernels_of(width).expand, work, work.count * width.lanes, work.leaf_slots * sizeof(unsigned));
  }
  void evaluate(const CliqueWork& work, Width width) override {
    run(kernels_of(width).evaluate, work, work.count * width.lanes, 0);
  }

  void grow(const SetWork& work) override {
    const unsigned lanes = set_lanes(work.row_words);
    run(set_kernels(lanes).grow, work, work.count * lanes, 0);
  }
  void finish(const SetWork& work) override {
    const unsigned lanes = set_lanes(work.row_words);
    run(set_kernels(lanes).finish, work, work.count * lanes, work.layers * block_threads * sizeof(unsigned long long));
  }

 private:
  /// Launches as many blocks as the device runs at once, or fewer if the threads need fewer.
  template <class Work>
  void run(void (*kernel)(Work), const Work& work, std::uint64_t threads, std::size_t shared) {
    if (threads == 0) return;
    const std::uint64_t blocks = (threads + block_threads - 1) / block_threads;
    launch(kernel, work, std::min(blocks, most_blocks(kernel, block_threads, shared)), block_threads, shared);
  }
};

}  // namespace

std::unique_ptr<DenseOps> make_cuda_dense_ops() { return std::make_unique<CudaDenseOps>(); }

}  // namespace deltamatch::gpu
