// What counting patterns needs from a device.
#pragma once

#include <memory>

#include "gpu/cuda/memory_ops.hpp"
#include "gpu/mine/motif_layout.hpp"

namespace deltamatch::gpu {

class MotifOps : public MemoryOps {
 public:
  /// How many walks the device runs at once.
  [[nodiscard]] virtual unsigned warps(unsigned patterns) = 0;
  virtual void walk(const MotifWork& work) = 0;
};

/// Makes the operations of the current device.
[[nodiscard]] std::unique_ptr<MotifOps> make_cuda_motif_ops();

}  // namespace deltamatch::gpu
