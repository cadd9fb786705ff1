// Measures how fast a GPU finds a vertex's lists in two structures:
// - one row for every vertex (gpu/mirror/layout.hpp)
// - a sorted index of the cached vertices (DCSR), which is searched
// It writes one JSON line for each number of cached vertices.
//
// look_up [vertices]   default 2^24
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "gpu/cuda/check.hpp"
#include "gpu/cuda/memory.hpp"
#include "gpu/mirror/layout.hpp"

namespace {

using deltamatch::gpu::check;
using deltamatch::gpu::make_device_memory;
using deltamatch::gpu::make_timer;
using deltamatch::gpu::Row;

constexpr std::uint32_t look_ups = 1U << 26;
constexpr unsigned threads = 256;
constexpr int rounds = 7;

__device__ std::uint32_t draw(std::uint32_t at) {
  at *= 0x9e3779b1U;
  at ^= at >> 16;
  at *= 0x85ebca6bU;
  return at ^ at >> 13;
}

// Both kernels read the first word of each vertex's block. The cached vertices are drawn at random.
__global__ void by_row(const Row* rows, const std::uint32_t* cached, std::uint32_t count, std::uint32_t* out) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < look_ups; i += gridDim.x * blockDim.x) {
    const std::uint32_t vertex = cached[draw(i) % count];
    const uint4 raw = __ldg(reinterpret_cast<const uint4*>(rows) + vertex);
    sum += *reinterpret_cast<const std::uint32_t*>(static_cast<std::uint64_t>(raw.y) << 32 | raw.x);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void by_search(const std::uint32_t* pool, const std::uint32_t* starts, const std::uint32_t* cached,
                          std::uint32_t count, std::uint32_t* out) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < look_ups; i += gridDim.x * blockDim.x) {
    const std::uint32_t vertex = cached[draw(i) % count];
    std::uint32_t at = 0;
    for (std::uint32_t n = count; n > 1;) {
      const std::uint32_t half = n >> 1;
      if (__ldg(cached + at + half) <= vertex) at += half;
      n -= half;
    }
    sum += pool[__ldg(starts + at)];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <class Launch>
double median_ns(Launch launch) {
  const auto begin = make_timer();
  const auto end = make_timer();
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    check(cudaEventRecord(begin.get()), "cudaEventRecord");
    launch();
    check(cudaGetLastError(), "look-ups");
    check(cudaEventRecord(end.get()), "cudaEventRecord");
    check(cudaEventSynchronize(end.get()), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
    times.push_back(static_cast<double>(milliseconds) * 1e6 / look_ups);
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[rounds / 2];
}

template <class T>
auto upload(const std::vector<T>& values) {
  auto memory = make_device_memory<T>(values.size());
  check(cudaMemcpy(memory.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return memory;
}

}  // namespace

int main(int count, char** words) {
  try {
    const auto vertices = count > 1 ? static_cast<std::uint32_t>(std::strtoul(words[1], nullptr, 10)) : 1U << 24;
    constexpr std::uint32_t block_words = 32;  // of each cached vertex
    std::mt19937_64 random(1);
    int processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "cudaDeviceGetAttribute");
    const unsigned blocks = 8 * static_cast<unsigned>(processors);
    const auto out = make_device_memory<std::uint32_t>(std::size_t{blocks} * threads);
    const auto other = make_device_memory<std::uint32_t>(std::size_t{blocks} * threads);
    for (std::uint32_t cached = 1U << 10; cached <= std::min(vertices, 1U << 22); cached *= 16) {
      std::vector<std::uint32_t> ids(vertices);
      std::iota(ids.begin(), ids.end(), 0);
      std::shuffle(ids.begin(), ids.end(), random);
      ids.resize(cached);
      std::sort(ids.begin(), ids.end());
      std::vector<std::uint32_t> words_of(std::size_t{cached} * block_words);
      for (auto& word : words_of) word = static_cast<std::uint32_t>(random());
      const auto pool = upload(words_of);
      std::vector<Row> rows(vertices, Row{nullptr, 0, 0});
      std::vector<std::uint32_t> starts(cached);
      for (std::uint32_t i = 0; i < cached; ++i) {
        starts[i] = i * block_words;
        rows[ids[i]].block = pool.get() + starts[i];
      }
      const auto device_rows = upload(rows);
      const auto device_ids = upload(ids);
      const auto device_starts = upload(starts);
      const double row =
          median_ns([&] { by_row<<<blocks, threads>>>(device_rows.get(), device_ids.get(), cached, out.get()); });
      const double search = median_ns(
          [&] { by_search<<<blocks, threads>>>(pool.get(), device_starts.get(), device_ids.get(), cached, other.get()); });
      std::vector<std::uint32_t> a(std::size_t{blocks} * threads);
      std::vector<std::uint32_t> b(a.size());
      check(cudaMemcpy(a.data(), out.get(), a.size() * sizeof a[0], cudaMemcpyDeviceToHost), "cudaMemcpy");
      check(cudaMemcpy(b.data(), other.get(), b.size() * sizeof b[0], cudaMemcpyDeviceToHost), "cudaMemcpy");
      if (a != b) throw deltamatch::Error("look_up", "the two ways found different words");
      std::printf("{\"kind\":\"look-up\",\"vertices\":%u,\"cached\":%u,\"row_ns\":%.4f,\"search_ns\":%.4f}\n", vertices, cached,
                  row, search);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "look_up: %s\n", error.what());
    return 1;
  }
}
