// The kernel that filters candidates, in warps.
#include <cuda_runtime.h>

#include "gpu/cuda/cuda_memory_ops.cuh"
#include "gpu/cuda/warp_nodes.cuh"
#include "gpu/filter/candidate_ops.hpp"
#include "gpu/filter/candidate_step.hpp"

namespace deltamatch::gpu {
namespace {

constexpr unsigned block_warps = 8;
constexpr unsigned block_threads = block_warps * 32;

__global__ void __launch_bounds__(block_threads) step_kernel(const __grid_constant__ CandidateWork work) {
  const unsigned number = blockIdx.x * block_warps + threadIdx.x / 32;
  filter_candidates(device::Tile<32>(), work, number, gridDim.x * block_warps);
}

class CudaCandidateOps final : public CudaMemoryOps<CandidateOps> {
 public:
  void step(const CandidateWork& work) override {
    const std::uint64_t needed = (std::uint64_t{work.vertices} + block_threads - 1) / block_threads;
    launch(step_kernel, work, std::max<std::uint64_t>(1, std::min(needed, most_blocks(step_kernel, block_threads, 0))),
           block_threads, 0);
  }
};

}  // namespace

std::unique_ptr<CandidateOps> make_cuda_candidate_ops() { return std::make_unique<CudaCandidateOps>(); }

}  // namespace deltamatch::gpu
