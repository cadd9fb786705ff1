// Candidates that are only counted.
#pragma once

#include "gpu/loops/warp_sharing.cuh"

namespace deltamatch::gpu::device {

// Searches that a lane runs at once.
inline constexpr std::uint32_t searches = 4;
// Counting a list of at least this length takes long enough to be given away.
inline constexpr std::uint32_t heavy_list = 1024;
// Candidates counted the slow way between two checks for a stop.
inline constexpr std::uint32_t slow_between_looks = 1U << 14;

// Counts the candidates of one partial match that this lane finds in its share of the shortest list.
template <Kind kind>
__device__ std::uint32_t count_one(Warp<kind>& warp, std::uint32_t depth, const Node& node, std::uint32_t slot) {
  const std::uint32_t q = warp.chosen(depth)[slot];
  std::uint32_t* const list = warp.view(depth, q);
  const std::uint32_t total = (list[view_counts + slot] & count_mask) + list[view_added + slot];
  const std::uint32_t lists = lists_of(warp, depth, node);
  const std::uint32_t distinct = distinct_of(warp, depth, node);
  std::uint32_t hits = 0;
#pragma unroll 1
  for (std::uint32_t at = 0; at < total; at += 32 * searches) {
    std::uint32_t id[searches];
    bool found[searches];
    const bool ascending = read_entries(warp, depth, node, list, slot, at, id, found);
#pragma unroll 1
    for (std::uint32_t i = 0; i < distinct; ++i) {
      const std::uint32_t other = warp.apart(depth, node.probes, i)[slot];
#pragma unroll
      for (std::uint32_t k = 0; k < searches; ++k) found[k] = found[k] && id[k] != other;
    }
#pragma unroll 1
    for (std::uint32_t p = 0; p < lists; ++p) {
      if (p != q) search(warp, warp.view(depth, p), slot, id, found, ascending);
    }
    if (!kind.sums && node.joined != 0) keep_apart(warp, depth, node, slot, id, found, ascending);
#pragma unroll
    for (std::uint32_t k = 0; k < searches; ++k) hits += found[k] ? 1 : 0;
  }
  return hits;
}

// Counts the candidates of the partial matches in `wide`, one match after the other. Idle warps may take some of them.
template <Kind kind>
__device__ __noinline__ std::uint32_t count_wide(Warp<kind>& warp, std::uint32_t depth, const Node& node, unsigned wide) {
  std::uint32_t hits = 0;
#pragma unroll 1
  for (; wide != 0; wide &= wide - 1) {
    if (__popc(wide) > 1 && time_to_look(warp)) {
      const std::uint32_t size = (wide >> warp.lane & 1U) != 0
                                     ? warp.view(depth, warp.chosen(depth)[warp.lane])[view_counts + warp.lane] & count_mask
                                     : 0;
      const unsigned heavy = __ballot_sync(all_lanes, size >= heavy_list);
      if (__popc(heavy) > 1) wide &= ~heavy | donate_partials(warp, heavy);
    }
    if (is_outdated(warp)) look_up_again(warp, depth, node, Aim::count, wide);
    const auto slot = static_cast<std::uint32_t>(__ffs(static_cast<int>(wide)) - 1);
    const std::uint32_t own = count_one(warp, depth, node, slot);
    if (!kind.sums) {
      hits += own;
    } else {
      const std::uint32_t all = __reduce_add_sync(all_lanes, own);
      if (warp.lane == slot) hits = all;
    }
  }
  return hits;
}

// Does the same as count_candidates, for lists that need the slow way.
template <Kind kind>
__device__ __noinline__ void count_slow(Warp<kind>& warp, std::uint32_t depth, const Node& node, std::uint32_t total) {
  if (kind.sums) {
    warp.sums_of(depth)[warp.lane] = 0;
    __syncwarp();
  }
#pragma unroll 1
  for (std::uint32_t at = 0; at < total; at += 32) {
    if (at % slow_between_looks == 0 && at > 0 && stop_is_set(warp)) {
      warp.stopped = true;
      break;
    }
    const Child found = slow_child(warp, depth, node, at + warp.lane, total);
    if (!kind.sums) {
      warp.total += found.found ? 1 : 0;
    } else if (found.found) {
      add_shared(warp, &warp.sums_of(depth)[found.slot], found.ways);
    }
  }
  __syncwarp();
  if (kind.sums && warp.lane < warp.header(warp.depth).batch) {
    warp.products(warp.depth)[warp.lane] =
        multiply(warp, warp.products(warp.depth)[warp.lane], binomial(warp, warp.sums_of(depth)[warp.lane], node.choose));
  }
  __syncwarp();
}

// Counts by the length of a single list, one list per lane. Returns false if the length does not suffice.
template <Kind kind>
__device__ __noinline__ bool count_lists(Warp<kind>& warp, const Node& node) {
  if (node.probes != 1 || node.joined != 0) return false;
  const Probe probe = warp.work.probes[node.first_probe];
  const DeviceQueryRelation& where = warp.work.graph.query_relations[probe.query_relation];
  if (where.parallel || where.derived || (warp.program().ordered && (node.above | node.below) != 0)) return false;
  const bool active = warp.lane < warp.header(warp.depth).batch && !(kind.sums && warp.products(warp.depth)[warp.lane] == 0);
  const unsigned looking = __ballot_sync(all_lanes, active);
  const std::uint32_t owner = active ? vertex_at(warp, warp.depth, warp.lane, probe.position) : 0;
  const bool first = active && leads(warp, looking, owner);
  open_ring(warp, node);  // reading a length is cheaper than copying a list
  if (active) {
    const View list = look_up(warp, probe.query_relation, owner, first);
    const Anchor anchor = anchor_of(warp, warp.depth, warp.lane);
    std::uint32_t size = list.count;
    if (list.slice != none) {
      const Changes changes = changes_of(warp, probe, list.slice, owner, anchor);
      size += changes.added;
      size -= changes.removed;
    }
    const std::uint8_t* positions = warp.work.positions + node.first_position;
#pragma unroll 1
    for (std::uint32_t i = 0; i < node.distinct; ++i) {
      size -= multiplicity(warp, probe, list, owner, vertex_at(warp, warp.depth, warp.lane, positions[i]), anchor);
    }
    if (kind.sums) {
      warp.products(warp.depth)[warp.lane] =
          multiply(warp, warp.products(warp.depth)[warp.lane], binomial(warp, size, node.choose));
    } else {
      warp.total += size;
    }
  }
  close_ring(warp);
  __syncwarp();
  return true;
}
// Multiplies the products by the number of a node's candidates. Without sums, adds that number to the total.
template <Kind kind>
__device__ __noinline__ void count_candidates(Warp<kind>& warp, const Node& node) {
  if (count_lists(warp, node)) return;
  const std::uint32_t depth = warp.depth + 1;
  unsigned wide = 0;
  open_ring(warp, node);
  const std::uint32_t total = expand(warp, depth, node, Aim::count, wide);
  if (warp.header(depth).slow != 0) {  // then the ring is not read
    count_slow(warp, depth, node, total);
    return;
  }
  // With sums, candidates of this lane's partial match; otherwise, candidates that this lane finds.
  std::uint32_t hits = 0;
  [[maybe_unused]] const std::uint32_t begin = warp.prefix(depth)[warp.lane];
  [[maybe_unused]] const std::uint32_t end = warp.prefix(depth)[warp.lane + 1];
#pragma unroll 1
  for (std::uint32_t at = 0; at < total; at += 64) {
    const std::uint32_t places = read_children(warp, depth, node, at + warp.lane, total).places >> 16;
    if constexpr (kind.sums) {
#pragma unroll
      for (std::uint32_t k = 0; k < 2; ++k) {
        const unsigned found = __ballot_sync(all_lanes, (places >> k & 1U) != 0);
        const std::uint32_t from = at + 32 * k;
        hits += __popc(found & numbered_below(end, from) & ~numbered_below(begin, from));
      }
    } else {
      hits += __popc(places);
    }
  }
  if (wide != 0) hits += count_wide(warp, depth, node, wide);
  close_ring(warp);
  if (!kind.sums) {
    warp.total += hits;
  } else if (warp.lane < warp.header(warp.depth).batch) {
    warp.products(warp.depth)[warp.lane] =
        multiply(warp, warp.products(warp.depth)[warp.lane], binomial(warp, hits, node.choose));
  }
  __syncwarp();
}

}  // namespace deltamatch::gpu::device
