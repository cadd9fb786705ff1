// Where the work of a kernel that is made for one plan comes from, what it leaves to others, and where its results go.
#pragma once

#include "gpu/made/warp_meet.cuh"

namespace deltamatch::gpu::made {

// --- tasks ---

// Whether the host has asked to stop.
__device__ __forceinline__ bool is_stopped(const Warp& warp) {
  return *reinterpret_cast<const volatile unsigned*>(warp.work.stop) != 0;
}

// The next anchor: sets the warp's anchor and pass, and `index` to that of the pass. Returns false if none are left.
__device__ __forceinline__ bool take_anchor(Warp& warp, u32& index) {
  u32 number = 0;
  if (warp.lane == 0) number = is_stopped(warp) ? none : atomicAdd(&warp.work.state->depths[0][0].taken, 1U);
  number = __shfl_sync(all_lanes, number, 0);
  const MadePass* passes = warp.work.passes;
  if (number == none || number >= passes[0].count + passes[1].count) return false;
  warp.begun = clock64();
  index = number < passes[0].count ? 0 : 1;
  if (index == 1) number -= passes[0].count;
  warp.view.anchor = passes[index].anchors[passes[index].first + number * passes[index].stride];
  warp.view.pass = passes[index].pass;
  return true;
}

// Adds what lanes have found for an anchor or a task, and the time that it took.
__device__ __forceinline__ void add_result(Warp& warp, u32 index, i64 sum) {
  if (index == 0) {
    add(warp, warp.totals[0], sum);
    warp.clocks[0] += clock64() - warp.begun;
  } else {
    add(warp, warp.totals[1], sum);
    warp.clocks[1] += clock64() - warp.begun;
  }
}

// Whether the task at hand takes so long that the rest should be shared.
__device__ __forceinline__ bool is_late(const Warp& warp) {
  return __any_sync(all_lanes, clock64() - warp.begun > warp.work.most_clocks);
}

// Whether it takes so long that work which could be shared should be.
__device__ __forceinline__ bool is_long(const Warp& warp) {
  return __any_sync(all_lanes, clock64() - warp.begun > warp.work.most_clocks / 4);
}

// The next task of a depth, of which lane i gets word i. Returns false if none are left.
template <u32 depth, u32 words>
__device__ __forceinline__ bool take_task(Warp& warp, u32& word) {
  const MadeQueue& queue = warp.work.queues[warp.work.phase][depth];
  MadeState::Depth& state = warp.work.state->depths[warp.work.phase][depth];
  u32 number = 0;
  if (warp.lane == 0) number = is_stopped(warp) ? none : atomicAdd(&state.taken, 1U);
  number = __shfl_sync(all_lanes, number, 0);
  const u32 cut = min(state.cut, queue.cut);
  if (number == none || number >= cut + min(state.reserved, queue.reserve)) return false;
  const u32 place = number < cut ? number : queue.cut + (number - cut);
  word = warp.lane < words ? queue.tasks[static_cast<u64>(place) * words + warp.lane] : 0;
  warp.begun = clock64();
  return true;
}

// Puts the entries [begin, end) of a list into the queue of a depth, at most `part` in a task. `word`: what lane i writes as
// word i; words 1 and 2 are replaced by the range. Returns false if the queue is full.
template <u32 words>
__device__ __noinline__ bool put_tasks(const MadeLaunch* work, u32 phase, u32 depth, u32 word, u32 begin, u32 end, u32 part) {
  const u32 lane = threadIdx.x % 32;
  const MadeQueue& queue = work->queues[phase][depth];
  MadeState::Depth& state = work->state->depths[phase][depth];
  const u32 parts = (end - begin + part - 1) / part;
  u32 at = 0;
  if (lane == 0) at = atomicAdd(&state.cut, parts);
  at = __shfl_sync(all_lanes, at, 0);
  if (at > queue.cut || parts > queue.cut - at) {
    // Places that were taken but do not suffice hold empty tasks.
    for (u32 i = at; i < queue.cut; ++i) {
      if (lane < words) queue.tasks[static_cast<u64>(i) * words + lane] = lane == 1 || lane == 2 ? 0 : word;
    }
    return false;
  }
  for (u32 i = 0; i < parts; ++i) {
    u32 own = word;
    if (lane == 1) own = begin + i * part;
    if (lane == 2) own = min(end, begin + i * part + part);
    if (lane < words) queue.tasks[static_cast<u64>(at + i) * words + lane] = own;
  }
  return true;
}

// Does the same for loops below anchors, whose kernel has no code for them: the reserve has a place for each.
template <u32 words>
__device__ __forceinline__ void put_all(Warp& warp, u32 word, u32 size, u32 part) {
  if (size == 0 || put_tasks<words>(&warp.work, 0, 1, word, 0, size, part)) return;
  const MadeQueue& queue = warp.work.queues[0][1];
  u32 at = 0;
  if (warp.lane == 0) at = queue.cut + atomicAdd(&warp.work.state->depths[0][1].reserved, 1U);
  at = __shfl_sync(all_lanes, at, 0);
  if (warp.lane == 1) word = 0;
  if (warp.lane == 2) word = size;
  if (warp.lane < words) queue.tasks[static_cast<u64>(at) * words + warp.lane] = word;
}

// What a lane writes into a task: of its words, the one with the lane's number.
template <class... Words>
__device__ __forceinline__ u32 word_of(u32 lane, Words... words) {
  u32 own = 0;
  u32 number = 0;
  ((own = lane == number++ ? words : own), ...);
  return own;
}

__device__ __forceinline__ u32 low_of(const u32* ids) { return static_cast<u32>(reinterpret_cast<u64>(ids)); }
__device__ __forceinline__ u32 high_of(const u32* ids) { return static_cast<u32>(reinterpret_cast<u64>(ids) >> 32); }
__device__ __forceinline__ i64 long_of(u32 low, u32 high) { return static_cast<i64>(static_cast<u64>(high) << 32 | low); }

// --- sets that loops read again ---

// Appends an id of each lane that has one to a set of `count`, as far as there is room.
__device__ __forceinline__ void append(const Warp& warp, u32* set, u32 room, u32& count, u32 id, bool in) {
  const u32 mask = __ballot_sync(all_lanes, in);
  const u32 own = count + __popc(mask & ((1U << warp.lane) - 1));
  if (in && own < room) set[own] = id;
  count += __popc(mask);
}

// The part of a set that belongs to each lane. Those of all lanes lie end to end, in their order.
__device__ __forceinline__ List part_of_set(const Warp& warp, const u32* set, u32 count) {
  u32 end = count;
#pragma unroll
  for (u32 offset = 1; offset < 32; offset *= 2) {
    const u32 other = __shfl_up_sync(all_lanes, end, offset);
    if (warp.lane >= offset) end += other;
  }
  return set_of(set + (end - count), count);
}

// Takes words from the pool. Returns null if it is full.
__device__ __forceinline__ u32* take_words(const MadeLaunch& work, u32 words) {
  u32 at = 0;
  if (threadIdx.x % 32 == 0) {
    at = atomicAdd(&work.state->pool, words);
    if (at > work.pool_words || words > work.pool_words - at) {
      // A sum of requests beyond 32 bits would wrap, so the cursor goes back.
      atomicSub(&work.state->pool, words);
      work.state->full = 1;
      at = none;
    }
  }
  at = __shfl_sync(all_lanes, at, 0);
  return at == none ? nullptr : work.pool + at;
}

// A set that a warp has found, in the pool, where other warps can read it. It is empty if the pool is full.
__device__ __noinline__ List in_pool(const MadeLaunch* work, List set) {
  if (set.count == 0 || (set.ids >= work->pool && set.ids < work->pool + work->pool_words)) return set;
  u32* to = take_words(*work, set.count);
  if (to == nullptr) set.count = 0;
  for (u32 i = threadIdx.x % 32; i < set.count; i += 32) to[i] = set.ids[i];
  set.ids = to;
  __syncwarp();
  return set;
}

// --- the end ---

__device__ inline void finish(Warp& warp) {
  for (u32 p = 0; p < 2; ++p) {
    const i64 total = sum_of_lanes(warp, warp.totals[p]);
    const bool overflow = __any_sync(all_lanes, warp.overflow);
    if (warp.lane != 0 || warp.work.passes[p].count == 0) continue;
    Total& to = *warp.work.passes[p].total;
    if (total != 0) {
      const u64 low = static_cast<u64>(total);
      const u64 before = atomicAdd(&to.low, low);
      const u64 high = (total < 0 ? ~0ULL : 0ULL) + (before + low < before ? 1 : 0);
      if (high != 0) atomicAdd(&to.high, high);
    }
    if (overflow || warp.work.state->full != 0 || warp.work.merged.state[1] != 0) to.overflow = 1;
    if (warp.clocks[p] != 0) atomicAdd(&to.clocks, static_cast<u64>(warp.clocks[p]));
  }
  const u32 hits = __reduce_add_sync(all_lanes, warp.hits);
  const u32 misses = __reduce_add_sync(all_lanes, warp.misses);
  if (warp.lane != 0) return;
  if (hits != 0) atomicAdd(&warp.work.counters->hits, static_cast<u64>(hits));
  if (misses != 0) atomicAdd(&warp.work.counters->misses, static_cast<u64>(misses));
}

}  // namespace deltamatch::gpu::made
