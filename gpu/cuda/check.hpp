// Checks of CUDA calls; every call goes through here. Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "deltamatch/error.hpp"

namespace deltamatch::gpu {

/// Device memory has run out, or host memory that devices read. Callers may get by with less.
class DeviceOutOfMemory : public Error {
 public:
  explicit DeviceOutOfMemory(std::string_view what,
                             std::string_view remedy = "lower --gpu-memory, or see in nvidia-smi what else takes memory",
                             std::string_view problem = "device memory is exhausted")
      : Error(what, problem, remedy) {}
};

/// Throws DeviceOutOfMemory if that is CUDA's reason. Other failures throw Error with the call and CUDA's reason. Clears CUDA's
/// own record of the last error.
inline void check(cudaError_t status, std::string_view call) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  if (status == cudaErrorMemoryAllocation) throw DeviceOutOfMemory(call);
  throw Error(call, std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status),
              "check the driver and the devices with nvidia-smi");
}

}  // namespace deltamatch::gpu
