// Memory that is kept from batch to batch. Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "gpu/check.hpp"
#include "gpu/memory.hpp"

namespace deltamatch::gpu {

/// Memory that grows to what is asked for, and a quarter more where there is so much, and keeps it.
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
  /// Changes whenever memory is taken anew: it may lie where the old one did.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

 private:
  DeviceMemory<T> memory_;
  std::size_t count_ = 0;
  std::uint64_t generation_ = 0;
};

/// Several arrays in one block, so that one copy brings them all to the device.
class Bundle {
 public:
  void clear() noexcept { bytes_ = 0; }
  template <class T>
  std::size_t add(std::span<const T> values) {
    const std::size_t at = (bytes_ + 15) / 16 * 16;
    const std::size_t end = at + values.size_bytes();
    if (end > capacity_) grow(end);
    if (!values.empty()) std::memcpy(host_.get() + at, values.data(), values.size_bytes());
    bytes_ = end;
    return at;
  }
  /// Takes the device's memory for what was added.
  void reserve() { device_.reserve(bytes_ + 16); }
  /// After reserve.
  void send(cudaStream_t stream) {
    if (bytes_ > 0) {
      check(cudaMemcpyAsync(device_.get(), host_.get(), bytes_, cudaMemcpyHostToDevice, stream), "copy of the programs");
    }
  }
  template <class T>
  [[nodiscard]] const T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<const T*>(device_.get() + offset);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void grow(std::size_t bytes) {
    const std::size_t capacity = std::max<std::size_t>(2 * bytes, 1 << 16);
    PinnedMemory<std::byte> larger = make_pinned_memory<std::byte>(capacity);
    if (bytes_ > 0) std::memcpy(larger.get(), host_.get(), bytes_);
    host_ = std::move(larger);
    capacity_ = capacity;
  }

  PinnedMemory<std::byte> host_;
  std::size_t capacity_ = 0;
  std::size_t bytes_ = 0;
  DeviceBuffer<std::byte> device_;
};

}  // namespace deltamatch::gpu
