// How the lists of a partial match are read, and how children are looked for in them.
#pragma once

#include "gpu/loops/warp_demand.cuh"

namespace deltamatch::gpu::device {

// In lists of at least this length, all lanes first find the part that a group of searches can reach.
inline constexpr std::uint32_t narrowed_list = 128;

struct Child {
  bool found;
  std::uint32_t vertex;
  std::uint32_t slot;  // of its parent
  std::uint32_t ways;  // choices among parallel data edges if programs are weighted; else 1
};

// How many views the children at a depth are read from and searched in, and how many positions they must differ from.
template <Kind kind>
__device__ std::uint32_t lists_of(const Warp<kind>& warp, std::uint32_t depth, const Node& node) {
  return kind.reuses ? warp.header(depth).lists : node.probes;
}
template <Kind kind>
__device__ std::uint32_t distinct_of(const Warp<kind>& warp, std::uint32_t depth, const Node& node) {
  return kind.reuses ? warp.header(depth).distinct : node.distinct;
}
template <Kind kind>
__device__ bool is_cut(const Warp<kind>& warp, const Node& node) {
  return warp.program().ordered && (node.above | node.below) != 0;
}

// The slot of the partial match that child number `at` extends.
__device__ inline std::uint32_t slot_of(const std::uint32_t* starts, std::uint32_t at) {
  std::uint32_t slot = 0;
#pragma unroll
  for (std::uint32_t step = 16; step > 0; step /= 2) {
    if (starts[slot + step] <= at) slot += step;
  }
  return slot;
}

// The bounds that order constraints set for the children of a partial match.
template <Kind kind>
__device__ void bounds(const Warp<kind>& warp, std::uint32_t parent, std::uint32_t slot, const Node& node, std::uint32_t& low,
                       std::uint32_t& high) {
  const std::uint8_t* positions = warp.work.positions + node.first_position + node.distinct;
#pragma unroll 1
  for (std::uint32_t i = 0; i < node.above; ++i) low = max(low, vertex_at(warp, parent, slot, positions[i]) + 1);
  positions += node.above;
#pragma unroll 1
  for (std::uint32_t i = 0; i < node.below; ++i) high = min(high, vertex_at(warp, parent, slot, positions[i]));
}

// Whether a vertex is within these bounds, as far as they hold at a depth.
template <Kind kind>
__device__ bool within(const Warp<kind>& warp, std::uint32_t depth, std::uint32_t slot, const Node& node,
                       std::uint32_t vertex) {
  if (!warp.program().ordered || (kind.reuses && warp.header(depth).uncut != 0)) return true;
  std::uint32_t low = 0;
  std::uint32_t high = none;
  bounds(warp, depth - 1, slot, node, low, high);
  return vertex >= low && vertex < high;
}

// Cuts this lane's view `best` to the bounds of the order constraints. Returns the number of children.
template <Kind kind>
__device__ std::uint32_t cut_to_bounds(Warp<kind>& warp, std::uint32_t depth, const Node& node, std::uint32_t best) {
  std::uint32_t low = 0;
  std::uint32_t high = none;
  bounds(warp, depth - 1, warp.lane, node, low, high);
  std::uint32_t* list = warp.view(depth, best);
  const std::uint32_t* ids = ids_of(list, warp.lane);
  const std::uint32_t flagged = list[view_counts + warp.lane];
  const std::uint32_t count = flagged & count_mask;
  const bool changing = is_changing(warp, ids);
  const auto read = [&](const std::uint32_t* id) { return fetch<kind>(id, changing); };
  const std::uint32_t begin = lower_bound(ids, count, low, read);
  const std::uint32_t end = high == none ? count : lower_bound(ids, count, high, read);
  const std::uint32_t kept = end > begin ? end - begin : 0;
  ids_of(list, warp.lane) = ids + begin;
  list[view_counts + warp.lane] = kept | (flagged & ~count_mask);
  return kept + list[view_added + warp.lane];
}

// The k-th entry that the batch adds to the list of a slot, or none if it is out of bounds.
template <Kind kind>
__device__ __noinline__ std::uint32_t added_child(const Warp<kind>& warp, std::uint32_t depth, const Node& node,
                                                  const std::uint32_t* list, std::uint32_t slot, std::uint32_t k) {
  const Store& store = warp.work.graph.stores[0];
  const std::uint32_t end = store.slices[list[view_slices + slot] + 1].added_begin;
  const std::uint32_t vertex = store.added[end - list[view_added + slot] + k];
  return within(warp, depth, slot, node, vertex) ? vertex : none;
}

// A readable address, for searches of empty lists.
template <Kind kind>
__device__ const std::uint32_t* somewhere(const Warp<kind>& warp) {
  return reinterpret_cast<const std::uint32_t*>(warp.work.programs);
}

// Reads the entries of the chosen list of a slot from `offset` on, 32 for each k. Returns whether they ascend.
template <Kind kind, std::uint32_t searches>
__device__ __forceinline__ bool read_entries(const Warp<kind>& warp, std::uint32_t depth, const Node& node, std::uint32_t* list,
                                             std::uint32_t slot, std::uint32_t offset, std::uint32_t (&id)[searches],
                                             bool (&found)[searches]) {
  const std::uint32_t* ids = ids_of(list, slot);
  const std::uint32_t flagged = list[view_counts + slot];
  const std::uint32_t count = flagged & count_mask;
  const std::uint32_t total = count + list[view_added + slot];
  const bool changing = is_changing(warp, ids);
#pragma unroll
  for (std::uint32_t k = 0; k < searches; ++k) {
    const std::uint32_t own = offset + 32 * k + warp.lane;
    id[k] = own < count ? fetch<kind>(ids + own, changing) : none;
    found[k] = own < count;
  }
  const bool adds = offset + 32 * searches > count && total > count;
  if (adds || (flagged & minus_flag) != 0) {
#pragma unroll
    for (std::uint32_t k = 0; k < searches; ++k) {
      const std::uint32_t own = offset + 32 * k + warp.lane;
      if (own >= count && own < total) {
        id[k] = added_child(warp, depth, node, list, slot, own - count);
        found[k] = id[k] != none;
      } else if (found[k] && (flagged & minus_flag) != 0) {
        found[k] = leads_to(warp, list, slot, id[k], true);
      }
    }
  }
  return !adds;
}

// Keeps those of a group of ids that the list of a slot holds, too. Each lane has several ids, so that their loads overlap.
// `ascending`: ids ascend in the order of k and lane.
template <Kind kind, std::uint32_t searches>
__device__ __forceinline__ void search(const Warp<kind>& warp, std::uint32_t* list, std::uint32_t slot,
                                       const std::uint32_t (&id)[searches], bool (&found)[searches], bool ascending) {
  const std::uint32_t flagged = list[view_counts + slot];
  const std::uint32_t* ids = ids_of(list, slot);
  std::uint32_t n = flagged & count_mask;
  const bool changing = is_changing(warp, ids);
  if (ascending && n >= narrowed_list) {
    // Each lane looks at the last id of one of 32 pieces of the list.
    const std::uint32_t piece = (n + 31) / 32;
    const std::uint32_t last = fetch<kind>(ids + min((warp.lane + 1) * piece, n) - 1, changing);
    const std::uint32_t first_id = __shfl_sync(all_lanes, id[0], 0);
    const std::uint32_t last_id = __shfl_sync(all_lanes, id[searches - 1], 31);
    const std::uint32_t from = min(__popc(__ballot_sync(all_lanes, last < first_id)) * piece, n);
    const std::uint32_t to = min((__popc(__ballot_sync(all_lanes, last < last_id)) + 1) * piece, n);
    ids += from;
    n = to - from;
  }
  const std::uint32_t* place[searches];
#pragma unroll
  for (std::uint32_t k = 0; k < searches; ++k) place[k] = n > 0 ? ids : somewhere(warp);
  const bool empty = n == 0;
#pragma unroll 1
  while (n > 1) {
    const std::uint32_t half = n >> 1;
    std::uint32_t middle[searches];
#pragma unroll
    for (std::uint32_t k = 0; k < searches; ++k) middle[k] = fetch<kind>(place[k] + half, changing);
#pragma unroll
    for (std::uint32_t k = 0; k < searches; ++k) place[k] += middle[k] <= id[k] ? half : 0;
    n -= half;
  }
  bool here[searches];
#pragma unroll
  for (std::uint32_t k = 0; k < searches; ++k) here[k] = !empty && fetch<kind>(place[k], changing) == id[k];
  if ((flagged & (minus_flag | plus_flag)) == 0) {
#pragma unroll
    for (std::uint32_t k = 0; k < searches; ++k) found[k] = found[k] && here[k];
    return;
  }
#pragma unroll
  for (std::uint32_t k = 0; k < searches; ++k) {
    if (!found[k]) continue;
    const bool changed = (flagged & (here[k] ? minus_flag : plus_flag)) != 0;
    found[k] = changed ? leads_to(warp, list, slot, id[k], here[k]) : here[k];
  }
}

// Keeps those of a group of ids that are adjacent to none of the vertices in the conditions of an induced match. Arguments
// are as for search. Conditions that demand edges take the slow way instead.
template <Kind kind, std::uint32_t searches>
__device__ __forceinline__ void keep_apart(const Warp<kind>& warp, std::uint32_t depth, const Node& node, std::uint32_t slot,
                                           const std::uint32_t (&id)[searches], bool (&found)[searches], bool ascending) {
#pragma unroll 1
  for (std::uint32_t i = 0; i < node.joined; ++i) {
    bool there[searches];
#pragma unroll
    for (std::uint32_t k = 0; k < searches; ++k) there[k] = found[k];
    search(warp, warp.joined_view(depth, node, i), slot, id, there, ascending);
#pragma unroll
    for (std::uint32_t k = 0; k < searches; ++k) found[k] = found[k] && !there[k];
  }
}

// --- the slow way ---

// The list in the place of a slot.
__device__ inline View stored(std::uint32_t* list, std::uint32_t slot) {
  return {ids_of(list, slot), list[view_counts + slot] & count_mask, list[view_slices + slot]};
}

// Whether a child has exactly the edges to earlier vertices that an induced match demands.
template <Kind kind>
__device__ __noinline__ bool joined_so(const Warp<kind>& warp, std::uint32_t depth, const Node& node, std::uint32_t slot,
                                       std::uint32_t id) {
#pragma unroll 1
  for (std::uint32_t i = 0; i < node.joined; ++i) {
    std::uint32_t* list = warp.joined_view(depth, node, i);
    if (entries_to({ids_of(list, slot), list[view_counts + slot], none}, id) != warp.work.joined[node.first_joined + i].edges) {
      return false;
    }
  }
  return true;
}

struct Probed {
  std::uint32_t vertex;
  std::uint32_t ways;  // 0: not admitted, or the child is found at another entry
};

// The entry of the chosen list at an offset. If several entries lead to one vertex, the child is found at the first.
template <Kind kind>
__device__ __noinline__ Probed slow_first(Warp<kind>& warp, std::uint32_t depth, const Node& node, std::uint32_t slot,
                                          std::uint32_t q, std::uint32_t offset) {
  const std::uint32_t parent = depth - 1;
  const Probe probe = warp.work.probes[node.first_probe + q];
  std::uint32_t* const place = warp.view(depth, q);
  const View list = stored(place, slot);
  const DeviceQueryRelation& where = warp.work.graph.query_relations[probe.query_relation];
  const Store& store = warp.work.graph.stores[where.store];
  const bool stable = offset < list.count;
  Probed child{0, 0};
  if (stable) {
    child.vertex = list.ids[offset];
    if (where.parallel && offset > 0 && list.ids[offset - 1] == child.vertex) return child;
  } else {
    const std::uint32_t* added = store.added + (store.slices[list.slice + 1].added_begin - place[view_added + slot]);
    const std::uint32_t j = offset - list.count;
    child.vertex = added[j];
    if (where.parallel && j > 0 && added[j - 1] == child.vertex) return child;
    if (!within(warp, depth, slot, node, child.vertex)) return child;
  }
  const Anchor anchor = anchor_of(warp, parent, slot);
  const std::uint32_t owner = vertex_at(warp, parent, slot, probe.position);
  if (!where.derived) {
    child.ways = list.slice == none || !stable || leads_to(warp, place, slot, child.vertex, true) ? 1 : 0;
    return child;
  }
  // If the batch adds and removes entries to one vertex, the child is found at the first that stays. If none stays, it is
  // found at the first that is added.
  const std::uint32_t capacity = list.count > 0 ? store.rows[owner].capacity : 0;
  bool stands = false;
#pragma unroll 1
  for (std::uint32_t i = stable ? offset : lower_bound(list.ids, list.count, child.vertex);
       i < list.count && list.ids[i] == child.vertex && !stands; ++i) {
    stands = stays(warp, store, list, child.vertex, list.ids[i + capacity], anchor, owner, probe.inclusive);
  }
  if (stands == stable) child.ways = multiplicity(warp, probe, list, owner, child.vertex, anchor);
  return child;
}

// Child number `at`, the slow way. It may stand for several parallel entries, or its lists are changed and tagged.
template <Kind kind>
__device__ __noinline__ Child slow_child(Warp<kind>& warp, std::uint32_t depth, const Node& node, std::uint32_t at,
                                         std::uint32_t total) {
  Child child{false, 0, 0, 1};
  if (at >= total) return child;
  const std::uint32_t* starts = warp.prefix(depth);
  const std::uint32_t slot = slot_of(starts, at);
  child.slot = slot;
  const std::uint32_t q = warp.chosen(depth)[slot];
  const Probed first = slow_first(warp, depth, node, slot, q, at - starts[slot]);
  if (first.ways == 0) return child;
  child.vertex = first.vertex;
  const bool weighted = kind.sums && warp.program().weighted != 0;  // else steps for edges tell them apart later
  if (weighted) child.ways = first.ways;
  bool overflows = false;
  const std::uint32_t lists = lists_of(warp, depth, node);
  const std::uint32_t distinct = distinct_of(warp, depth, node);
#pragma unroll 1
  for (std::uint32_t i = 0; i < distinct; ++i) {
    if (warp.apart(depth, node.probes, i)[slot] == child.vertex) return child;
  }
#pragma unroll 1
  for (std::uint32_t p = 0; p < lists; ++p) {
    if (p == q) continue;
    const Probe probe = warp.work.probes[node.first_probe + p];
    const std::uint32_t parallel =
        multiplicity(warp, probe, stored(warp.view(depth, p), slot), vertex_at(warp, depth - 1, slot, probe.position),
                     child.vertex, anchor_of(warp, depth - 1, slot));
    if (parallel == 0) return child;
    if (!weighted) continue;
    overflows = overflows || __umulhi(child.ways, parallel) != 0;
    child.ways *= parallel;
  }
  if (overflows) warp.overflow = true;
  child.found = kind.sums || joined_so(warp, depth, node, slot, child.vertex);
  return child;
}

}  // namespace deltamatch::gpu::device
