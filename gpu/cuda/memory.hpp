// Owners of CUDA resources: memory, streams and events. Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "gpu/cuda/check.hpp"

namespace deltamatch::gpu {

struct FreeDevice {
  void operator()(void* memory) const noexcept { cudaFree(memory); }
};
struct FreePinned {
  void operator()(void* memory) const noexcept { cudaFreeHost(memory); }
};
struct DestroyStream {
  void operator()(cudaStream_t stream) const noexcept { cudaStreamDestroy(stream); }
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const noexcept { cudaEventDestroy(event); }
};
using Stream = std::unique_ptr<CUstream_st, DestroyStream>;
using Event = std::unique_ptr<CUevent_st, DestroyEvent>;
template <class T>
using DeviceMemory = std::unique_ptr<T[], FreeDevice>;
template <class T>
using PinnedMemory = std::unique_ptr<T[], FreePinned>;

/// Allocate on the current device. Memory is uninitialised; `count` may be 0. They throw DeviceOutOfMemory if the device has no
/// memory or the host no pinned memory. They throw Error if CUDA fails in any other way.
[[nodiscard]] void* allocate_device(std::size_t bytes);
[[nodiscard]] void* allocate_pinned(std::size_t bytes);
template <class T>
[[nodiscard]] DeviceMemory<T> make_device_memory(std::size_t count) {
  return DeviceMemory<T>(static_cast<T*>(allocate_device(count * sizeof(T))));
}
template <class T>
[[nodiscard]] PinnedMemory<T> make_pinned_memory(std::size_t count) {
  return PinnedMemory<T>(static_cast<T*>(allocate_pinned(count * sizeof(T))));
}
[[nodiscard]] Stream make_stream();
[[nodiscard]] Event make_event();  ///< without times
[[nodiscard]] Event make_timer();  ///< an event with its time
/// Free memory of the current device, in bytes.
[[nodiscard]] std::size_t free_device_bytes();

}  // namespace deltamatch::gpu
