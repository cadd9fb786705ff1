// What a busy warp gives away.
//
// A warp that sees idle ones gives them the last children of its shallowest frame. If one batch alone takes long, it gives
// partial matches of that batch.
#pragma once

#include "gpu/loops/warp_items.cuh"

namespace deltamatch::gpu::device {

inline constexpr std::uint32_t most_donations = 4;
// Fewer children than this are not worth giving away.
inline constexpr std::uint32_t least_donation = 64;

// True once in a while.
template <Kind kind>
__device__ bool time_to_look(Warp<kind>& warp) {
  const long long now = clock64();
  if (__shfl_sync(all_lanes, now - warp.looked > warp.work.share_interval ? 1 : 0, 0) == 0) return false;
  warp.looked = now;
  return true;
}

// Gives away the last slot above a frame whose set is still to be found.
template <Kind kind>
__device__ void donate_slot(Warp<kind>& warp, std::uint32_t depth) {
  Header& own = warp.header(depth);
  const std::uint32_t last = own.slots - 1U;
  if (!kind.sums || warp.products(depth - 1)[last] != 0) give_item(warp, depth - 1, last, own.node, 0, Item::all);
  __syncwarp();
  if (warp.lane == 0) own.slots = static_cast<std::uint8_t>(last);
  __syncwarp();
}

// Gives the last children of the shallowest frame that has enough of them. Returns false if none has.
template <Kind kind>
__device__ bool donate_children(Warp<kind>& warp) {
#pragma unroll 1
  for (std::uint32_t depth = 1; depth <= warp.depth; ++depth) {
    Header& own = warp.header(depth);
    if (own.global == 0) return false;
    if constexpr (kind.reuses) {
      if (own.window + (depth == warp.depth ? 1U : 0U) < own.slots) {
        donate_slot(warp, depth);
        return true;
      }
    }
    const std::uint32_t next = own.next;
    const std::uint32_t total = own.total;
    // Children of a shallow frame lead to more work than those of the deepest.
    if (next + (depth == warp.depth ? least_donation : 1) >= total) continue;
    const std::uint32_t* starts = warp.prefix(depth);
    const std::uint32_t slot = slot_of(starts, total - 1);
    std::uint32_t from = max(starts[slot], next);
    if (from == next) from = next + (total - next + 1) / 2;
    give_item(warp, depth - 1, slot, own.node, from - starts[slot], total - starts[slot]);
    if (warp.lane == 0) own.total = from;
    __syncwarp();
    return true;
  }
  return false;
}

// Checks for a stop, then gives the last children of the shallowest frames to idle warps. It gives several portions while
// there are enough of both, since the work of one warp must reach thousands.
template <Kind kind>
__device__ __noinline__ void donate(Warp<kind>& warp) {
  warp.stopped = stop_is_set(warp);
  if (warp.stopped) return;
#pragma unroll 1
  for (std::uint32_t portions = 0; portions < most_donations; ++portions) {
    if (!work_is_wanted(warp) || !donate_children(warp)) return;
  }
}

// Reads children until the frame holds a batch or there are no more.
template <Kind kind>
__device__ __noinline__ void fill_frame(Warp<kind>& warp) {
  Header& own = warp.header(warp.depth);
  const Node& node = warp.work.nodes[own.node];
  std::uint32_t filled = own.filled;
  std::uint32_t next = own.next;
  std::uint32_t total = own.total;
  [[maybe_unused]] const unsigned slots = kind.reuses && own.slots > 0 ? 1U << (own.window - 1U) : all_lanes;
  if (own.kept == 0) look_up_again(warp, warp.depth, node, Aim::loop, slots);
#pragma unroll 1
  while (filled < 32 && next < total) {
    if (own.kept == 0 && is_outdated(warp)) look_up_again(warp, warp.depth, node, Aim::loop, slots);
    // If few children are found, reading them takes the time.
    if (time_to_look(warp)) {
      __syncwarp();
      if (warp.lane == 0) own.next = next;
      __syncwarp();
      donate(warp);
      total = own.total;
      if (warp.stopped) break;
    }
    const Children made = read_children(warp, warp.depth, node, next + warp.lane, total);
    // If the second 32 do not fit, they are read again.
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
      const Child found = made.get(k);
      const unsigned hits = __ballot_sync(all_lanes, found.found);
      if (filled + __popc(hits) > 63) break;
      if (found.found) keep_child(warp, found, filled + __popc(hits & ((1U << warp.lane) - 1)));
      filled += __popc(hits);
      next += 32;
    }
  }
  close_ring(warp);
  __syncwarp();
  if (warp.lane == 0) {
    own.filled = filled;
    own.next = min(next, total);
  }
  __syncwarp();
}

// Gives up to half of the partial matches in `slots` to idle warps, the later ones first, because each takes long in the
// present step. The receivers go on from that step to the end of its term. Returns the slots that are left.
template <Kind kind>
__device__ __noinline__ unsigned donate_partials(Warp<kind>& warp, unsigned slots) {
  const Header& own = warp.header(warp.depth);
  if (own.global == 0) return slots;
  const std::uint32_t from = own.pc - 1;
  std::uint32_t end = own.pc;
#pragma unroll 1
  while (end < own.end && warp.work.steps[end].kind != StepKind::term) ++end;
  const int keep = max((__popc(slots) + 1) / 2, __popc(slots) - static_cast<int>(most_donations));
#pragma unroll 1
  while (__popc(slots) > keep && work_is_wanted(warp)) {
    const std::uint32_t slot = 31 - __clz(static_cast<int>(slots));
    give_item(warp, warp.depth, slot, Item::whole, from, end);
    slots &= ~(1U << slot);
  }
  return slots;
}

}  // namespace deltamatch::gpu::device
