// Lists that the device lacks are copied to its DemandRing by the warp that misses them.
//
// A warp reads the ring only between open_ring and close_ring. The places that it finds there may be lost afterwards. A frame
// that is filled again makes sure that its lists are still there.
#pragma once

#include "gpu/loops/warp_views.cuh"
#include "gpu/mirror/ring_shape.hpp"

namespace deltamatch::gpu::device {

// Clocks after which a warp announces a new epoch between two lists, so that others can fill the ring.
inline constexpr long long longest_reading = 1 << 20;
// Loads that a lane has in flight while it copies.
inline constexpr std::uint32_t copies = 4;
// Places that a lane looks at together when it empties a segment. A warp does so whenever so many blocks have been copied.
inline constexpr std::uint32_t withdrawals = 8;
inline constexpr std::uint32_t blocks_between = 128;

__device__ inline void store_relaxed(std::uint32_t* to, std::uint32_t value) {
  *const_cast<volatile std::uint32_t*>(to) = value;
}

// The words of the block that a row leads to: directory and ids.
__device__ inline std::uint32_t block_words(const uint4& row) { return (2U << (row.w >> 2 & 31U)) + row.z; }

template <Kind kind>
__device__ std::uint32_t* announcement(const Warp<kind>& warp) {
  return warp.work.graph.ring.announced + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
}

// The number of the segment that is being filled.
template <Kind kind>
__device__ std::uint32_t segment_now(const Warp<kind>& warp) {
  return static_cast<std::uint32_t>(load_relaxed(&warp.work.graph.ring.state->cursor) >> 32);
}

// Whether the warp has to announce a new epoch, since it holds up those that fill the ring.
template <Kind kind>
__device__ bool is_outdated(const Warp<kind>& warp) {
  if constexpr (!kind.fills) return false;
  return __shfl_sync(all_lanes, warp.reads_ring && clock64() - warp.announced_at > longest_reading ? 1 : 0, 0) != 0;
}

// Lets look-ups of a node find lists in the ring, if they may lie there. What they find holds
// until close_ring.
template <Kind kind>
__device__ void open_ring(Warp<kind>& warp, const Node& node) {
  if constexpr (kind.fills) {
    if (node.unmixed == 0) return;
    const DemandState& state = *warp.work.graph.ring.state;
    // Either a warp that empties a segment sees the epoch, or this one sees that the segment is empty. So the epoch must have
    // arrived before places are read. A fence would do, but it also empties the first cache of the multiprocessor. An exchange
    // has arrived once its result is there.
    std::uint32_t before = 0;
    if (warp.lane == 0) before = atomicExch(announcement(warp), load_relaxed(&state.epoch));
    warp.reads_ring = __shfl_sync(all_lanes, before, 0) != DemandRing::never;
    std::uint32_t segment = 0;
    if (warp.reads_ring && warp.lane == 0) segment = segment_now(warp);
    warp.ring_segment = __shfl_sync(all_lanes, segment, 0);
    warp.announced_at = clock64();
  }
}

// Says that this warp does not read the ring any more.
template <Kind kind>
__device__ void close_ring(Warp<kind>& warp) {
  if constexpr (kind.fills) {
    if (!warp.reads_ring) return;
    __syncwarp();  // what was read has arrived, since it has been compared
    if (warp.lane == 0) store_relaxed(announcement(warp), DemandRing::idle);
    warp.reads_ring = false;
  }
}

// Whether a vertex's block lies in the ring so that this word belongs to it.
template <Kind kind>
__device__ bool is_place_of(const Warp<kind>& warp, std::uint32_t vertex, const std::uint32_t* word) {
  const DemandRing& ring = warp.work.graph.ring;
  const std::uint32_t place = load_relaxed(&ring.places[vertex]);
  if (place < DemandRing::first_place) return false;
  const std::uint32_t* block = ring.words + std::size_t{place - DemandRing::first_place} * DemandRing::granule_words;
  return static_cast<std::uint64_t>(word - block) <=
         block_words(__ldg(reinterpret_cast<const uint4*>(warp.work.graph.stores[0].rows) + vertex));
}

// Takes their places from some vertices with blocks in the segment that is being emptied. Returns false if none are left.
//
// If one of them finds another place at the same time, that may be lost, too. Then its next look-up misses.
template <Kind kind>
__device__ __noinline__ bool empty_some(const Warp<kind>& warp) {
  constexpr std::uint32_t share = 32 * withdrawals;
  const DemandRing& ring = warp.work.graph.ring;
  const auto blocks_of = [&](unsigned long long at) {
    return min(load_relaxed(&ring.blocks[static_cast<std::uint32_t>(at >> 32) % ring.segments]), ring.segment_blocks);
  };
  unsigned long long taken = 0;
  if (warp.lane == 0) {
    taken = load_relaxed(&ring.state->emptying);
    // Once all are taken, the count must not go on.
    if (static_cast<std::uint32_t>(taken) < blocks_of(taken)) taken = atomicAdd(&ring.state->emptying, share);
  }
  taken = __shfl_sync(all_lanes, taken, 0);
  const auto begin = static_cast<std::uint32_t>(taken);
  const std::uint32_t blocks = __shfl_sync(all_lanes, blocks_of(taken), 0);
  if (begin >= blocks) return false;
  const std::uint32_t segment = static_cast<std::uint32_t>(taken >> 32) % ring.segments;
  const std::uint32_t* owners = ring.owners + std::size_t{segment} * ring.segment_blocks;
  const std::uint32_t first = DemandRing::first_place + segment * ring.segment_granules;
  std::uint32_t owner[withdrawals];
  std::uint32_t place[withdrawals];
#pragma unroll
  for (std::uint32_t k = 0; k < withdrawals; ++k) {
    const std::uint32_t at = begin + 32 * k + warp.lane;
    owner[k] = at < blocks ? load_relaxed(&owners[at]) : none;
  }
#pragma unroll
  for (std::uint32_t k = 0; k < withdrawals; ++k) {
    place[k] = owner[k] != none ? load_relaxed(&ring.places[owner[k]]) : DemandRing::absent;
  }
#pragma unroll
  for (std::uint32_t k = 0; k < withdrawals; ++k) {
    if (place[k] - first < ring.segment_granules) store_relaxed(&ring.places[owner[k]], DemandRing::absent);
  }
  __threadfence();
  __syncwarp();
  if (warp.lane == 0) atomicAdd(&ring.state->withdrawn, min(blocks - begin, share));
  return true;
}

// The oldest epoch in which a warp began that still reads.
template <Kind kind>
__device__ std::uint32_t oldest_reader(const Warp<kind>& warp) {
  constexpr std::uint32_t looks = 16;  // of a lane, at the same time
  std::uint32_t oldest = DemandRing::idle;
#pragma unroll 1
  for (std::uint32_t at = warp.lane; at < warp.work.warps; at += 32 * looks) {
    std::uint32_t epoch[looks];
#pragma unroll
    for (std::uint32_t k = 0; k < looks; ++k) {
      const std::uint32_t own = at + 32 * k;
      epoch[k] = load_relaxed(&warp.work.graph.ring.announced[own < warp.work.warps ? own : at]);
    }
#pragma unroll
    for (std::uint32_t k = 0; k < looks; ++k) oldest = min(oldest, epoch[k]);
  }
  return __reduce_min_sync(all_lanes, oldest);
}

// Makes the segment behind `number` the one that is filled. That needs that no warp reads it any more, and that the segment
// that is being emptied is empty. Returns whether it is worth trying to fill again.
template <Kind kind>
__device__ __noinline__ bool next_segment(Warp<kind>& warp, std::uint32_t number) {
  const DemandRing& ring = warp.work.graph.ring;
  while (empty_some(warp)) {
  }
  const std::uint32_t emptying = number + ring.segments_ahead - ring.segments;
  const std::uint32_t emptied = emptying % ring.segments;
  enum : int { wait, go_on, done } state = wait;
  if (warp.lane == 0 && atomicCAS(&ring.state->lock, 0U, 1U) == 0U) {
    __threadfence();
    if (load_relaxed(&ring.state->cursor) >> 32 != number) {
      state = done;
    } else if (load_relaxed(&ring.state->withdrawn) == min(load_relaxed(&ring.blocks[emptied]), ring.segment_blocks)) {
      state = go_on;
    }
    if (state != go_on) atomicExch(&ring.state->lock, 0U);
  }
  state = static_cast<decltype(state)>(__shfl_sync(all_lanes, static_cast<int>(state), 0));
  if (state != go_on) return state == done;
  const bool moves = oldest_reader(warp) >= load_relaxed(&ring.emptied_at[(number + 1) % ring.segments]);
  if (warp.lane == 0) {
    if (moves) {
      __threadfence();
      store_relaxed(&ring.emptied_at[emptied], atomicAdd(&ring.state->epoch, 1U) + 1);
      store_relaxed(&ring.blocks[(number + 1) % ring.segments], 0);
      store_relaxed(&ring.state->withdrawn, 0);
      __threadfence();
      atomicExch(&ring.state->emptying, static_cast<unsigned long long>(emptying + 1) << 32);
      atomicExch(&ring.state->cursor, static_cast<unsigned long long>(number + 1) << 32);
    }
    __threadfence();
    atomicExch(&ring.state->lock, 0U);
  }
  __syncwarp();
  return moves;
}

struct Room {
  bool found;
  std::uint32_t number;   // of the segment
  std::uint32_t granule;  // the first in the ring
  std::uint32_t block;    // the first of the segment's blocks
};

// Takes room for several blocks together.
template <Kind kind>
__device__ __noinline__ Room take_room(Warp<kind>& warp, std::uint32_t granules, std::uint32_t blocks) {
  const DemandRing& ring = warp.work.graph.ring;
  Room room{false, 0, 0, 0};
#pragma unroll 1
  for (int attempts = 0; attempts < 2; ++attempts) {
    int found = 0;
    if (warp.lane == 0) {
      unsigned long long cursor = load_relaxed(&ring.state->cursor);
      // A full segment is not counted on, so that the count never overflows.
      if (static_cast<std::uint32_t>(cursor) + granules <= ring.segment_granules)
        cursor = atomicAdd(&ring.state->cursor, static_cast<unsigned long long>(granules));
      room.number = static_cast<std::uint32_t>(cursor >> 32);
      const auto taken = static_cast<std::uint32_t>(cursor);
      const std::uint32_t segment = room.number % ring.segments;
      if (taken + granules <= ring.segment_granules) {
        room.granule = segment * ring.segment_granules + taken;
        room.block = atomicAdd(&ring.blocks[segment], blocks);
        found = room.block + blocks <= ring.segment_blocks ? 1 : 0;
      }
    }
    room.number = __shfl_sync(all_lanes, room.number, 0);
    room.granule = __shfl_sync(all_lanes, room.granule, 0);
    room.block = __shfl_sync(all_lanes, room.block, 0);
    room.found = __shfl_sync(all_lanes, found, 0) != 0;
    if (room.found || !next_segment(warp, room.number)) return room;
  }
  return room;
}

// Copies blocks to the `total` granules of the ring from `first` on, one behind the other. That of this lane begins at `begin`
// and ends where that of the next lane begins. Lanes without a block begin where the next one does, or behind all.
template <Kind kind>
__device__ void copy_blocks(const Warp<kind>& warp, const uint4* block, std::uint32_t begin, std::uint32_t total,
                            std::uint32_t first) {
  auto* const to = reinterpret_cast<uint4*>(warp.work.graph.ring.words) + first;
#pragma unroll 1
  for (std::uint32_t at = 0; at < total; at += 32 * copies) {
    uint4 words[copies];
#pragma unroll
    for (std::uint32_t k = 0; k < copies; ++k) {
      const std::uint32_t own = min(at + 32 * k + warp.lane, total - 1);
      std::uint32_t slot = 0;  // the last lane whose block begins at `own` or before
#pragma unroll
      for (std::uint32_t step = 16; step > 0; step /= 2) {
        if (__shfl_sync(all_lanes, begin, slot + step) <= own) slot += step;
      }
      const std::uint32_t start = __shfl_sync(all_lanes, begin, slot);
      const auto* from =
          reinterpret_cast<const uint4*>(__shfl_sync(all_lanes, reinterpret_cast<unsigned long long>(block), slot));
      words[k] = __ldg(from + (own - start));
    }
#pragma unroll
    for (std::uint32_t k = 0; k < copies; ++k) {
      const std::uint32_t own = at + 32 * k + warp.lane;
      if (own < total) to[own] = words[k];
    }
  }
}

// Whether to copy a block another time. Most look-ups search a few lines of a long list. So it is copied when it has been
// missed about as often as it is longer than a short one.
__device__ inline bool is_put_off(std::uint32_t granules) {
  if (granules <= RingShape::short_granules) return false;
  const auto draw = static_cast<std::uint32_t>(clock64() >> 4) * 0x9e3779b1U;
  return __umulhi(draw, granules) >= RingShape::short_granules;
}

// Copies the lists of this lane's vertex to the ring, if they are `wanted` and lie in host memory. No other lane may want the
// same vertex. Lists that find no room stay where they are.
//
// The warp reads the ring meanwhile. So the segment that it copies to cannot be emptied: that would take it past the segments
// that were emptied before this warp began.
template <Kind kind>
__device__ __noinline__ void copy_missed(Warp<kind>& warp, std::uint32_t vertex, bool wanted) {
  const DemandRing& ring = warp.work.graph.ring;
  const Store& store = warp.work.graph.stores[0];
  const uint4* block = nullptr;
  std::uint32_t granules = 0;
  if (wanted && vertex < store.vertices && load_relaxed(&ring.places[vertex]) == DemandRing::absent) {
    const uint4 row = __ldg(reinterpret_cast<const uint4*>(store.rows) + vertex);
    if ((row.w & Row::cached_bit) == 0 && row.w >> 7 != 0) {
      block = reinterpret_cast<const uint4*>(static_cast<std::uint64_t>(row.y) << 32 | row.x);
      granules = (block_words(row) + DemandRing::granule_words - 1) / DemandRing::granule_words;
    }
    if (granules > ring.most_granules || is_put_off(granules) ||
        (granules != 0 && atomicCAS(&ring.places[vertex], DemandRing::absent, DemandRing::arriving) != DemandRing::absent)) {
      granules = 0;
    }
  }
  if (!__any_sync(all_lanes, granules != 0)) return;
  std::uint32_t end = granules;
#pragma unroll
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const std::uint32_t other = __shfl_up_sync(all_lanes, end, offset);
    if (warp.lane >= offset) end += other;
  }
  // What goes beyond half a segment is left where it is.
  const bool fits = end <= ring.segment_granules / 2;
  if (granules != 0 && !fits) {
    store_relaxed(&ring.places[vertex], DemandRing::absent);
    granules = 0;
  }
  const unsigned filling = __ballot_sync(all_lanes, granules != 0);
  if (filling == 0) return;
  const std::uint32_t total = __reduce_max_sync(all_lanes, granules != 0 ? end : 0);
  const Room room = take_room(warp, total, __popc(filling));
  if (!room.found) {
    if (granules != 0) store_relaxed(&ring.places[vertex], DemandRing::absent);
    return;
  }
  const auto blocks = static_cast<std::uint32_t>(__popc(filling));
  // Old blocks go as new ones come, and somewhat faster.
  if (room.block / blocks_between != (room.block + blocks) / blocks_between) empty_some(warp);
  copy_blocks(warp, block, end - granules, total, room.granule);
  if (granules != 0) {
    const std::uint32_t own = room.block + __popc(filling & ((1U << warp.lane) - 1));
    ring.owners[std::size_t{room.number % ring.segments} * ring.segment_blocks + own] = vertex;
  }
  __threadfence();
  __syncwarp();
  if (granules == 0) return;
  store_relaxed(&ring.places[vertex], DemandRing::first_place + room.granule + (end - granules));
  ++warp.filled;
  // This look-up missed, though the list is read from the ring.
  ++warp.misses;
  --warp.hits;
}

// Does the same, if the warp reads the ring.
template <Kind kind>
__device__ void fill_ring(Warp<kind>& warp, std::uint32_t vertex, bool wanted) {
  if constexpr (kind.fills) {
    if (warp.reads_ring && warp.copies) copy_missed(warp, vertex, wanted);
  }
}

}  // namespace deltamatch::gpu::device
