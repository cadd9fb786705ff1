// What filtering candidates needs from a device.
#pragma once

#include <memory>

#include "gpu/cuda/memory_ops.hpp"
#include "gpu/filter/candidate_layout.hpp"

namespace deltamatch::gpu {

class CandidateOps : public MemoryOps {
 public:
  virtual void step(const CandidateWork& work) = 0;
};

/// Makes the operations of the current device.
[[nodiscard]] std::unique_ptr<CandidateOps> make_cuda_candidate_ops();

}  // namespace deltamatch::gpu
