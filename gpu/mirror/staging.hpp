// Buffers of a device, and the two chunks through which data reaches it. While one is on its way, the other is filled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gpu/cuda/packed_arrays.hpp"
#include "gpu/mirror/device_ops.hpp"

namespace deltamatch::gpu {

/// Device or host memory. It loses its contents when it grows. `ops` outlives it.
class Buffer {
 public:
  enum class Place : std::uint8_t { device, host };
  Buffer(DeviceOps& ops, Place place) noexcept : ops_(&ops), place_(place) {}
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void release() noexcept {
    if (memory_ != nullptr) place_ == Place::device ? ops_->free(memory_) : ops_->free_host(memory_);
    memory_ = nullptr;
    bytes_ = 0;
  }
  /// Returns whether the memory moved. If it throws, the buffer is empty.
  bool reserve(std::size_t bytes) {
    if (bytes <= bytes_) return false;
    release();
    memory_ = place_ == Place::device ? ops_->allocate(bytes) : ops_->allocate_host(bytes);
    bytes_ = bytes;
    return true;
  }
  template <class T>
  [[nodiscard]] T* as(std::size_t offset = 0) const noexcept {
    return reinterpret_cast<T*>(static_cast<std::byte*>(memory_) + offset);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  DeviceOps* ops_;
  Place place_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

class Staging {
 public:
  static constexpr unsigned chunks = 2;

  /// Uses the fences 0 and 1.
  Staging(DeviceOps& ops, std::size_t chunk_bytes)
      : ops_(&ops),
        chunk_bytes_(std::max(chunk_bytes, least_bytes)),
        host_{{ops, Buffer::Place::host}, {ops, Buffer::Place::host}},
        device_{{ops, Buffer::Place::device}, {ops, Buffer::Place::device}} {}

  /// The most that should be sent at once.
  [[nodiscard]] std::size_t chunk_bytes() const noexcept { return chunk_bytes_; }
  /// Turns to the next chunk, once its former contents have been used. Makes room for `bytes`, which may exceed chunk_bytes.
  void open(std::size_t bytes) {
    current_ = 1 - current_;
    ops_->wait(current_);
    // Small at first: most batches of a stream need little.
    const std::size_t room = bytes <= least_bytes ? least_bytes : std::max(chunk_bytes_, bytes);
    host_[current_].reserve(room);
    device_[current_].reserve(room);
  }
  template <class T>
  [[nodiscard]] T* host(std::size_t offset) const noexcept {
    return host_[current_].as<T>(offset);
  }
  template <class T>
  [[nodiscard]] T* device(std::size_t offset) const noexcept {
    return device_[current_].as<T>(offset);
  }
  /// Copies the first bytes of the open chunk to its place on the device.
  void send(std::size_t bytes) {
    ops_->copy_in(device_[current_].as<void>(), host_[current_].as<void>(), bytes);
    sent_ += bytes;
  }
  /// Copies the first bytes of the open chunk elsewhere on the device.
  void send_to(void* device, std::size_t bytes) {
    ops_->copy_in(device, host_[current_].as<void>(), bytes);
    sent_ += bytes;
  }
  /// Closes the open chunk. Call it after everything that uses the chunk is queued.
  void close() { ops_->fence(current_); }
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_; }
  [[nodiscard]] std::size_t host_bytes() const noexcept { return host_[0].bytes() + host_[1].bytes(); }
  [[nodiscard]] std::size_t device_bytes() const noexcept { return device_[0].bytes() + device_[1].bytes(); }

 private:
  static constexpr std::size_t least_bytes = std::size_t{1} << 20;

  DeviceOps* ops_;
  std::size_t chunk_bytes_;
  Buffer host_[chunks];
  Buffer device_[chunks];
  unsigned current_ = 0;
  std::uint64_t sent_ = 0;
};

}  // namespace deltamatch::gpu
