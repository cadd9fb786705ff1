#include "gpu/cuda/devices.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "gpu/cuda/memory.hpp"

namespace deltamatch::gpu {
namespace {

std::atomic<int> most_multiprocessors = 0;

constexpr int probe_blocks = 4;
constexpr int probe_threads = 96;  // three warps: the shuffle below crosses none

/// Each warp adds its threads' numbers by shuffles; lane 0 adds the sum to the total.
__global__ void sum_of_thread_numbers(unsigned long long* total) {
  unsigned sum = blockIdx.x * blockDim.x + threadIdx.x;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

}  // namespace

bool has_code_for(int major, int minor) noexcept {
  // The architectures that code was made for, ascending. Code for the oldest runs on all later ones, or drivers translate it.
  constexpr int architectures[] = {__CUDA_ARCH_LIST__};
  return 100 * major + 10 * minor >= architectures[0];
}

std::vector<Device> devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
    static_cast<void>(cudaGetLastError());
    return {};
  }
  check(status, "cudaGetDeviceCount");
  std::vector<Device> found;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
    found.push_back({ordinal, properties.name, properties.major, properties.minor, properties.totalGlobalMem,
                     has_code_for(properties.major, properties.minor)});
  }
  return found;
}

void probe(int ordinal) {
  check(cudaSetDevice(ordinal), "cudaSetDevice");
  const Stream stream = make_stream();
  const auto total = make_device_memory<unsigned long long>(1);

  check(cudaMemsetAsync(total.get(), 0, sizeof(unsigned long long), stream.get()), "cudaMemsetAsync");
  sum_of_thread_numbers<<<probe_blocks, probe_threads, 0, stream.get()>>>(total.get());
  check(cudaGetLastError(), "probe kernel");
  unsigned long long sum = 0;
  check(cudaMemcpyAsync(&sum, total.get(), sizeof sum, cudaMemcpyDeviceToHost, stream.get()), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");

  constexpr unsigned long long threads = probe_blocks * probe_threads;
  if (sum != threads * (threads - 1) / 2) {
    throw Error("CUDA device " + std::to_string(ordinal), "the device computes wrong sums", "use another device");
  }
}

int multiprocessors() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  int all = 0;
  check(cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  const int most = most_multiprocessors;
  return most > 0 ? std::min(most, all) : all;
}

void limit_multiprocessors(int most) noexcept { most_multiprocessors = most; }

}  // namespace deltamatch::gpu
