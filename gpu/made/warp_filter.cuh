// How a warp of a kernel that is made for one plan filters many lists with a bitmap of one that stays the same.
#pragma once

#include "gpu/made/warp_lists.cuh"

namespace deltamatch::gpu::made {

// A warp's part of shared memory: a hashed bitmap of the list that stays, and ids that are to be searched in it.
constexpr u32 bit_words = 512;
constexpr u32 queue_places = 256;
struct Filter {
  u32 bits[made_bitmaps][bit_words];
  u32 queue[made_scans][queue_places];  // by scan that is under way at once
};

__device__ __forceinline__ bool is_set(const u32* bits, u32 id) { return (bits[id / 32 % bit_words] >> id % 32 & 1U) != 0; }

__device__ __noinline__ void fill_bits(const Warp& warp, u32* bits, const List& list) {
  __syncwarp();
  uint4* words = reinterpret_cast<uint4*>(bits);
#pragma unroll
  for (u32 i = 0; i < bit_words / 4; i += 32) words[i + warp.lane] = {0, 0, 0, 0};
  __syncwarp();
#pragma unroll 1
  for (u32 i = warp.lane; i < list.count; i += 32) {
    const u32 id = list.ids[i];
    atomicOr(&bits[id / 32 % bit_words], 1U << id % 32);
  }
  if (list.added > 0) {
    const u32* added = warp.work.store.added + warp.work.store.slices[list.slice].added_begin;
    for (u32 i = warp.lane; i < list.added; i += 32) atomicOr(&bits[added[i] / 32 % bit_words], 1U << added[i] % 32);
  }
  __syncwarp();
}

// Reads the first `count` entries of each lane's list, all lists end to end. Entries whose bit is set and for which `test(id,
// vertex of the lane)` holds are handed to `take`, two a lane.
template <class Test, class Take>
__device__ __forceinline__ void filter_lists(const Warp& warp, const u32* bits, u32* queue, const u32* ids, u32 count,
                                             u32 vertex, Test&& test, Take&& take) {
  const u32 lane = warp.lane;
  const u32 some = __ballot_sync(all_lanes, count > 0);
  const u32 lists = __popc(some);
  if (lists == 0) return;
  // Lists that are not empty come first.
  if (count > 0) queue[__popc(some & ((1U << lane) - 1))] = lane;
  __syncwarp();
  const u32 source = queue[lane < lists ? lane : 0];
  __syncwarp();
  const u32 entries = __shfl_sync(all_lanes, count, source);
  const u32 size = lane < lists ? entries : 0;
  u32 end = size;
#pragma unroll
  for (u32 offset = 1; offset < 32; offset *= 2) {
    const u32 other = __shfl_up_sync(all_lanes, end, offset);
    if (lane >= offset) end += other;
  }
  const u32 start = lane < lists ? end - size : none;
  const u32 total = __shfl_sync(all_lanes, end, 31);
  // Where the entry numbered 0 would lie.
  const u64 base = __shfl_sync(all_lanes, reinterpret_cast<u64>(ids), source) - static_cast<u64>(start) * 4;
  const u32 its_vertex = __shfl_sync(all_lanes, vertex, source);
  u32 before = 0;  // lists that start before the window
  u32 queued = 0;
  constexpr u32 k = 4;
#pragma unroll 1
  for (u32 at = 0; at < total; at += 32 * k) {
    u32 id[k];
    u32 owner[k];
#pragma unroll
    for (u32 i = 0; i < k; ++i) {
      const u32 first = at + 32 * i;
      const u32 starts = __reduce_or_sync(all_lanes, start - first < 32 ? 1U << (start - first) : 0U);
      const u32 list = before + __popc(starts & (all_lanes >> (31 - lane))) - 1;
      before += __popc(starts);
      const u64 own = __shfl_sync(all_lanes, base, list);
      owner[i] = __shfl_sync(all_lanes, its_vertex, list);
      id[i] = first + lane < total ? __ldg(reinterpret_cast<const u32*>(own) + first + lane) : none;
    }
#pragma unroll
    for (u32 i = 0; i < k; ++i) {
      const bool in = id[i] != none && is_set(bits, id[i]) && test(id[i], owner[i]);
      const u32 mask = __ballot_sync(all_lanes, in);
      if (in) queue[queued + __popc(mask & ((1U << lane) - 1))] = id[i];
      queued += __popc(mask);
    }
    __syncwarp();
    const bool last = at + 32 * k >= total;
#pragma unroll 1
    while (queued >= 64 || (last && queued > 0)) {
      const u32 first = queued > 64 ? queued - 64 : 0;
      u32 found[2];
      bool in[2];
#pragma unroll
      for (u32 i = 0; i < 2; ++i) {
        in[i] = first + 32 * i + lane < queued;
        found[i] = in[i] ? queue[first + 32 * i + lane] : 0;
      }
      take(found, in);
      queued = first;
    }
    __syncwarp();
  }
}

// The entries of a list, 64 at a time. With a bitmap, only those whose bit is set.
struct Scan {
  List list;
  const u32* bits;  // null: all
  u32* queue;
  u32 at;
  u32 end;
  u32 head;
  u32 queued;
};
__device__ __forceinline__ Scan scan_of(const List& list, const u32* bits, u32* queue) {
  // Short lists are searched as fast as they are filtered.
  return {list, list.slice == none && list.count >= 96 ? bits : nullptr, queue, 0, list.size(), 0, 0};
}
__device__ __forceinline__ bool next(const Warp& warp, Scan& scan, u32 (&id)[2], bool (&in)[2]) {
  if (scan.bits == nullptr) {
    if (scan.at >= scan.end) return false;
    read<2>(warp, scan.list, scan.at, scan.end, id, in);
    scan.at += 64;
    return true;
  }
  __syncwarp();
#pragma unroll 1
  while (scan.queued < 64 && scan.at < scan.end) {
    u32 own[4];
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      const u32 place = scan.at + 32 * i + warp.lane;
      own[i] = place < scan.end ? scan.list.ids[place] : none;
    }
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      const bool kept = own[i] != none && is_set(scan.bits, own[i]);
      const u32 mask = __ballot_sync(all_lanes, kept);
      if (kept) scan.queue[(scan.head + scan.queued + __popc(mask & ((1U << warp.lane) - 1))) % queue_places] = own[i];
      scan.queued += __popc(mask);
    }
    scan.at += 128;
  }
  if (scan.queued == 0) return false;
  __syncwarp();
#pragma unroll
  for (u32 i = 0; i < 2; ++i) {
    in[i] = 32 * i + warp.lane < scan.queued;
    id[i] = in[i] ? scan.queue[(scan.head + 32 * i + warp.lane) % queue_places] : none;
  }
  const u32 taken = min(scan.queued, 64U);
  scan.head += taken;
  scan.queued -= taken;
  return true;
}

}  // namespace deltamatch::gpu::made
