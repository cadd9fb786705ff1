// How a warp finds what the lists of its lanes have in common with others.
//
// Each lane holds a partial match with a list of its own. The lists are read end to end, so that no lane waits for a longer
// one. A hashed bitmap of a list that stays the same drops most entries. The others wait in a queue, and are searched 64 at a
// time.
#pragma once

#include "gpu/made/warp_lists.cuh"

namespace deltamatch::gpu::made {

constexpr u32 bit_words = bitmap_bytes / 4;
constexpr u32 queue_places = 192;
// A list with more entries than this for each of the other's is searched for those.
constexpr u32 most_filtered = 16;
// A longer list would set most bits.
constexpr u32 most_mapped = 8192;

// What one meeting of lists needs of shared memory.
struct Meeting {
  u32 ids[queue_places];
  u32 counts[32];  // by lane
  u8 lanes[queue_places];
};
static_assert(sizeof(Meeting) == meeting_bytes);
template <u32 bitmaps, u32 depth>
struct Shared {
  alignas(16) u32 bits[bitmaps > 0 ? bitmaps : 1][bitmaps > 0 ? bit_words : 4];
  Meeting meetings[depth];  // by how many are under way at once
};

// An id has two bits. The second is looked at only if the first is set.
__device__ __forceinline__ u32 second_hash(u32 id) { return id * 0x9E3779B1U; }
__device__ __forceinline__ bool is_set(const u32* bits, u32 id) {
  if ((bits[id / 32 % bit_words] >> id % 32 & 1U) == 0) return false;
  const u32 hash = second_hash(id);
  return (bits[(hash >> 5 ^ hash >> 21) % bit_words] >> (hash >> 27) & 1U) != 0;
}

// Makes the bitmap of a list. Returns null if that is too long.
__device__ __noinline__ const u32* fill_bits(u32* bits, List list) {
  const u32 lane = threadIdx.x % 32;
  if (list.count > most_mapped) return nullptr;
  __syncwarp();
  uint4* words = reinterpret_cast<uint4*>(bits);
#pragma unroll
  for (u32 i = 0; i < bit_words / 4; i += 32) words[i + lane] = {0, 0, 0, 0};
  __syncwarp();
#pragma unroll 4
  for (u32 i = lane; i < list.count; i += 32) {
    const u32 id = list.ids[i];
    const u32 hash = second_hash(id);
    atomicOr(&bits[id / 32 % bit_words], 1U << id % 32);
    atomicOr(&bits[(hash >> 5 ^ hash >> 21) % bit_words], 1U << (hash >> 27));
  }
  __syncwarp();
  return bits;
}

// The lists of lanes, laid end to end.
struct Stream {
  u64 base;    // of the lane's list among those that are not empty: where the entry numbered 0 would lie
  u32 start;   // of the same
  u32 source;  // its lane
  u32 total = 0;
  u32 before = 0;  // lists that start before the entries read next

  __device__ __forceinline__ Stream(const Warp& warp, Meeting& meeting, const u32* ids, u32 count) {
    const u32 lane = warp.lane;
    const u32 some = __ballot_sync(all_lanes, count > 0);
    const u32 lists = __popc(some);
    __syncwarp();
    if (count > 0) meeting.lanes[__popc(some & ((1U << lane) - 1))] = static_cast<u8>(lane);
    __syncwarp();
    source = lane < lists ? meeting.lanes[lane] : 0;
    const u32 entries = __shfl_sync(all_lanes, count, source);
    const u32 size = lane < lists ? entries : 0;
    u32 end = size;
#pragma unroll
    for (u32 offset = 1; offset < 32; offset *= 2) {
      const u32 other = __shfl_up_sync(all_lanes, end, offset);
      if (lane >= offset) end += other;
    }
    total = __shfl_sync(all_lanes, end, 31);
    start = lane < lists ? end - size : none;
    base = __shfl_sync(all_lanes, reinterpret_cast<u64>(ids), source) - static_cast<u64>(end - size) * 4;
    __syncwarp();
  }

  // The entry numbered `first` + lane, and whose it is. Called for ascending multiples of 32.
  __device__ __forceinline__ u32 read(const Warp& warp, u32 first, u32& owner) {
    const u32 starts = __reduce_or_sync(all_lanes, start - first < 32 ? 1U << (start - first) : 0U);
    const u32 list = before + __popc(starts & (all_lanes >> (31 - warp.lane))) - 1;
    before += __popc(starts);
    const u64 own = __shfl_sync(all_lanes, base, list);
    owner = __shfl_sync(all_lanes, source, list);
    return first + warp.lane < total ? reinterpret_cast<const u32*>(own)[first + warp.lane] : none;
  }
};

// Hands all entries of the lanes' lists to `take(in, id, lane of the list)`, 32 at a time.
template <class Take>
__device__ __forceinline__ void read_all(const Warp& warp, const List& list, Meeting& meeting, Take&& take) {
  Stream stream(warp, meeting, list.ids, list.count);
#pragma unroll 1
  for (u32 at = 0; at < stream.total; at += 32) {
    u32 owner = 0;
    const u32 id = stream.read(warp, at, owner);
    take(at + warp.lane < stream.total, id, owner);
  }
}

// Does the same with those entries that the lane's other list holds, too. `bits`: a bitmap of the other lists; null: none.
template <class Take>
__device__ __forceinline__ void meet(const Warp& warp, const List& list, const List& other, const u32* bits, Meeting& meeting,
                                     Take&& take) {
  const u32 lane = warp.lane;
  // The other list is read if it is that much shorter.
  const bool turned = list.count / (bits != nullptr ? most_filtered : 1) > other.count;
  const u32 turns = __ballot_sync(all_lanes, turned);
  const List& longer = turned ? list : other;
  const u32 entries = turned ? other.count : list.count;
  Stream stream(warp, meeting, turned ? other.ids : list.ids, longer.count == 0 ? 0 : entries);
  u32 queued = 0;
  constexpr u32 k = 4;
#pragma unroll 1
  for (u32 at = 0; at < stream.total; at += 32 * k) {
    u32 id[k];
    u32 owner[k];
#pragma unroll
    for (u32 i = 0; i < k; ++i) id[i] = stream.read(warp, at + 32 * i, owner[i]);
#pragma unroll
    for (u32 i = 0; i < k; ++i) {
      bool in = at + 32 * i + lane < stream.total;
      if (bits != nullptr) in = in && ((turns >> owner[i] & 1U) != 0 || is_set(bits, id[i]));
      const u32 mask = __ballot_sync(all_lanes, in);
      if (in) {
        const u32 place = queued + __popc(mask & ((1U << lane) - 1));
        meeting.ids[place] = id[i];
        meeting.lanes[place] = static_cast<u8>(owner[i]);
      }
      queued += __popc(mask);
    }
    const bool last = at + 32 * k >= stream.total;
    u32 done = 0;
    __syncwarp();
#pragma unroll 1
    while (queued >= done + 64 || (last && queued > done)) {
      u32 found[2];
      u32 its_lane[2];
      bool in[2];
      const u32* place[2];
      u32 n[2];
#pragma unroll
      for (u32 i = 0; i < 2; ++i) {
        const u32 own = done + 32 * i + lane;
        in[i] = own < queued;
        found[i] = in[i] ? meeting.ids[own] : 0;
        its_lane[i] = in[i] ? meeting.lanes[own] : 0;
        place[i] = reinterpret_cast<const u32*>(__shfl_sync(all_lanes, reinterpret_cast<u64>(longer.ids), its_lane[i]));
        const u32 count = __shfl_sync(all_lanes, longer.count, its_lane[i]);
        n[i] = in[i] ? count : 0;
      }
#pragma unroll 1
      while (n[0] > 1 || n[1] > 1) {
        u32 middle[2];
#pragma unroll
        for (u32 i = 0; i < 2; ++i) middle[i] = n[i] > 1 ? place[i][n[i] >> 1] : none;
#pragma unroll
        for (u32 i = 0; i < 2; ++i) {
          if (n[i] > 1 && middle[i] <= found[i]) place[i] += n[i] >> 1;
          n[i] -= n[i] >> 1;
        }
      }
#pragma unroll
      for (u32 i = 0; i < 2; ++i) in[i] = in[i] && n[i] == 1 && *place[i] == found[i];
      done += 64;
#pragma unroll 1
      for (u32 i = 0; i < 2; ++i) {
        const bool own = i == 0 ? in[0] : in[1];
        if (__any_sync(all_lanes, own)) take(own, i == 0 ? found[0] : found[1], i == 0 ? its_lane[0] : its_lane[1]);
      }
    }
    if (done > 0 && queued > done) {
      // Fewer than 64 are left. They move to the front.
      __syncwarp();
      u32 id_left[2];
      u8 lane_left[2];
#pragma unroll
      for (u32 i = 0; i < 2; ++i) {
        const u32 own = done + 32 * i + lane;
        id_left[i] = own < queued ? meeting.ids[own] : 0;
        lane_left[i] = own < queued ? meeting.lanes[own] : 0;
      }
      __syncwarp();
#pragma unroll
      for (u32 i = 0; i < 2; ++i) {
        if (done + 32 * i + lane >= queued) continue;
        meeting.ids[32 * i + lane] = id_left[i];
        meeting.lanes[32 * i + lane] = lane_left[i];
      }
    }
    queued = queued > done ? queued - done : 0;
    __syncwarp();
  }
}

}  // namespace deltamatch::gpu::made
