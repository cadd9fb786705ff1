// One GPU with its mirror of the graph: queues the kernels of a batch, drains what they list, and reads what they add up.
// Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/gpu.hpp"
#include "estimate/accesses.hpp"
#include "gpu/device_graph.hpp"
#include "gpu/flat_programs.hpp"
#include "gpu/kernel.hpp"
#include "gpu/memory.hpp"

namespace deltamatch::gpu {

/// Memory that grows to what is asked for and keeps it.
template <class T>
class DeviceBuffer {
 public:
  T* reserve(std::size_t count) {
    if (count > count_) {
      memory_.reset();
      count_ = 0;
      memory_ = make_device_memory<T>(count + count / 4);
      count_ = count + count / 4;
    }
    return memory_.get();
  }
  [[nodiscard]] T* get() const noexcept { return memory_.get(); }

 private:
  DeviceMemory<T> memory_;
  std::size_t count_ = 0;
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
  void send(cudaStream_t stream) {
    device_.reserve(bytes_ + 16);
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

/// What a kernel writes besides matches.
struct Outcome {
  Queue queue[2];
  Counters counters;
};

/// One GPU with its mirror of the graph. Not thread-safe; calls switch the current device.
class Device {
 public:
  Device(int ordinal, const DeviceGraphOptions& options, Workers& workers);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void use() const { check(cudaSetDevice(ordinal_), "cudaSetDevice"); }
  [[nodiscard]] DeviceGraph& mirror() noexcept { return *mirror_; }

  /// Queues share number `share` of the work; nothing is waited for. Throws DeviceOutOfMemory before a
  /// kernel is.
  void start(const FlatPrograms& flat, std::uint32_t share, std::uint32_t shares, const GpuOptions& options,
             std::size_t base_vertices, std::size_t derived_vertices);

  /// Takes what is there; returns whether the kernels have ended (and everything was taken).
  template <class Take>
  bool poll(bool stop, Take&& take) {
    use();
    if (stop) ask_to_stop();
    const cudaError_t status = cudaEventQuery(done_.get());
    if (status != cudaErrorNotReady) check(status, "matching kernel");
    if (lists_) drain(take);
    return status == cudaSuccess;
  }

  /// After the kernels have ended.
  void finish(const FlatPrograms& flat, std::vector<Total>& totals, Outcome& outcome);

  /// How often each vertex was looked up (measuring).
  std::vector<estimate::Access> accesses();

  /// Waits for whatever runs, on the way out of a failure.
  void settle() noexcept;

 private:
  // On a stream of its own, beside the kernels that are to see it.
  void ask_to_stop();
  void open_pages(std::uint32_t count);

  template <class Take>
  void drain(Take&& take) {
    while (true) {
      volatile std::uint32_t& entry = pages_.full[next_full_ % pages_.pages];
      const std::uint32_t page = entry;
      if (page == 0) return;
      std::atomic_thread_fence(std::memory_order_acquire);
      take(pages_.memory + std::size_t{page - 1} * page_words);
      entry = 0;
      std::atomic_thread_fence(std::memory_order_release);
      pages_.free[next_free_++ % pages_.pages] = page;
      ++next_full_;
    }
  }

  int ordinal_;
  Stream stream_;
  Event done_;
  std::unique_ptr<DeviceGraph> mirror_;
  Bundle bundle_;
  DeviceBuffer<Total> totals_;
  PinnedMemory<Total> read_totals_;
  std::size_t read_totals_count_ = 0;
  DeviceMemory<Outcome> outcome_;
  PinnedMemory<Outcome> read_outcome_;
  DeviceMemory<Item> items_;
  DeviceMemory<std::uint32_t> sequence_;
  DeviceBuffer<std::uint32_t> frames_;
  Stream control_;
  PinnedMemory<unsigned> stop_;  // what is copied to say stop
  bool stopping_ = false;
  bool lists_ = false;
  Pages pages_{};
  PinnedMemory<std::uint32_t> page_memory_;
  PinnedMemory<std::uint32_t> page_flags_;
  DeviceMemory<unsigned long long> tickets_;
  std::uint64_t next_full_ = 0;
  std::uint64_t next_free_ = 0;
  DeviceBuffer<std::uint32_t> accesses_[2];
  std::size_t counted_[2] = {0, 0};
};

}  // namespace deltamatch::gpu
