#include "gpu/made/staged_index.hpp"

#include <algorithm>
#include <bit>

#include "gpu/cuda/check.hpp"

namespace deltamatch::gpu {

namespace {

constexpr unsigned threads = 128;
constexpr std::uint32_t least_places = 64;
constexpr std::uint32_t none = 0xffffffffU;

__device__ std::uint32_t lower_bound(const std::uint32_t* ids, std::uint32_t count, std::uint32_t id) {
  std::uint32_t at = 0;
  while (count > 0) {
    const std::uint32_t half = count / 2;
    const bool less = ids[at + half] < id;
    at = less ? at + half + 1 : at;
    count = less ? count - half - 1 : half;
  }
  return at;
}

// Takes words for the block. Returns `none` if there is no room.
__device__ std::uint32_t take_words(const MergedLists& merged, std::uint32_t words) {
  __shared__ std::uint32_t place;
  __syncthreads();
  if (threadIdx.x == 0) {
    place = atomicAdd(&merged.state[0], words);
    if (place > merged.capacity || words > merged.capacity - place) {
      // A sum of requests beyond 32 bits would wrap, so the cursor goes back.
      atomicSub(&merged.state[0], words);
      merged.state[1] = 1;
      place = none;
    }
  }
  __syncthreads();
  return place;
}

// The stable entries of a list.
__device__ const std::uint32_t* stable_entries(const Row& row, std::uint32_t relation, std::uint32_t& count) {
  const std::uint32_t slices = row.shape >> 7;
  count = 0;
  std::uint32_t begin = 0;
  for (std::uint32_t i = 0; i < slices; ++i) {
    const std::uint32_t end = row.block[2 * i + 1];
    if (row.block[2 * i] == relation) {
      count = end - begin;
      return row.block + (2U << (row.shape >> 2 & 31U)) + begin;
    }
    begin = end;
  }
  return nullptr;
}

// Notes a vertex that the batch touches, and merges what it adds into its lists. A block for each.
__global__ void __launch_bounds__(threads) fill_index(Store store, uint4* table, std::uint32_t mask, MergedLists merged) {
  const std::uint32_t vertex = store.delta_vertices[blockIdx.x];
  const std::uint32_t first = store.delta_first_slice[blockIdx.x];
  const std::uint32_t end = store.delta_first_slice[blockIdx.x + 1];
  const std::uint32_t header = take_words(merged, 2 * (end - first));
  if (threadIdx.x == 0) {
    std::uint32_t at = staged_place(vertex, mask);
    while (atomicCAS(&table[at].x, none, vertex) != none) at = (at + 1) & mask;
    table[at].y = first;
    table[at].z = header == none ? first : end;
    table[at].w = header;
  }
  for (std::uint32_t slice = first; header != none && slice < end; ++slice) {
    const std::uint32_t* const added = store.added + store.slices[slice].added_begin;
    const std::uint32_t adds = store.slices[slice + 1].added_begin - store.slices[slice].added_begin;
    std::uint32_t count = 0;
    const std::uint32_t* const stable =
        vertex < store.vertices ? stable_entries(store.rows[vertex], store.slices[slice].relation, count) : nullptr;
    const std::uint32_t place = adds > 0 ? take_words(merged, count + adds) : none;
    if (threadIdx.x == 0) {
      merged.words[header + 2 * (slice - first)] = place;
      merged.words[header + 2 * (slice - first) + 1] = place == none ? MergedLists::unmerged : count + adds;
    }
    if (place == none) continue;
    std::uint32_t* const to = merged.words + place;
    for (std::uint32_t i = threadIdx.x; i < count; i += threads) to[i + lower_bound(added, adds, stable[i])] = stable[i];
    for (std::uint32_t i = threadIdx.x; i < adds; i += threads) to[i + lower_bound(stable, count, added[i])] = added[i];
  }
}

}  // namespace

void StagedIndex::prepare(const Store& store, std::size_t words) {
  // Half of the places stay free at least.
  const std::uint32_t places = std::bit_ceil(std::max(2 * store.delta_rows, least_places));
  mask_ = places - 1;
  table_.reserve(std::size_t{4} * places);
  if (merged_.words == nullptr) merged_.capacity = static_cast<std::uint32_t>(words);
  merged_.words = words_.reserve(merged_.capacity);
  merged_.state = state_.reserve(2);
}

void StagedIndex::make(const Store& store, cudaStream_t stream) {
  check(cudaMemsetAsync(table_.get(), 0xff, (std::size_t{mask_} + 1) * sizeof(uint4), stream), "cudaMemsetAsync");
  check(cudaMemsetAsync(merged_.state, 0, 2 * sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  if (store.delta_rows == 0) return;
  fill_index<<<store.delta_rows, threads, 0, stream>>>(store, reinterpret_cast<uint4*>(table_.get()), mask_, merged_);
  check(cudaGetLastError(), "index of changed vertices");
}

}  // namespace deltamatch::gpu
