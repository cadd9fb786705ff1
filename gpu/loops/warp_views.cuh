// Views: the lists that a frame reads, one for each lane.
#pragma once

#include "gpu/loops/lists.cuh"
#include "gpu/loops/warp.cuh"

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

// Puts a list into this lane's place of a view. Returns the most entries that it can have.
template <Kind kind>
__device__ std::uint32_t put_view(Warp<kind>& warp, std::uint32_t* into, const Probe& probe, const View& list,
                                  std::uint32_t parent) {
  std::uint32_t flags = 0;
  Changes changes{0, 0};
  const DeviceQueryRelation& where = warp.work.graph.query_relations[probe.query_relation];
  if (where.parallel || (where.derived && list.slice != none)) {
    flags = slow_flag;
    if (list.slice != none && warp.program().pass == pass_added) {
      const Store& store = warp.work.graph.stores[where.store];
      changes.added = store.slices[list.slice + 1].added_begin - store.slices[list.slice].added_begin;
    }
  } else if (list.slice != none) {
    changes = changes_of(warp, probe, list.slice, vertex_at(warp, parent, warp.lane, probe.position),
                         anchor_of(warp, parent, warp.lane));
    flags = (changes.removed > 0 ? minus_flag : 0) | (changes.added > 0 ? plus_flag : 0);
  }
  ids_of(into, warp.lane) = list.ids;
  into[view_counts + warp.lane] = list.count | flags;
  into[view_slices + warp.lane] = list.slice;
  into[view_removed + warp.lane] = changes.removed;
  into[view_added + warp.lane] = changes.added;
  return list.count + changes.added;
}

// Puts unchanged ids into this lane's place of a view.
template <Kind kind>
__device__ void put_ids(Warp<kind>& warp, std::uint32_t* into, const std::uint32_t* ids, std::uint32_t count) {
  ids_of(into, warp.lane) = ids;
  into[view_counts + warp.lane] = count;
  into[view_slices + warp.lane] = none;
  into[view_removed + warp.lane] = 0;
  into[view_added + warp.lane] = 0;
}

// Puts the set that the frame at depth `base` found for the ancestor of this lane's partial match. Returns its size.
template <Kind kind>
__device__ std::uint32_t put_set(Warp<kind>& warp, std::uint32_t* into, std::uint32_t base, std::uint32_t parent, bool active) {
  std::uint32_t* const set = warp.view(base, kept_view);
  const std::uint32_t slot = active ? slot_above(warp, parent, warp.lane, base - 1) : warp.lane;
  const std::uint32_t count = active ? set[view_counts + slot] : 0;
  put_ids(warp, into, ids_of(set, slot), count);
  return count;
}

// Whether a set stands for the last lists of a node.
template <Kind kind>
__device__ bool reads_set(const Warp<kind>& warp, const Node& node) {
  if constexpr (!kind.reuses) return false;
  return node.base != 0 && warp.header(node.base).kept != 0;
}

// Reads an id of a view. Sets and the ring are written by the kernel itself, so they must not be read as constants. A warp's
// sets are its own. The ring is written by all; `changing` says that the list lies there.
template <Kind kind>
__device__ std::uint32_t fetch(const std::uint32_t* id, bool changing) {
  if constexpr (kind.fills) {
    return changing ? __ldcg(id) : __ldca(id);
  } else if constexpr (kind.reuses) {
    return __ldca(id);
  } else {
    return __ldg(id);
  }
}

// Whether a list lies in the ring.
template <Kind kind>
__device__ bool is_changing(const Warp<kind>& warp, const std::uint32_t* ids) {
  if constexpr (kind.fills) return in_ring(warp, ids);
  return false;
}

// Whether a slot's list, which is not slow, leads to `id`. `here` says whether its stable entries do. Out of line, since most
// lists have no changes.
template <Kind kind>
__device__ __noinline__ bool leads_to(const Warp<kind>& warp, const std::uint32_t* view, std::uint32_t slot, std::uint32_t id,
                                      bool here) {
  return leads_to(warp, view[view_slices + slot], {view[view_removed + slot], view[view_added + slot]}, id, here);
}

}  // namespace deltamatch::gpu::device
