// Memory and launches on the current device, on a stream of their own.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/memory.hpp"
#include "gpu/cuda/memory_ops.hpp"

namespace deltamatch::gpu {

/// `Ops` is MemoryOps, or an interface that adds kernels to it.
template <class Ops>
class CudaMemoryOps : public Ops {
 public:
  CudaMemoryOps() : stream_(make_stream()), begin_(make_timer()), end_(make_timer()), multiprocessors_(multiprocessors()) {}

  void* allocate(std::size_t bytes) override { return allocate_device(bytes); }
  void free(void* memory) noexcept override {
    static_cast<void>(cudaStreamSynchronize(stream_.get()));
    cudaFree(memory);
  }
  std::size_t free_bytes() override { return free_device_bytes(); }

  void write(void* device, const void* host, std::size_t bytes) override {
    copy_with(device, host, bytes, cudaMemcpyHostToDevice);
    wait();  // a copy from pinned memory would still be reading
  }
  void read(void* host, const void* device, std::size_t bytes) override {
    copy_with(host, device, bytes, cudaMemcpyDeviceToHost);
    wait();
  }
  void copy(void* to, const void* from, std::size_t bytes) override { copy_with(to, from, bytes, cudaMemcpyDeviceToDevice); }
  void clear(void* device, std::size_t bytes) override {
    if (bytes > 0) check(cudaMemsetAsync(device, 0, bytes, stream_.get()), "cudaMemsetAsync");
  }

  double kernel_seconds() override {
    settle_time();
    return seconds_;
  }

 protected:
  /// How many blocks the device runs at once, at least 1. It is 0 if a multiprocessor has less than `shared` bytes of shared
  /// memory. From then on the kernel may be launched with that much.
  template <class Kernel>
  [[nodiscard]] std::uint64_t most_blocks(Kernel kernel, unsigned threads, std::size_t shared) const {
    if (shared > 0 &&
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());  // the error must not be seen again
      return 0;
    }
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), shared),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return static_cast<std::uint64_t>(std::max(blocks, 1)) * static_cast<std::uint64_t>(multiprocessors_);
  }

  template <class Work>
  void launch(void (*kernel)(Work), const Work& work, std::uint64_t blocks, unsigned threads, std::size_t shared) {
    settle_time();
    check(cudaEventRecord(begin_.get(), stream_.get()), "cudaEventRecord");
    kernel<<<static_cast<unsigned>(blocks), threads, shared, stream_.get()>>>(work);
    check(cudaGetLastError(), "kernel of mining");
    check(cudaEventRecord(end_.get(), stream_.get()), "cudaEventRecord");
    timing_ = true;
  }

 private:
  void copy_with(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream_.get()), "cudaMemcpyAsync");
  }
  void wait() { check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize"); }

  /// Adds the time of the last launch.
  void settle_time() {
    if (!timing_) return;
    timing_ = false;
    float milliseconds = 0;
    check(cudaEventSynchronize(end_.get()), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "cudaEventElapsedTime");
    seconds_ += milliseconds * 1e-3;
  }

  Stream stream_;
  Event begin_;
  Event end_;
  int multiprocessors_;
  bool timing_ = false;
  double seconds_ = 0;
};

}  // namespace deltamatch::gpu
