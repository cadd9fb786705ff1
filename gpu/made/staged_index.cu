#include "gpu/made/staged_index.hpp"

#include <algorithm>
#include <bit>

#include "gpu/cuda/check.hpp"
#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu {

namespace {

constexpr unsigned threads = 256;
constexpr std::uint32_t least_places = 64;
constexpr std::uint32_t none = 0xffffffffU;

__global__ void fill_index(Store store, uint4* table, std::uint32_t mask) {
  const std::uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= store.delta_rows) return;
  const std::uint32_t vertex = store.delta_vertices[row];
  std::uint32_t at = staged_place(vertex, mask);
  while (atomicCAS(&table[at].x, none, vertex) != none) at = (at + 1) & mask;
  table[at].y = store.delta_first_slice[row];
  table[at].z = store.delta_first_slice[row + 1];
}

}  // namespace

void StagedIndex::prepare(const Store& store) {
  // Half of the places stay free at least.
  const std::uint32_t places = std::bit_ceil(std::max(2 * store.delta_rows, least_places));
  mask_ = places - 1;
  table_.reserve(std::size_t{4} * places);
}

void StagedIndex::make(const Store& store, cudaStream_t stream) {
  check(cudaMemsetAsync(table_.get(), 0xff, (std::size_t{mask_} + 1) * sizeof(uint4), stream), "cudaMemsetAsync");
  if (store.delta_rows == 0) return;
  fill_index<<<(store.delta_rows + threads - 1) / threads, threads, 0, stream>>>(store, reinterpret_cast<uint4*>(table_.get()),
                                                                                 mask_);
  check(cudaGetLastError(), "index of changed vertices");
}

}  // namespace deltamatch::gpu
