// What a busy warp gives away: seventh layer of the matching kernel.
//
// A warp that sees idle ones gives them the last children of its shallowest frame. If one batch alone takes long, it gives
// partial matches of that batch.
#pragma once

#include "gpu/loops/warp_items.cuh"

namespace deltamatch::gpu::device {

inline constexpr std::uint32_t most_donations = 4;
// Fewer children than this are not worth giving away.
inline constexpr std::uint32_t least_donation = 64;

template <bool sums, bool in_shared, bool reuses>
class Sharing : public Items<sums, in_shared, reuses> {
 protected:
  using Base = Items<sums, in_shared, reuses>;
  using Base::Base;
  using Base::depth_;
  using Base::give;
  using Base::header;
  using Base::lane_;
  using Base::prefix;
  using Base::products;
  using Base::stopped;
  using Base::wanted;
  using Base::work_;

  // True once in a while.
  __device__ bool time_to_look() {
    const long long now = clock64();
    if (__shfl_sync(all_lanes, now - looked_ > work_.share_interval ? 1 : 0, 0) == 0) return false;
    looked_ = now;
    return true;
  }

  // Checks for a stop, then gives the last children of the shallowest frames to idle warps. It gives several portions while
  // there are enough of both, since the work of one warp must reach thousands.
  __device__ __noinline__ void donate() {
    stopped_ = stopped();
    if (stopped_) return;
#pragma unroll 1
    for (std::uint32_t portions = 0; portions < most_donations; ++portions) {
      if (!wanted() || !donate_children()) return;
    }
  }

  // Reads children until the frame holds a batch or there are no more.
  __device__ __noinline__ void fill() {
    Header& own = header(depth_);
    const Node& node = work_.nodes[own.node];
    std::uint32_t filled = own.filled;
    std::uint32_t next = own.next;
    std::uint32_t total = own.total;
#pragma unroll 1
    while (filled < 32 && next < total) {
      // If few children are found, reading them takes the time.
      if (time_to_look()) {
        __syncwarp();
        if (lane_ == 0) own.next = next;
        __syncwarp();
        donate();
        total = own.total;
        if (stopped_) break;
      }
      const Children made = this->children(depth_, node, next + lane_, total);
      // If the second 32 do not fit, they are read again.
#pragma unroll 1
      for (int k = 0; k < 2; ++k) {
        const Child found = made.get(k);
        const unsigned hits = __ballot_sync(all_lanes, found.found);
        if (filled + __popc(hits) > 63) break;
        if (found.found) this->keep(found, filled + __popc(hits & ((1U << lane_) - 1)));
        filled += __popc(hits);
        next += 32;
      }
    }
    __syncwarp();
    if (lane_ == 0) {
      own.filled = filled;
      own.next = min(next, total);
    }
    __syncwarp();
  }

  // Gives up to half of the partial matches in `slots` to idle warps, the later ones first, because each takes long in the
  // present step. The receivers go on from that step to the end of its term. Returns the slots that are left.
  __device__ __noinline__ unsigned donate_partials(unsigned slots) {
    const Header& own = header(depth_);
    if (own.global == 0) return slots;
    const std::uint32_t from = own.pc - 1;
    std::uint32_t end = own.pc;
#pragma unroll 1
    while (end < own.end && work_.steps[end].kind != StepKind::term) ++end;
    const int keep = max((__popc(slots) + 1) / 2, __popc(slots) - static_cast<int>(most_donations));
#pragma unroll 1
    while (__popc(slots) > keep && wanted()) {
      const std::uint32_t slot = 31 - __clz(static_cast<int>(slots));
      give(depth_, slot, Item::whole, from, end);
      slots &= ~(1U << slot);
    }
    return slots;
  }

  bool stopped_ = false;
  long long looked_ = 0;  // clock when it last looked for idle warps

 private:
  __device__ bool donate_children() {
#pragma unroll 1
    for (std::uint32_t depth = 1; depth <= depth_; ++depth) {
      Header& own = header(depth);
      if (own.global == 0) return false;
      if constexpr (reuses) {
        if (own.window + (depth == depth_ ? 1U : 0U) < own.slots) {
          donate_slot(depth);
          return true;
        }
      }
      const std::uint32_t next = own.next;
      const std::uint32_t total = own.total;
      // Children of a shallow frame lead to more work than those of the deepest.
      if (next + (depth == depth_ ? least_donation : 1) >= total) continue;
      const std::uint32_t* starts = prefix(depth);
      const std::uint32_t slot = Base::slot_of(starts, total - 1);
      std::uint32_t from = max(starts[slot], next);
      if (from == next) from = next + (total - next + 1) / 2;
      give(depth - 1, slot, own.node, from - starts[slot], total - starts[slot]);
      if (lane_ == 0) own.total = from;
      __syncwarp();
      return true;
    }
    return false;
  }

  // Gives away the last slot above a frame whose set is still to be found.
  __device__ void donate_slot(std::uint32_t depth) {
    Header& own = header(depth);
    const std::uint32_t last = own.slots - 1U;
    if (!sums || products(depth - 1)[last] != 0) give(depth - 1, last, own.node, 0, Item::all);
    __syncwarp();
    if (lane_ == 0) own.slots = static_cast<std::uint8_t>(last);
    __syncwarp();
  }
};

}  // namespace deltamatch::gpu::device
