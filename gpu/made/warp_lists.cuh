// Lists as a pass sees them, and how a warp of a kernel that is made for one plan reads, searches and counts them.
//
// A warp holds one partial match, the same in all lanes. It reads the shortest of some lists, a few entries a lane, and
// searches them in the others. So the vertices and lists of a partial match lie in registers.
//
// The compiler of these kernels has no standard library. The text that it compiles is written by kernel_writer.hpp.
#pragma once

#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu::made {

using u32 = std::uint32_t;
using u64 = unsigned long long;
using i64 = long long;

constexpr u32 all_lanes = 0xffffffffU;
constexpr u32 none = 0xffffffffU;
constexpr u32 pass_added = 1;  // match::Pass

// A list of a vertex: its stable entries, and those that the batch adds. Which of them a pass sees is found out entry by entry,
// but only if the batch changes the list.
struct List {
  const u32* ids;
  u32 count;  // stable entries
  u32 added;  // entries behind them
  u32 slice;  // among the store's changes; none: the list does not change
  u32 owner;
  u32 way;  // index into MadeLaunch::ways

  __device__ __forceinline__ u32 size() const { return count + added; }
};

struct Warp {
  __device__ explicit Warp(const MadeLaunch& its_work)
      : work(its_work), lane(threadIdx.x % 32), index((blockIdx.x * blockDim.x + threadIdx.x) / 32) {}

  __device__ __forceinline__ u32 warps() const { return gridDim.x * blockDim.x / 32; }

  const MadeLaunch& work;
  u32 lane;
  u32 index;
  Anchor anchor{0, 0, 0};
  u32 pass = 0;
  u32 hits = 0;  // look-ups by whether the lists lie in device memory
  u32 misses = 0;
  bool overflow = false;
  i64 totals[2] = {0, 0};  // by index into MadeLaunch::passes
  i64 clocks[2] = {0, 0};
  i64 begun = 0;  // clock when it began its task
};

// --- arithmetic that never wraps silently ---

__device__ __forceinline__ i64 multiply(Warp& warp, i64 a, i64 b) {
  const i64 low = a * b;
  if (__mul64hi(a, b) != low >> 63) warp.overflow = true;
  return low;
}
__device__ __forceinline__ void add(Warp& warp, i64& to, i64 value) {
  const i64 sum = static_cast<i64>(static_cast<u64>(to) + static_cast<u64>(value));
  if (((to ^ sum) & (value ^ sum)) < 0) warp.overflow = true;
  to = sum;
}
__device__ inline i64 binomial(Warp& warp, i64 n, u32 k) {
  if (n < k) return 0;
  i64 result = 1;
  for (u32 i = 0; i < k; ++i) result = multiply(warp, result, n - i) / (i + 1);  // leaves no remainder
  return result;
}
__device__ inline i64 sum_of_lanes(Warp& warp, i64 value) {
  for (u32 offset = 16; offset > 0; offset /= 2) add(warp, value, __shfl_xor_sync(all_lanes, value, offset));
  return value;
}

// --- searches ---

__device__ __forceinline__ u32 lower_bound(const u32* a, u32 n, u32 x) {
  u32 at = 0;
  while (n > 0) {
    const u32 half = n >> 1;
    const bool less = a[at + half] < x;
    at = less ? at + half + 1 : at;
    n = less ? n - half - 1 : half;
  }
  return at;
}
__device__ __forceinline__ bool holds(const u32* a, u32 n, u32 x) {
  if (n == 0) return false;
  while (n > 1) {
    const u32 half = n >> 1;
    a = a[half] <= x ? a + half : a;
    n -= half;
  }
  return *a == x;
}

// --- which changes a pass sees ---

// Whether the changed edge from `owner` to `id` ranks high enough beside the anchor.
__device__ __forceinline__ bool admits(const Warp& warp, const List& list, u32 id) {
  const DeviceQueryRelation& where = warp.work.query_relations[warp.work.ways[list.way].query_relation];
  const bool turned = warp.work.directed != 0 ? where.incoming != 0 : list.owner > id;
  const u32 tail = turned ? id : list.owner;
  const u32 head = turned ? list.owner : id;
  if (tail != warp.anchor.tail) return tail > warp.anchor.tail;
  if (head != warp.anchor.head) return head > warp.anchor.head;
  return warp.work.ways[list.way].inclusive != 0 ? where.edge_label >= warp.anchor.label : where.edge_label > warp.anchor.label;
}

// Whether a changing list leads to `id`. `here`: its stable entries do.
__device__ __noinline__ bool leads_to(const Warp& warp, const List& list, u32 id, bool here) {
  const Store& store = warp.work.store;
  const DeltaSlice slice = store.slices[list.slice];
  const DeltaSlice next = store.slices[list.slice + 1];
  if (here) {
    const u32 removed = next.removed_begin - slice.removed_begin;
    return !holds(store.removed + slice.removed_begin, removed, id) || (warp.pass != pass_added && admits(warp, list, id));
  }
  return warp.pass == pass_added && holds(store.added + slice.added_begin, next.added_begin - slice.added_begin, id) &&
         admits(warp, list, id);
}

// --- look-ups ---

// Finds the changes of a list, if the batch has some.
__device__ __noinline__ void find_changes(const Warp& warp, u32 relation, List& list) {
  const Store& store = warp.work.store;
  const uint4* table = reinterpret_cast<const uint4*>(warp.work.staged);
  u32 at = staged_place(list.owner, warp.work.staged_mask);
  uint4 place = __ldg(table + at);
  while (place.x != list.owner && place.x != none) {
    at = (at + 1) & warp.work.staged_mask;
    place = __ldg(table + at);
  }
  if (place.x == none) return;
  u32 slice = place.y;
  while (slice < place.z && store.slices[slice].relation < relation) ++slice;
  if (slice >= place.z || store.slices[slice].relation != relation) return;
  list.slice = slice;
  if (warp.pass == pass_added) list.added = store.slices[slice + 1].added_begin - store.slices[slice].added_begin;
}

// The list of a vertex. Lanes may ask for different vertices.
__device__ __forceinline__ List look_up(Warp& warp, u32 way, u32 vertex) {
  List found{nullptr, 0, 0, none, vertex, way};
  const Store& store = warp.work.store;
  const u32 relation = warp.work.query_relations[warp.work.ways[way].query_relation].relation;
  if (relation == none || vertex >= store.vertices) return found;
  const uint4 raw = __ldg(reinterpret_cast<const uint4*>(store.rows) + vertex);
  const u32* block = reinterpret_cast<const u32*>(static_cast<u64>(raw.y) << 32 | raw.x);
  const u32 shape = raw.w;
  const u32 slices = shape >> 7;
  if (slices > 0) {
    if ((shape & Row::cached_bit) != 0) {
      ++warp.hits;
    } else {
      ++warp.misses;
    }
    u32 at = 0;
    u32 n = slices;
    while (n > 1) {
      const u32 half = n >> 1;
      at = block[2 * (at + half)] <= relation ? at + half : at;
      n -= half;
    }
    const uint2 own = *reinterpret_cast<const uint2*>(block + 2 * at);
    if (own.x == relation) {
      const u32 begin = at == 0 ? 0 : block[2 * at - 1];
      found.count = own.y - begin;
      found.ids = block + (2U << (shape >> 2 & 31U)) + begin;
    }
  }
  if ((shape & Row::staged_bit) != 0) find_changes(warp, relation, found);
  return found;
}

// The list of one lane, for all.
__device__ __forceinline__ List from_lane(const List& list, u32 lane) {
  List found;
  found.ids = reinterpret_cast<const u32*>(__shfl_sync(all_lanes, reinterpret_cast<u64>(list.ids), lane));
  found.count = __shfl_sync(all_lanes, list.count, lane);
  found.added = __shfl_sync(all_lanes, list.added, lane);
  found.slice = __shfl_sync(all_lanes, list.slice, lane);
  found.owner = __shfl_sync(all_lanes, list.owner, lane);
  found.way = list.way;
  return found;
}

// A list that was written into five words of a task, from word `first` on.
__device__ __forceinline__ List from_task(u32 word, u32 first, u32 owner, u32 way) {
  List found;
  const u32 low = __shfl_sync(all_lanes, word, first);
  found.ids = reinterpret_cast<const u32*>(static_cast<u64>(__shfl_sync(all_lanes, word, first + 1)) << 32 | low);
  found.count = __shfl_sync(all_lanes, word, first + 2);
  found.added = __shfl_sync(all_lanes, word, first + 3);
  found.slice = __shfl_sync(all_lanes, word, first + 4);
  found.owner = owner;
  found.way = way;
  return found;
}

__device__ __forceinline__ List set_of(const u32* ids, u32 count) { return {ids, count, 0, none, 0, 0}; }

__device__ __forceinline__ void shorter_first(List& a, List& b) {
  if (b.size() < a.size()) {
    const List turn = a;
    a = b;
    b = turn;
  }
}

// The same, but reading `a` is cheaper than searching in it: it was not read lately.
__device__ __forceinline__ void much_shorter_first(List& a, List& b) {
  if (4 * b.size() < a.size()) {
    const List turn = a;
    a = b;
    b = turn;
  }
}

// --- reading and searching, by all lanes ---

// Reads the entries of a list from `at` on, below `end`: 32 for each k.
template <int k>
__device__ __forceinline__ void read(const Warp& warp, const List& list, u32 at, u32 end, u32 (&id)[k], bool (&in)[k]) {
#pragma unroll
  for (int i = 0; i < k; ++i) {
    const u32 own = at + 32 * i + warp.lane;
    in[i] = own < end;
    id[i] = own < end && own < list.count ? list.ids[own] : none;
  }
  if (list.slice == none) return;
  const Store& store = warp.work.store;
  const u32 first = store.slices[list.slice].added_begin;
#pragma unroll 1
  for (int i = 0; i < k; ++i) {
    const u32 own = at + 32 * i + warp.lane;
    u32 one = i == 0 ? id[0] : id[k - 1];
    bool seen = i == 0 ? in[0] : in[k - 1];
    if (seen && own >= list.count) one = store.added[first + (own - list.count)];
    seen = seen && (own < list.count ? leads_to(warp, list, one, true) : admits(warp, list, one));
    if (i == 0) {
      id[0] = one;
      in[0] = seen;
    } else {
      id[k - 1] = one;
      in[k - 1] = seen;
    }
  }
}

// Keeps those that another list holds, too.
template <int k>
__device__ __forceinline__ void keep(const Warp& warp, const List& list, const u32 (&id)[k], bool (&in)[k]) {
  bool here[k];
#pragma unroll
  for (int i = 0; i < k; ++i) here[i] = false;
  if (list.count > 0) {
    u32 place[k];
#pragma unroll
    for (int i = 0; i < k; ++i) place[i] = 0;
    u32 n = list.count;
#pragma unroll 1
    while (n > 1) {
      const u32 half = n >> 1;
      u32 middle[k];
#pragma unroll
      for (int i = 0; i < k; ++i) middle[i] = list.ids[place[i] + half];
#pragma unroll
      for (int i = 0; i < k; ++i) place[i] += middle[i] <= id[i] ? half : 0;
      n -= half;
    }
#pragma unroll
    for (int i = 0; i < k; ++i) here[i] = list.ids[place[i]] == id[i];
  }
  if (list.slice != none) {
#pragma unroll
    for (int i = 0; i < k; ++i) {
      if (in[i]) here[i] = leads_to(warp, list, id[i], here[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < k; ++i) in[i] = in[i] && here[i];
}

// Whether a list leads to one vertex.
__device__ __forceinline__ bool has(const Warp& warp, const List& list, u32 id) {
  const bool here = holds(list.ids, list.count, id);
  return list.slice == none ? here : leads_to(warp, list, id, here);
}

// How many vertices a list leads to.
__device__ inline u32 length(const Warp& warp, const List& list) {
  if (list.slice == none) return list.count;
  const Store& store = warp.work.store;
  const DeltaSlice slice = store.slices[list.slice];
  const DeltaSlice next = store.slices[list.slice + 1];
  u32 seen = 0;
  if (warp.pass == pass_added) {
    for (u32 i = slice.added_begin + warp.lane; i < next.added_begin; i += 32)
      seen += admits(warp, list, store.added[i]) ? 1 : 0;
    seen = __reduce_add_sync(all_lanes, seen);
    return list.count - (next.removed_begin - slice.removed_begin) + seen;
  }
  for (u32 i = slice.removed_begin + warp.lane; i < next.removed_begin; i += 32) {
    seen += admits(warp, list, store.removed[i]) ? 0 : 1;
  }
  return list.count - __reduce_add_sync(all_lanes, seen);
}

}  // namespace deltamatch::gpu::made
