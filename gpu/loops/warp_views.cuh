// Views, which are the lists of a batch by lane: second layer of the matching kernel.
#pragma once

#include "gpu/loops/lists.cuh"
#include "gpu/loops/warp_frames.cuh"

namespace deltamatch::gpu::device {

// Flags in a view's count: stable entries are removed; entries are added; the list needs the slow way.
inline constexpr std::uint32_t minus_flag = 1U << 31;
inline constexpr std::uint32_t plus_flag = 1U << 30;
inline constexpr std::uint32_t slow_flag = 1U << 29;
inline constexpr std::uint32_t count_mask = slow_flag - 1;

// Views of a frame that keeps sets. Its own children are read from the first, which is cut by order constraints. Deeper loops
// read the second.
inline constexpr std::uint32_t own_view = 0;
inline constexpr std::uint32_t kept_view = 1;

template <bool sums, bool in_shared, bool reuses>
class Views : public Lists<Frames<sums, in_shared, reuses>> {
 protected:
  using Base = Lists<Frames<sums, in_shared, reuses>>;
  using Base::anchor_of;
  using Base::Base;
  using Base::changes_of;
  using Base::header;
  using Base::lane_;
  using Base::leads_to;
  using Base::program;
  using Base::slot_above;
  using Base::vertex_at;
  using Base::view;
  using Base::work_;

  // Puts a list into this lane's place of a view. Returns the most entries that it can have.
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

  // Puts unchanged ids into this lane's place of a view.
  __device__ void put_ids(std::uint32_t* into, const std::uint32_t* ids, std::uint32_t count) {
    Base::ids_of(into, lane_) = ids;
    into[view_counts + lane_] = count;
    into[view_slices + lane_] = none;
    into[view_removed + lane_] = 0;
    into[view_added + lane_] = 0;
  }

  // Puts the set that the frame at depth `base` found for the ancestor of this lane's partial match. Returns its size.
  __device__ std::uint32_t put_set(std::uint32_t* into, std::uint32_t base, std::uint32_t parent, bool active) {
    std::uint32_t* const set = view(base, kept_view);
    const std::uint32_t slot = active ? slot_above(parent, lane_, base - 1) : lane_;
    const std::uint32_t count = active ? set[view_counts + slot] : 0;
    put_ids(into, Base::ids_of(set, slot), count);
    return count;
  }

  // Whether a set stands for the last lists of a node.
  __device__ bool reads_set(const Node& node) const {
    if constexpr (!reuses) return false;
    return node.base != 0 && header(node.base).kept != 0;
  }

  // Reads an id of a view. Sets are written by the kernel itself, so they must not be read as constants.
  __device__ static std::uint32_t fetch(const std::uint32_t* id) {
    if constexpr (reuses) {
      return __ldca(id);
    } else {
      return __ldg(id);
    }
  }

  // Whether a slot's list, which is not slow, leads to `id`. `here` says whether its stable entries do. Out of line, since most
  // lists have no changes.
  __device__ __noinline__ bool leads_to(const std::uint32_t* view, std::uint32_t slot, std::uint32_t id, bool here) const {
    return leads_to(view[view_slices + slot], {view[view_removed + slot], view[view_added + slot]}, id, here);
  }
};

}  // namespace deltamatch::gpu::device
