// Device memory as mining and filtering use it. The CUDA implementation queues everything on a stream. Tests use one whose
// device is the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace deltamatch::gpu {

/// Calls take effect in order. All except read may return before they have taken effect.
class MemoryOps {
 public:
  virtual ~MemoryOps() = default;
  MemoryOps() = default;
  MemoryOps(const MemoryOps&) = delete;
  MemoryOps& operator=(const MemoryOps&) = delete;

  /// Device memory, aligned to 256 bytes. Throws DeviceOutOfMemory.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  /// Waits for all work that may use the memory.
  virtual void free(void* memory) noexcept = 0;
  [[nodiscard]] virtual std::size_t free_bytes() = 0;

  /// Copies from and to host memory. The host may change its memory right after the call.
  virtual void write(void* device, const void* host, std::size_t bytes) = 0;
  virtual void read(void* host, const void* device, std::size_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void clear(void* device, std::size_t bytes) = 0;

  /// Seconds that kernels have taken so far.
  [[nodiscard]] virtual double kernel_seconds() = 0;
};

/// Bytes that may be used: what is free, less a reserve. If `most` is not 0, the result and `taken` together do not exceed it.
[[nodiscard]] inline std::size_t usable_bytes(MemoryOps& ops, std::size_t most, std::size_t taken) {
  const std::size_t free = ops.free_bytes() / 16 * 15;
  if (most == 0) return free;
  const std::size_t rest = most > taken ? most - taken : 0;
  return free < rest ? free : rest;
}

/// An array on a device.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(MemoryOps& ops, std::uint64_t count) : ops_(&ops), data_(static_cast<T*>(ops.allocate(count * sizeof(T)))) {}
  template <class Values>
    requires requires(const Values& values) { values.data(); }
  DeviceArray(MemoryOps& ops, const Values& values) : DeviceArray(ops, values.size()) {
    write(values);
  }
  ~DeviceArray() { reset(); }
  DeviceArray(DeviceArray&& other) noexcept : ops_(other.ops_), data_(std::exchange(other.data_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    reset();
    ops_ = other.ops_;
    data_ = std::exchange(other.data_, nullptr);
    return *this;
  }

  [[nodiscard]] T* get() const noexcept { return data_; }
  template <class Values>
  void write(const Values& values) const {
    static_assert(sizeof(*values.data()) == sizeof(T));
    if (values.size() > 0) ops_->write(data_, values.data(), values.size() * sizeof(T));
  }

 private:
  void reset() noexcept {
    if (data_ != nullptr) ops_->free(data_);
    data_ = nullptr;
  }
  MemoryOps* ops_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace deltamatch::gpu
