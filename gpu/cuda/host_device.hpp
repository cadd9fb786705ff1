// Functions that run on the host and on devices. Kernels and host code share them.
#pragma once

#include <atomic>

#ifdef __CUDACC__
#define DELTAMATCH_HOST_DEVICE __host__ __device__
#else
#define DELTAMATCH_HOST_DEVICE
#endif

namespace deltamatch::gpu {

/// Adds atomically. Returns the value before.
template <class T>
DELTAMATCH_HOST_DEVICE T fetch_add(T* at, T value) {
#ifdef __CUDA_ARCH__
  return atomicAdd(at, value);
#else
  return std::atomic_ref<T>(*at).fetch_add(value, std::memory_order_relaxed);
#endif
}

}  // namespace deltamatch::gpu
