// The operations of a CUDA device for its mirror of the graph.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "gpu/mirror/device_ops.hpp"

namespace deltamatch::gpu {

/// Makes operations that queue everything on `stream` of `device`. The stream outlives them. Calls may come from any thread,
/// one at a time.
[[nodiscard]] std::unique_ptr<DeviceOps> make_cuda_ops(int device, cudaStream_t stream);

}  // namespace deltamatch::gpu
