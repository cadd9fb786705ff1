// Views, which are lists as the lanes of a batch keep them: second layer of the matching kernel.
#pragma once

#include "gpu/lists.cuh"
#include "gpu/warp_frames.cuh"

namespace deltamatch::gpu::device {

// Flags in a view's count: entries among the stable ones are taken away; entries are added; the slow way is to be taken.
inline constexpr std::uint32_t minus_flag = 1U << 31;
inline constexpr std::uint32_t plus_flag = 1U << 30;
inline constexpr std::uint32_t slow_flag = 1U << 29;
inline constexpr std::uint32_t count_mask = slow_flag - 1;

template <bool sums, bool in_shared>
class Views : public Lists<Frames<sums, in_shared>> {
 protected:
  using Base = Lists<Frames<sums, in_shared>>;
  using Base::anchor_of;
  using Base::Base;
  using Base::changes_of;
  using Base::lane_;
  using Base::leads_to;
  using Base::program;
  using Base::vertex_at;
  using Base::work_;

  // Puts the list into this lane's place of a view; returns how many entries it has at most.
  __device__ std::uint32_t put_view(std::uint32_t* into, const Probe& probe, const View& list, std::uint32_t parent) {
    std::uint32_t flags = 0;
    Changes changes{0, 0};
    const Reading& where = work_.graph.readings[probe.reading];
    if (where.parallel || (where.derived && list.slice != none)) {
      flags = slow_flag;
      if (list.slice != none && program().pass == pass_added) {
        const Store& store = work_.graph.stores[where.store];
        changes.added = store.slices[list.slice + 1].added_begin - store.slices[list.slice].added_begin;
      }
    } else if (list.slice != none) {
      changes = changes_of(probe, list.slice, vertex_at(parent, lane_, probe.position), anchor_of(parent, lane_));
      flags = (changes.removed > 0 ? minus_flag : 0) | (changes.added > 0 ? plus_flag : 0);
    }
    Base::ids_of(into, lane_) = list.ids;
    into[view_counts + lane_] = list.count | flags;
    into[view_slices + lane_] = list.slice;
    into[view_removed + lane_] = changes.removed;
    into[view_added + lane_] = changes.added;
    return list.count + changes.added;
  }

  // In the list of a slot's place that is not slow, of whose stable entries `here` tells; out of line, since most lists have no
  // changes.
  __device__ __noinline__ bool leads_to(const std::uint32_t* view, std::uint32_t slot, std::uint32_t id, bool here) const {
    return leads_to(view[view_slices + slot], {view[view_removed + slot], view[view_added + slot]}, id, here);
  }
};

}  // namespace deltamatch::gpu::device
