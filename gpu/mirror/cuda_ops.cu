#include "gpu/mirror/cuda_ops.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <unordered_set>

#include "gpu/cuda/memory.hpp"

namespace deltamatch::gpu {

namespace {

constexpr unsigned block_threads = 256;
constexpr unsigned warp_threads = 32;
// Enough to fill any device. Kernels loop over the rest.
constexpr std::size_t most_blocks = std::size_t{1} << 16;

__global__ void scatter_rows_kernel(Row* rows, const RowChange* changes, std::size_t count, std::uint32_t* places) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    // A row is 16 bytes: one load, one store.
    *reinterpret_cast<uint4*>(rows + changes[i].vertex) = *reinterpret_cast<const uint4*>(&changes[i].row);
    if (places != nullptr) places[changes[i].vertex] = DemandRing::absent;
  }
}

// One warp for each piece.
__global__ void scatter_words_kernel(std::uint32_t* pool, const Piece* pieces, std::size_t count, const std::uint32_t* words) {
  const std::size_t warps = std::size_t{gridDim.x} * blockDim.x / warp_threads;
  const unsigned lane = threadIdx.x % warp_threads;
  for (std::size_t i = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp_threads; i < count; i += warps) {
    const Piece piece = pieces[i];
    auto* to = reinterpret_cast<uint4*>(pool + piece.to);
    const auto* from = reinterpret_cast<const uint4*>(words + piece.from);
    for (std::uint32_t k = lane; k < piece.words / 4; k += warp_threads) to[k] = from[k];
  }
}

// One warp for each piece.
__global__ void merge_kernel(MergeWork work, std::size_t count) {
  const std::size_t warps = std::size_t{gridDim.x} * blockDim.x / warp_threads;
  const unsigned lane = threadIdx.x % warp_threads;
  for (std::size_t i = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp_threads; i < count; i += warps) {
    merge_piece(work, work.pieces[i], lane, warp_threads);
  }
}

unsigned blocks_for(std::size_t threads) {
  return static_cast<unsigned>(std::clamp<std::size_t>((threads + block_threads - 1) / block_threads, 1, most_blocks));
}

class CudaOps final : public DeviceOps {
 public:
  CudaOps(int device, cudaStream_t stream) : device_(device), stream_(stream) {
    enter();
    for (Event& event : events_) event = make_event();
  }

  void* allocate(std::size_t bytes) override {
    enter();
    return allocate_device(bytes);
  }
  void free(void* memory) noexcept override { cudaFree(memory); }

  // If pinned memory is refused, ordinary memory is used. CUDA then copies it to a buffer of its own first.
  void* allocate_host(std::size_t bytes) override {
    enter();
    try {
      return allocate_pinned(bytes);
    } catch (const DeviceOutOfMemory&) {
      void* memory = ::operator new(bytes);
      try {
        pageable_.insert(memory);
      } catch (...) {
        ::operator delete(memory);
        throw;
      }
      return memory;
    }
  }
  void free_host(void* memory) noexcept override {
    if (pageable_.erase(memory) != 0) {
      ::operator delete(memory);
    } else {
      cudaFreeHost(memory);
    }
  }
  std::size_t free_bytes() override {
    enter();
    return free_device_bytes();
  }

  void copy_in(void* device, const void* host, std::size_t bytes) override {
    if (bytes == 0) return;
    enter();
    check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync");
  }

  void set(void* device, std::uint8_t value, std::size_t bytes) override {
    if (bytes == 0) return;
    enter();
    check(cudaMemsetAsync(device, value, bytes, stream_), "cudaMemsetAsync");
  }

  void scatter_rows(Row* rows, const RowChange* changes, std::size_t count, std::uint32_t* places) override {
    if (count == 0) return;
    enter();
    scatter_rows_kernel<<<blocks_for(count), block_threads, 0, stream_>>>(rows, changes, count, places);
    check(cudaGetLastError(), "kernel scatter_rows");
  }
  void scatter_words(std::uint32_t* pool, const Piece* pieces, std::size_t count, const std::uint32_t* words) override {
    if (count == 0) return;
    enter();
    scatter_words_kernel<<<blocks_for(count * warp_threads), block_threads, 0, stream_>>>(pool, pieces, count, words);
    check(cudaGetLastError(), "kernel scatter_words");
  }
  void merge(const MergeWork& work, std::size_t pieces) override {
    if (pieces == 0) return;
    enter();
    merge_kernel<<<blocks_for(pieces * warp_threads), block_threads, 0, stream_>>>(work, pieces);
    check(cudaGetLastError(), "kernel merge");
  }

  void fence(unsigned which) override {
    enter();
    check(cudaEventRecord(events_[which].get(), stream_), "cudaEventRecord");
  }
  void wait(unsigned which) override { check(cudaEventSynchronize(events_[which].get()), "cudaEventSynchronize"); }
  void drain() override {
    enter();
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  void enter() const { check(cudaSetDevice(device_), "cudaSetDevice"); }

  int device_;
  cudaStream_t stream_;
  std::array<Event, fences> events_;
  std::unordered_set<void*> pageable_;
};

}  // namespace

std::unique_ptr<DeviceOps> make_cuda_ops(int device, cudaStream_t stream) { return std::make_unique<CudaOps>(device, stream); }

}  // namespace deltamatch::gpu
