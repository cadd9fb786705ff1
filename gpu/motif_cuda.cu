// The kernel that counts patterns, a warp for each walk.
#include <cuda_runtime.h>

#include "gpu/cuda_memory_ops.cuh"
#include "gpu/motif_ops.hpp"
#include "gpu/motif_step.hpp"
#include "gpu/warp_nodes.cuh"

namespace deltamatch::gpu {
namespace {

constexpr unsigned block_warps = 4;
constexpr unsigned block_threads = block_warps * 32;
constexpr unsigned least_blocks = 8;  // of a multiprocessor: 64 registers for a thread
constexpr unsigned list_lanes = 8;    // that read the list of one candidate: most are short

__global__ void __launch_bounds__(block_threads, least_blocks) walk_kernel(const __grid_constant__ MotifWork work) {
  extern __shared__ unsigned long long counts[];  // by pattern
  __shared__ MotifScratch scratch[block_warps];
  for (unsigned i = threadIdx.x; i < work.tables.patterns; i += block_threads) counts[i] = 0;
  __syncthreads();
  const unsigned number = blockIdx.x * block_warps + threadIdx.x / 32;
  if (number < work.warps) {
    MotifWalk<device::Tile<32>, device::Tile<list_lanes>>(work, number, scratch[threadIdx.x / 32], counts).run();
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < work.tables.patterns; i += block_threads) {
    if (counts[i] != 0) atomicAdd(&work.counts[i], counts[i]);
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
  static std::size_t bytes_of(unsigned patterns) { return patterns * sizeof(unsigned long long); }
};

}  // namespace

std::unique_ptr<MotifOps> make_cuda_motif_ops() { return std::make_unique<CudaMotifOps>(); }

}  // namespace deltamatch::gpu
