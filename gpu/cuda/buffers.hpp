// Memory that is kept from batch to batch. Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "gpu/cuda/check.hpp"
#include "gpu/cuda/memory.hpp"
#include "gpu/cuda/packed_arrays.hpp"

namespace deltamatch::gpu {

/// Device memory that grows to the requested size, plus a quarter if there is room, and never shrinks.
template <class T>
class DeviceBuffer {
 public:
  T* reserve(std::size_t count) {
    if (count > count_) {
      memory_.reset();
      count_ = 0;
      ++generation_;
      std::size_t wanted = count + count / 4;
      try {
        memory_ = make_device_memory<T>(wanted);
      } catch (const DeviceOutOfMemory&) {
        wanted = count;
        memory_ = make_device_memory<T>(wanted);
      }
      count_ = wanted;
    }
    return memory_.get();
  }
  [[nodiscard]] T* get() const noexcept { return memory_.get(); }
  /// Changes with every new allocation, which may lie at the same address as the old one.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

 private:
  DeviceMemory<T> memory_;
  std::size_t count_ = 0;
  std::uint64_t generation_ = 0;
};

/// Several arrays, gathered on the host and sent to the device in one copy.
class Bundle {
 public:
  void clear() noexcept { parts_ = {}; }
  template <class T>
  std::size_t add(std::span<const T> values) {
    Parts parts = parts_;
    const std::size_t at = parts.add<T>(values.size());
    if (parts.bytes() > capacity_) grow(parts.bytes());
    if (!values.empty()) std::memcpy(host_.get() + at, values.data(), values.size_bytes());
    parts_ = parts;
    return at;
  }
  /// Takes device memory for all that was added.
  void reserve() { device_.reserve(bytes() + 16); }
  /// Queues the copy to the device. Call reserve first.
  void send(cudaStream_t stream) {
    if (bytes() > 0) {
      check(cudaMemcpyAsync(device_.get(), host_.get(), bytes(), cudaMemcpyHostToDevice, stream), "copy of the programs");
    }
  }
  template <class T>
  [[nodiscard]] const T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<const T*>(device_.get() + offset);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return parts_.bytes(); }

 private:
  void grow(std::size_t least) {
    const std::size_t capacity = std::max<std::size_t>(2 * least, 1 << 16);
    PinnedMemory<std::byte> larger = make_pinned_memory<std::byte>(capacity);
    if (bytes() > 0) std::memcpy(larger.get(), host_.get(), bytes());
    host_ = std::move(larger);
    capacity_ = capacity;
  }

  PinnedMemory<std::byte> host_;
  std::size_t capacity_ = 0;
  Parts parts_;
  DeviceBuffer<std::byte> device_;
};

}  // namespace deltamatch::gpu
