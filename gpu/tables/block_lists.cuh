// What a block reads: the candidates of a query vertex, and the lists of a set of vertices.
//
// The lanes of a warp read the short lists of a set side by side. A long list is read by the whole warp. Warps share out the
// set as they go.
#pragma once

#include "gpu/tables/block_tables.cuh"

namespace deltamatch::gpu::device {

// Lists of at least this length are read one by one.
inline constexpr std::uint32_t long_list = 32;

/// Restricts the vertices of lists: bounds, and vertices to differ from.
struct Allowed {
  std::uint32_t low;
  std::uint32_t high;
  const std::uint8_t* apart;  // positions
  std::uint32_t aparts;
};

// Restrictions of a vertex. `distinct`: whether it must differ from vertices that are bound.
__device__ inline Allowed allowed(const Block& block, const SumVertex& vertex, bool distinct) {
  Allowed made{0, none, block.work.positions + vertex.first_position, distinct ? vertex.distinct : 0U};
  const std::uint8_t* at = made.apart + vertex.distinct;
  for (std::uint32_t i = 0; i < vertex.above; ++i) made.low = max(made.low, block.state.vertices[at[i]] + 1);
  at += vertex.above;
  for (std::uint32_t i = 0; i < vertex.below; ++i) made.high = min(made.high, block.state.vertices[at[i]]);
  return made;
}
__device__ inline bool allows(const Block& block, const Allowed& to, std::uint32_t vertex) {
  bool fits = vertex >= to.low && vertex < to.high;
#pragma unroll 1
  for (std::uint32_t i = 0; i < to.aparts; ++i) fits = fits && block.state.vertices[to.apart[i]] != vertex;
  return fits;
}

// The list of a vertex with its changes. `counted`: see look_up.
__device__ inline OpenList open_list(Block& block, std::uint32_t query_relation, bool inclusive, std::uint32_t owner,
                                     bool counted = true) {
  const View list = look_up(block, query_relation, owner, counted);
  OpenList made{list.ids, list.count, list.slice, {0, 0}};
  if (list.slice != none) {
    const Probe probe{static_cast<std::uint16_t>(query_relation), 0, static_cast<std::uint8_t>(inclusive ? 1 : 0)};
    made.changes = changes_of(block, probe, list.slice, owner, block.state.anchor);
  }
  return made;
}
// How many entries are read, including those that the batch removes.
__device__ inline std::uint32_t length(const OpenList& list) { return list.count + list.changes.added; }
// Entry number `at`, or none if the batch removes it.
__device__ inline std::uint32_t entry_of(const Block& block, const OpenList& list, std::uint32_t at) {
  if (at >= list.count) {
    const Store& store = block.work.graph.stores[0];
    return store.added[store.slices[list.slice + 1].added_begin - list.changes.added + (at - list.count)];
  }
  const std::uint32_t id = __ldg(list.ids + at);
  return list.changes.removed > 0 && !leads_to(block, list.slice, list.changes, id, true) ? none : id;
}
__device__ inline bool leads(const Block& block, const OpenList& list, std::uint32_t id) {
  const bool here = holds(list.ids, list.count, id);
  if (list.slice == none) return here;
  return leads_to(block, list.slice, list.changes, id, here);
}
// How many allowed vertices a list leads to.
__device__ inline std::uint32_t size_of(const Block& block, const OpenList& list, const Allowed& to) {
  std::uint32_t size = length(list) - list.changes.removed;
  if (to.low > 0 || to.high != none) {  // whole graphs only
    const std::uint32_t begin = lower_bound(list.ids, list.count, to.low);
    const std::uint32_t end = lower_bound(list.ids, list.count, to.high);
    size = end > begin ? end - begin : 0;
  }
#pragma unroll 1
  for (std::uint32_t i = 0; i < to.aparts; ++i) {
    const std::uint32_t other = block.state.vertices[to.apart[i]];
    if (other >= to.low && other < to.high && leads(block, list, other)) --size;
  }
  return size;
}

// Finds this share of the candidates of a vertex that has probes. Shares are parts of the shortest list. `into` gets their
// number and, with `keep`, their ids. All threads call it together. Returns false if memory runs out.
__device__ inline __noinline__ bool find_candidates(Block& block, const SumVertex& vertex, std::uint32_t share,
                                                    std::uint32_t shares, bool keep, Members& into) {
  into = {nullptr, nullptr, 0};
  __syncthreads();
  if (threadIdx.x < vertex.probes) {
    const Probe probe = block.work.probes[vertex.first_probe + threadIdx.x];
    block.state.lists[threadIdx.x] =
        open_list(block, probe.query_relation, probe.inclusive != 0, block.state.vertices[probe.position]);
  }
  if (threadIdx.x == 0) block.state.size = 0;
  __syncthreads();
  std::uint32_t best = 0;
  for (std::uint32_t p = 1; p < vertex.probes; ++p) {
    if (length(block.state.lists[p]) < length(block.state.lists[best])) best = p;
  }
  const OpenList list = block.state.lists[best];
  const Allowed to = allowed(block, vertex, true);
  std::uint32_t begin = 0;
  std::uint32_t end = length(list);
  if (list.slice == none && (to.low > 0 || to.high != none)) {
    begin = lower_bound(list.ids, list.count, to.low);
    end = max(begin, lower_bound(list.ids, list.count, to.high));
  }
  if (vertex.probes == 1 && list.slice == none && shares == 1 && (to.aparts == 0 || !keep)) {
    into.ids = list.ids + begin;
    into.size = to.aparts == 0 ? end - begin : size_of(block, list, to);
    return true;
  }
  Members made{};
  if (keep && !make_ids(block, (end - begin + shares - 1) / shares, made)) return false;
  auto* ids = const_cast<std::uint32_t*>(made.ids);
  for (std::uint32_t first = begin + share; first < end; first += blockDim.x * shares) {
    const std::uint32_t at = first + threadIdx.x * shares;
    const std::uint32_t id = at < end ? entry_of(block, list, at) : none;
    bool found = id != none && allows(block, to, id);
#pragma unroll 1
    for (std::uint32_t p = 0; p < vertex.probes; ++p) {
      if (p != best) found = found && leads(block, block.state.lists[p], id);
    }
    const unsigned hits = __ballot_sync(all_lanes, found);
    std::uint32_t place = 0;
    if (block.lane == 0 && hits != 0) place = atomicAdd(&block.state.size, static_cast<unsigned>(__popc(hits)));
    place = __shfl_sync(all_lanes, place, 0) + __popc(hits & ((1U << block.lane) - 1));
    if (keep && found) ids[place] = id;
  }
  __syncthreads();
  into = made;
  into.size = block.state.size;
  if (keep) block.top -= (end - begin + shares - 1) / shares - into.size;
  return true;
}

// Reads the lists of the lanes of a warp, one behind the other: a part of for_each_list.
template <class Read>
__device__ void read_short(Block& block, std::uint32_t size, const std::uint32_t* ids, Weight weight, const Allowed& to,
                           Read& read) {
  std::uint32_t before = size;
#pragma unroll
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const std::uint32_t other = __shfl_up_sync(all_lanes, before, offset);
    if (block.lane >= offset) before += other;
  }
  const std::uint32_t total = __shfl_sync(all_lanes, before, 31);
  const auto base = reinterpret_cast<unsigned long long>(ids) - sizeof(std::uint32_t) * (before - size);
#pragma unroll 1
  for (std::uint32_t chunk = 0; chunk < total; chunk += 32) {
    const std::uint32_t at = chunk + block.lane;
    std::uint32_t slot = 0;
#pragma unroll
    for (std::uint32_t step = 16; step > 0; step /= 2) {
      if (__shfl_sync(all_lanes, before, slot + step - 1) <= at) slot += step;
    }
    slot = min(slot, 31U);
    const auto* from = reinterpret_cast<const std::uint32_t*>(__shfl_sync(all_lanes, base, slot));
    const Weight of = __shfl_sync(all_lanes, weight, slot);
    if (at >= total) continue;
    const std::uint32_t id = __ldg(from + at);
    if (!allows(block, to, id)) continue;
    const Weight found = read(id, of);
    if (Read::sums && found != 0) {
      const Weight old = atomicAdd(&block.state.lane_sums[block.warp][slot], found);
      if (old + found < old) block.overflow = true;
    }
  }
}

// Reads the list of one lane, with all lanes: the other part.
template <class Read>
__device__ void read_long(Block& block, std::uint32_t slot, const OpenList& own, Weight weight, const Allowed& to, Read& read) {
  OpenList list;
  list.ids =
      reinterpret_cast<const std::uint32_t*>(__shfl_sync(all_lanes, reinterpret_cast<unsigned long long>(own.ids), slot));
  list.count = __shfl_sync(all_lanes, own.count, slot);
  list.slice = __shfl_sync(all_lanes, own.slice, slot);
  list.changes.removed = __shfl_sync(all_lanes, own.changes.removed, slot);
  list.changes.added = __shfl_sync(all_lanes, own.changes.added, slot);
  const Weight of = __shfl_sync(all_lanes, weight, slot);
  const std::uint32_t size = length(list);
  Weight sum = 0;
#pragma unroll 4
  for (std::uint32_t at = block.lane; at < size; at += 32) {
    const std::uint32_t id = entry_of(block, list, at);
    if (id == none || !allows(block, to, id)) continue;
    const Weight found = read(id, of);
    if (Read::sums) sum = plus(block, sum, found);
  }
  if constexpr (Read::sums) {
#pragma unroll
    for (unsigned offset = 16; offset > 0; offset /= 2) {
      const Weight other = __shfl_down_sync(all_lanes, sum, offset);
      sum = plus(block, sum, block.lane + offset < 32 ? other : 0);
    }
    if (block.lane == 0) block.state.lane_sums[block.warp][slot] = sum;
  }
}

// Reads the lists of all members of a set. All threads call it together.
//
// It calls read(vertex, weight of the list's owner) with every allowed vertex. With Read::sums, it adds up what read returns
// for each list. One thread then calls finish(number of the member, weight, sum).
template <class Read>
__device__ void for_each_list(Block& block, const Members& from, std::uint32_t query_relation, bool inclusive,
                              const Allowed& to, Read& read) {
  __syncthreads();
  if (threadIdx.x == 0) block.state.next = 0;
  __syncthreads();
#pragma unroll 1
  while (true) {
    std::uint32_t first = 0;
    if (block.lane == 0) first = atomicAdd(&block.state.next, 32U);
    first = __shfl_sync(all_lanes, first, 0);
    if (first >= from.size) break;
    const std::uint32_t own = first + block.lane;
    Weight weight = 0;
    if (own < from.size) weight = from.weights == nullptr ? 1 : from.weights[own];
    OpenList list{nullptr, 0, none, {0, 0}};
    if (weight != 0) list = open_list(block, query_relation, inclusive, from.ids[own]);
    if (list.slice == none && (to.low > 0 || to.high != none)) {
      const std::uint32_t begin = lower_bound(list.ids, list.count, to.low);
      const std::uint32_t end = max(begin, lower_bound(list.ids, list.count, to.high));
      list.ids += begin;
      list.count = end - begin;
    }
    if (Read::sums) block.state.lane_sums[block.warp][block.lane] = 0;
    __syncwarp();
    const std::uint32_t size = length(list);
    const bool alone = size >= long_list || list.changes.added > 0 || list.changes.removed > 0;
    read_short(block, alone ? 0 : size, list.ids, weight, to, read);
    for (unsigned rest = __ballot_sync(all_lanes, alone); rest != 0; rest &= rest - 1) {
      read_long(block, __ffs(static_cast<int>(rest)) - 1, list, weight, to, read);
    }
    if (Read::sums) {
      __syncwarp();
      if (own < from.size) read.finish(own, weight, block.state.lane_sums[block.warp][block.lane]);
    }
  }
  __syncthreads();
}

}  // namespace deltamatch::gpu::device
