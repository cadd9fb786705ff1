// The calls of the CUDA driver that load and launch compiled kernels. The driver is opened at run time, since a build needs no
// driver. Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

namespace deltamatch::gpu {

/// A kernel of a LoadedModule.
using DriverFunction = void*;

/// Compiled code in the current device's memory. Used with that device current.
class LoadedModule {
 public:
  /// Throws Error, or DeviceOutOfMemory if the device has no room.
  explicit LoadedModule(const std::string& cubin);
  ~LoadedModule();
  LoadedModule(LoadedModule&& other) noexcept;
  LoadedModule& operator=(LoadedModule&&) = delete;

  [[nodiscard]] DriverFunction function(const std::string& name) const;

 private:
  void* module_ = nullptr;
};

/// How many blocks of `threads` threads a multiprocessor takes at once.
[[nodiscard]] unsigned blocks_at_once(DriverFunction function, unsigned threads);

/// Queues a kernel with one parameter, and does not wait.
void launch(DriverFunction function, unsigned blocks, unsigned threads, const void* parameter, cudaStream_t stream);

}  // namespace deltamatch::gpu
