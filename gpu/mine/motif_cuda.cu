// The kernel that counts patterns, with one warp for each walk.
#include <cuda_runtime.h>

#include "gpu/cuda/cuda_memory_ops.cuh"
#include "gpu/cuda/warp_nodes.cuh"
#include "gpu/mine/motif_ops.hpp"
#include "gpu/mine/motif_step.hpp"

namespace deltamatch::gpu {
namespace {

constexpr unsigned block_warps = 4;
constexpr unsigned block_threads = block_warps * 32;
constexpr unsigned least_blocks = 8;  // per multiprocessor: leaves 64 registers for a thread
constexpr unsigned list_lanes = 8;    // lanes that read the list of one candidate: most lists are short

__global__ void __launch_bounds__(block_threads, least_blocks) walk_kernel(const __grid_constant__ MotifWork work) {
  extern __shared__ std::uint32_t halves[];  // low and high halves of the sums by pattern
  __shared__ MotifScratch scratch[block_warps];
  const unsigned patterns = work.tables.patterns;
  const MotifSums sums{halves, halves + patterns};
  for (unsigned i = threadIdx.x; i < 2 * patterns; i += block_threads) halves[i] = 0;
  __syncthreads();
  const unsigned number = blockIdx.x * block_warps + threadIdx.x / 32;
  if (number < work.warps) {
    MotifWalk<device::Tile<32>, device::Tile<list_lanes>>(work, number, scratch[threadIdx.x / 32], sums).run();
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < patterns; i += block_threads) {
    if (const unsigned long long sum = sums.of(i); sum != 0) atomicAdd(&work.counts[i], sum);
  }
}

class CudaMotifOps final : public CudaMemoryOps<MotifOps> {
 public:
  unsigned warps(unsigned patterns) override {
    return static_cast<unsigned>(most_blocks(walk_kernel, block_threads, bytes_of(patterns))) * block_warps;
  }
  void walk(const MotifWork& work) override {
    launch(walk_kernel, work, (work.warps + block_warps - 1) / block_warps, block_threads, bytes_of(work.tables.patterns));
  }

 private:
  static std::size_t bytes_of(unsigned patterns) { return 2 * patterns * sizeof(std::uint32_t); }
};

}  // namespace

std::unique_ptr<MotifOps> make_cuda_motif_ops() { return std::make_unique<CudaMotifOps>(); }

}  // namespace deltamatch::gpu
