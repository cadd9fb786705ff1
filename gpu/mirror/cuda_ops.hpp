// The operations of a CUDA device for its mirror of the graph.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "gpu/mirror/device_ops.hpp"

namespace deltamatch::gpu {

/// Queues everything on `stream` of `device`; the stream outlives it. Calls may come from any thread, one at a time.
[[nodiscard]] std::unique_ptr<DeviceOps> make_cuda_ops(int device, cudaStream_t stream);

}  // namespace deltamatch::gpu
