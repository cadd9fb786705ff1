// Lists as kernels that are made for one plan see them, and how their entries are searched.
//
// A list is one array of ids, even if the batch adds entries: those are merged beforehand (MergedLists). Whether a pass sees an
// entry is asked only of those that were found in all lists. They are few, so lists that change cost little more than others.
//
// The compiler of these kernels has no standard library. The text that it compiles is written by kernel_writer.hpp.
#pragma once

#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu::made {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = unsigned long long;
using i64 = long long;

constexpr u32 all_lanes = 0xffffffffU;
constexpr u32 none = 0xffffffffU;
constexpr u32 pass_added = 1;  // match::Pass

struct List {
  const u32* ids = nullptr;
  u32 count = 0;
  u32 slice = none;  // among the store's changes; none: all entries are seen
};

// What kernels need of a way.
struct Way {
  u32 relation;
  u32 edge_label;
  bool incoming;
  bool inclusive;
};

// What decides which changes are seen.
struct View {
  const MadeLaunch* work;
  const Way* ways;  // in shared memory
  Anchor anchor;
  u32 pass;
};

// Functions that are not inlined take no references to it, so that it lies in registers.
struct Warp {
  __device__ __forceinline__ Warp(const MadeLaunch& its_work, const Way* ways)
      : work(its_work),
        view{&its_work, ways, {0, 0, 0}, 0},
        lane(threadIdx.x % 32),
        index((blockIdx.x * blockDim.x + threadIdx.x) / 32) {}

  const MadeLaunch& work;
  View view;
  u32 lane;
  u32 index;
  u32 hits = 0;  // look-ups by whether the lists lie in device memory
  u32 misses = 0;
  bool overflow = false;
  i64 totals[2] = {0, 0};  // by index into MadeLaunch::passes
  i64 clocks[2] = {0, 0};
  i64 begun = 0;  // clock when it began its task
};

// Fills the block's table of ways.
template <u32 count>
__device__ __forceinline__ void read_ways(const MadeLaunch& work, Way* ways) {
  for (u32 w = threadIdx.x; w < count; w += blockDim.x) {
    const DeviceQueryRelation& from = work.query_relations[work.ways[w].query_relation];
    ways[w] = {from.relation, from.edge_label, from.incoming != 0, work.ways[w].inclusive != 0};
  }
  __syncthreads();
}

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
__device__ __forceinline__ i64 binomial(Warp& warp, i64 n, u32 k) {
  if (n < k) return 0;
  i64 result = 1;
  for (u32 i = 0; i < k; ++i) result = multiply(warp, result, n - i) / (i + 1);  // leaves no remainder
  return result;
}
__device__ __forceinline__ i64 sum_of_lanes(Warp& warp, i64 value) {
  for (u32 offset = 16; offset > 0; offset /= 2) add(warp, value, __shfl_xor_sync(all_lanes, value, offset));
  return value;
}

// --- searches ---

__device__ __forceinline__ bool holds(const u32* a, u32 n, u32 x) {
  if (n == 0) return false;
  while (n > 1) {
    const u32 half = n >> 1;
    a = a[half] <= x ? a + half : a;
    n -= half;
  }
  return *a == x;
}
__device__ __forceinline__ bool holds(const List& list, u32 x) { return holds(list.ids, list.count, x); }

// --- which changes a pass sees ---

// Where the changes of a vertex are noted; `none` as its first word if it has none.
__device__ __forceinline__ uint4 staged_of(const MadeLaunch& work, u32 vertex) {
  const uint4* table = reinterpret_cast<const uint4*>(work.staged);
  u32 at = staged_place(vertex, work.staged_mask);
  uint4 place = __ldg(table + at);
  while (place.x != vertex && place.x != none) {
    at = (at + 1) & work.staged_mask;
    place = __ldg(table + at);
  }
  return place;
}

// Whether the changed edge from `owner` to `id` ranks high enough beside the anchor.
__device__ __forceinline__ bool admits(const View& view, const Way& way, u32 owner, u32 id) {
  const bool turned = view.work->directed != 0 ? way.incoming : owner > id;
  const u32 tail = turned ? id : owner;
  const u32 head = turned ? owner : id;
  if (tail != view.anchor.tail) return tail > view.anchor.tail;
  if (head != view.anchor.head) return head > view.anchor.head;
  return way.inclusive ? way.edge_label >= view.anchor.label : way.edge_label > view.anchor.label;
}

// Whether some list of a vertex changes. An edge that changes is noted at both ends.
__device__ __forceinline__ bool is_staged(const Warp& warp, u32 vertex) { return staged_of(warp.work, vertex).x != none; }

// Whether the pass sees an entry of a list that changes. Asked only of vertices that are staged.
__device__ __noinline__ bool sees_change(View view, u32 slice, u32 way, u32 owner, u32 id) {
  const Store& store = view.work->store;
  const DeltaSlice from = store.slices[slice];
  const DeltaSlice next = store.slices[slice + 1];
  if (holds(store.removed + from.removed_begin, next.removed_begin - from.removed_begin, id)) {
    return view.pass != pass_added && admits(view, view.ways[way], owner, id);
  }
  if (holds(store.added + from.added_begin, next.added_begin - from.added_begin, id)) {
    return view.pass == pass_added && admits(view, view.ways[way], owner, id);
  }
  return true;
}
__device__ __forceinline__ bool sees(const Warp& warp, u32 slice, u32 way, u32 owner, u32 id) {
  return slice == none || sees_change(warp.view, slice, way, owner, id);
}

// How many entries of a list the pass sees.
__device__ __noinline__ i64 length_of_changed(View view, List list, u32 way, u32 owner) {
  const Store& store = view.work->store;
  const DeltaSlice from = store.slices[list.slice];
  const DeltaSlice next = store.slices[list.slice + 1];
  i64 seen = i64{list.count} - (next.added_begin - from.added_begin) - (next.removed_begin - from.removed_begin);
  const bool adds = view.pass == pass_added;
  const u32* const changed = adds ? store.added : store.removed;
  const u32 end = adds ? next.added_begin : next.removed_begin;
  for (u32 i = adds ? from.added_begin : from.removed_begin; i < end; ++i) {
    seen += admits(view, view.ways[way], owner, changed[i]) ? 1 : 0;
  }
  return seen;
}
__device__ __forceinline__ i64 length(const Warp& warp, const List& list, u32 way, u32 owner) {
  return list.slice == none ? list.count : length_of_changed(warp.view, list, way, owner);
}

// --- look-ups ---

// A list with its changes, if the batch has some.
__device__ __noinline__ List with_changes(const MadeLaunch* work, u32 relation, u32 vertex, List list) {
  const Store& store = work->store;
  const uint4 place = staged_of(*work, vertex);
  if (place.x == none) return list;
  u32 slice = place.y;
  while (slice < place.z && store.slices[slice].relation < relation) ++slice;
  if (slice >= place.z || store.slices[slice].relation != relation) return list;
  list.slice = slice;
  const u32* header = work->merged.words + place.w + 2 * (slice - place.y);
  if (header[1] == MergedLists::unmerged) return list;
  list.ids = work->merged.words + header[0];
  list.count = header[1];
  return list;
}

// The list of a vertex. Lanes may ask for different vertices. `counts`: the look-up is counted.
__device__ __forceinline__ List look_up(Warp& warp, u32 way, u32 vertex, bool counts) {
  List found;
  const Store& store = warp.work.store;
  const u32 relation = warp.view.ways[way].relation;
  if (relation == none || vertex >= store.vertices) return found;
  const uint4 raw = __ldg(reinterpret_cast<const uint4*>(store.rows) + vertex);
  const u32* block = reinterpret_cast<const u32*>(static_cast<u64>(raw.y) << 32 | raw.x);
  const u32 shape = raw.w;
  const u32 slices = shape >> 7;
  if (slices > 0) {
    warp.hits += counts && (shape & Row::cached_bit) != 0 ? 1 : 0;
    warp.misses += counts && (shape & Row::cached_bit) == 0 ? 1 : 0;
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
  if ((shape & Row::staged_bit) != 0) found = with_changes(&warp.work, relation, vertex, found);
  return found;
}

// The list of one lane, for all.
__device__ __forceinline__ List from_lane(const List& list, u32 lane) {
  return {reinterpret_cast<const u32*>(__shfl_sync(all_lanes, reinterpret_cast<u64>(list.ids), lane)),
          __shfl_sync(all_lanes, list.count, lane), __shfl_sync(all_lanes, list.slice, lane)};
}

// A list that was written into four words of a task, from word `first` on.
__device__ __forceinline__ List from_task(u32 word, u32 first) {
  const u32 low = __shfl_sync(all_lanes, word, first);
  return {reinterpret_cast<const u32*>(static_cast<u64>(__shfl_sync(all_lanes, word, first + 1)) << 32 | low),
          __shfl_sync(all_lanes, word, first + 2), __shfl_sync(all_lanes, word, first + 3)};
}

__device__ __forceinline__ List set_of(const u32* ids, u32 count) { return {ids, count, none}; }
__device__ __forceinline__ List only_if(bool wanted, const List& list) { return wanted ? list : List{}; }

// Which of a node's lists are read: the shorter one, searched in the longer.
__device__ __forceinline__ void shorter_first(List& a, List& b) {
  if (b.count < a.count) {
    const List turn = a;
    a = b;
    b = turn;
  }
}

}  // namespace deltamatch::gpu::made
