// How partial matches grow.
//
// A batch is extended in three steps:
// 1. Every lane looks up the lists of its own partial match and chooses the shortest.
// 2. The 32 lanes together read the children of the whole batch, one list after the other.
// 3. They search each child in the other lists. A ballot keeps those that are found.
//
// So lanes are busy for short lists and for long ones, and no memory depends on a degree.
#pragma once

#include "gpu/loops/warp_searches.cuh"

namespace deltamatch::gpu::device {

// Candidates in lists of at least this length are counted list by list, by all lanes together.
inline constexpr std::uint32_t wide_list = 24;

// Two children of a lane. Passed by value, so that they are returned in registers.
struct Children {
  std::uint32_t vertex[2];
  std::uint32_t ways[2];
  std::uint32_t places;  // two bytes of slots, then two bits: found or not

  __device__ void put(int k, const Child& child) {
    vertex[k] = child.vertex;
    ways[k] = child.ways;
    places |= child.slot << (8 * k) | (child.found ? 1U : 0U) << (16 + k);
  }
  __device__ Child get(int k) const {
    return {(places >> (16 + k) & 1U) != 0, k == 0 ? vertex[0] : vertex[1], places >> (8 * k) & 0xffU,
            k == 0 ? ways[0] : ways[1]};
  }
};

// What children are searched for. A set may contain vertices that are already matched. It is cut only by order constraints
// that all loops reading it share.
enum class Aim : std::uint8_t { loop, count, set };

// Fills the views for conditions of induced matches. Returns whether one of them demands edges, so that entries must be
// counted.
template <Kind kind>
__device__ __noinline__ bool look_up_joined(Warp<kind>& warp, std::uint32_t depth, const Node& node, bool active) {
  bool some = false;
  const unsigned looking = __ballot_sync(all_lanes, active);
#pragma unroll 1
  for (std::uint32_t i = 0; i < node.joined; ++i) {
    const Joined joined = warp.work.joined[node.first_joined + i];
    View list{nullptr, 0, none};
    if (active) {
      const std::uint32_t owner = vertex_at(warp, depth - 1, warp.lane, joined.position);
      list = look_up(warp, joined.query_relation, owner, leads(warp, looking, owner));
    }
    std::uint32_t* into = warp.joined_view(depth, node, i);
    ids_of(into, warp.lane) = list.ids;
    into[view_counts + warp.lane] = list.count;
    some = some || joined.edges > 0;
  }
  return some;
}

// Numbers the children of all lanes, one lane after the other. Returns how many there are.
template <Kind kind>
__device__ std::uint32_t number_children(Warp<kind>& warp, std::uint32_t depth, std::uint32_t children) {
  std::uint32_t before = children;
#pragma unroll 1
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const std::uint32_t other = __shfl_up_sync(all_lanes, before, offset);
    if (warp.lane >= offset) before += other;
  }
  warp.prefix(depth)[warp.lane + 1] = before;
  if (warp.lane == 0) warp.prefix(depth)[0] = 0;
  __syncwarp();
  return __shfl_sync(all_lanes, before, 31);
}

// Looks up the lists that extend the partial matches in `slots` of the batch at `depth` - 1. Fills views, chosen and prefix.
// Returns the number of children. If children are only counted, `wide` gets the lanes with long lists, and the number
// excludes their children.
template <Kind kind>
__device__ __noinline__ std::uint32_t expand(Warp<kind>& warp, std::uint32_t depth, const Node& node, Aim aim, unsigned& wide,
                                             unsigned slots = all_lanes) {
  __syncwarp();  // the frame may still be read
  const std::uint32_t parent = depth - 1;
  bool active = warp.lane < warp.header(parent).batch;
  if constexpr (kind.reuses) active = active && (slots >> warp.lane & 1U) != 0;
  if (kind.sums && active) active = warp.products(parent)[warp.lane] != 0;
  std::uint32_t least = active ? none : 0;
  std::uint32_t best = 0;
  if constexpr (kind.fills) warp.found_place = false;
  bool slow = false;
  const bool reads = reads_set(warp, node);
  const std::uint32_t lists = reads ? node.rest + 1U : node.probes;
#pragma unroll 1
  for (std::uint32_t p = 0; p < lists; ++p) {
    std::uint32_t* into = warp.view(depth, p);
    std::uint32_t size = 0;
    if (reads && p == node.rest) {
      size = put_set(warp, into, node.base, parent, least != 0);
    } else {
      const Probe probe = warp.work.probes[node.first_probe + p];
      View list{nullptr, 0, none};
      const unsigned looking = __ballot_sync(all_lanes, least != 0);
      const std::uint32_t owner = least != 0 ? vertex_at(warp, parent, warp.lane, probe.position) : 0;
      const bool first = least != 0 && leads(warp, looking, owner);
      fill_ring(warp, owner, first);
      if (least != 0) list = look_up(warp, probe.query_relation, owner, first);
      size = put_view(warp, into, probe, list, parent);
    }
    slow = slow || (into[view_counts + warp.lane] & slow_flag) != 0;
    if (size < least) {
      least = size;
      best = p;
    }
  }
  if (!kind.sums && node.joined != 0) slow = look_up_joined(warp, depth, node, least != 0) || slow;
  std::uint32_t children = least;
  const bool uncut = kind.reuses && aim == Aim::set && node.uncut != 0;
  if (children > 0 && is_cut(warp, node) && !uncut) children = cut_to_bounds(warp, depth, node, best);
  warp.chosen(depth)[warp.lane] = static_cast<std::uint8_t>(best);
  if (active) {
#pragma unroll 1
    for (std::uint32_t i = 0; i < node.distinct; ++i) {
      warp.apart(depth, node.probes, i)[warp.lane] =
          vertex_at(warp, parent, warp.lane, warp.work.positions[node.first_position + i]);
    }
  }
  slow = __any_sync(all_lanes, slow);
  [[maybe_unused]] const bool in_ring = kind.fills && __any_sync(all_lanes, warp.found_place);
  if (warp.lane == 0) {
    Header& own = warp.header(depth);
    if constexpr (kind.fills) {
      own.in_ring = in_ring ? 1 : 0;
      own.ring_segment = warp.ring_segment;
    }
    own.slow = slow ? 1 : 0;
    if constexpr (kind.reuses) {
      own.lists = static_cast<std::uint8_t>(lists);
      own.distinct = aim == Aim::set ? 0 : node.distinct;
      own.uncut = uncut ? 1 : 0;
    }
  }
  const bool alone = aim == Aim::count && children >= wide_list && !slow;
  wide = __ballot_sync(all_lanes, alone);
  return number_children(warp, depth, alone ? 0 : children);
}

// Whether all views of these slots that lie in the ring are still where they were found.
//
// Let n be the segment that was filled when they were looked up. What was found then is not overwritten before segment
// n + segments_ahead is filled. Since the warp announced its epoch, at most segments_ahead - 1 more segments can be filled. So
// if n is still the segment that is filled, all views hold. Otherwise they hold if their vertices have the same places as
// before. A place that looks the same is the same, if segment n + segments_ahead is still not filled afterwards.
template <Kind kind>
__device__ bool views_hold(const Warp<kind>& warp, std::uint32_t depth, const Node& node, unsigned slots) {
  const std::uint32_t then = warp.header(depth).ring_segment;
  if (warp.ring_segment == then) return true;
  const std::uint32_t parent = depth - 1;
  const bool active = warp.lane < warp.header(parent).batch && (slots >> warp.lane & 1U) != 0;
  const std::uint32_t lists = reads_set(warp, node) ? node.rest : node.probes;
  bool hold = warp.ring_segment - then < warp.work.graph.ring.segments_ahead;
#pragma unroll 1
  for (std::uint32_t p = 0; hold && p < lists; ++p) {
    const std::uint32_t* ids = ids_of(warp.view(depth, p), warp.lane);
    if (!active || !in_ring(warp, ids)) continue;
    const Probe probe = warp.work.probes[node.first_probe + p];
    hold = is_place_of(warp, vertex_at(warp, parent, warp.lane, probe.position), ids);
  }
  return __all_sync(all_lanes, hold && segment_now(warp) - then < warp.work.graph.ring.segments_ahead);
}

// Lets a frame go on reading its views of these slots. If lists have left the ring, looks all up again. Their numbers and
// lengths are as before. Nothing is copied again.
template <Kind kind>
__device__ __noinline__ void look_up_again(Warp<kind>& warp, std::uint32_t depth, const Node& node, Aim aim, unsigned slots) {
  if constexpr (kind.fills) {
    if (warp.header(depth).in_ring == 0) return;
    open_ring(warp, node);
    if (views_hold(warp, depth, node, slots)) {
      __syncwarp();
      if (warp.lane == 0) warp.header(depth).ring_segment = warp.ring_segment;
      __syncwarp();
      return;
    }
    const unsigned long long hits = warp.hits;
    unsigned wide = 0;
    warp.copies = false;
    expand(warp, depth, node, aim, wide, slots);
    warp.copies = true;
    warp.hits = hits;  // only misses count again
  }
}

// The next two children of each lane, all of one slot, from its child number `offset` on.
template <Kind kind>
__device__ __noinline__ Children children_of_one(Warp<kind>& warp, std::uint32_t depth, const Node& node, std::uint32_t slot,
                                                 std::uint32_t offset) {
  const std::uint32_t q = warp.chosen(depth)[slot];
  std::uint32_t id[2];
  bool found[2];
  const bool ascending = read_entries(warp, depth, node, warp.view(depth, q), slot, offset, id, found);
  const std::uint32_t lists = lists_of(warp, depth, node);
  const std::uint32_t distinct = distinct_of(warp, depth, node);
#pragma unroll 1
  for (std::uint32_t i = 0; i < distinct; ++i) {
    const std::uint32_t other = warp.apart(depth, node.probes, i)[slot];
#pragma unroll
    for (std::uint32_t k = 0; k < 2; ++k) found[k] = found[k] && id[k] != other;
  }
#pragma unroll 1
  for (std::uint32_t p = 0; p < lists; ++p) {
    if (p != q) search(warp, warp.view(depth, p), slot, id, found, ascending);
  }
  if (!kind.sums && node.joined != 0) keep_apart(warp, depth, node, slot, id, found, ascending);
  Children both{};
#pragma unroll
  for (std::uint32_t k = 0; k < 2; ++k) both.put(static_cast<int>(k), {found[k], id[k], slot, 1});
  return both;
}

// Children number `at` and `at` + 32 of those that expand has numbered. Their searches run side by side. The first exists in
// at least one lane.
template <Kind kind>
__device__ __noinline__ Children read_children(Warp<kind>& warp, std::uint32_t depth, const Node& node, std::uint32_t at,
                                               std::uint32_t total) {
  Children both{};
  if (warp.header(depth).slow != 0) {
#pragma unroll 1
    for (int k = 0; k < 2; ++k) both.put(k, slow_child(warp, depth, node, at + 32 * k, total));
    return both;
  }
  const std::uint32_t* starts = warp.prefix(depth);
  const std::uint32_t first = at - warp.lane;
  const std::uint32_t first_slot = slot_of(starts, first);
  if (min(starts[first_slot + 1], total) - first >= 64)
    return children_of_one(warp, depth, node, first_slot, first - starts[first_slot]);
  Child made[2];
  std::uint32_t q[2];
#pragma unroll
  for (std::uint32_t k = 0; k < 2; ++k) {
    Child& one = made[k];
    one.found = at + 32 * k < total;
    one.ways = 1;
    const std::uint32_t own = min(at + 32 * k, total - 1);
    one.slot = slot_of(starts, own);
    q[k] = warp.chosen(depth)[one.slot];
    std::uint32_t* list = warp.view(depth, q[k]);
    const std::uint32_t offset = own - starts[one.slot];
    const std::uint32_t count = list[view_counts + one.slot];
    if (offset < (count & count_mask)) {
      const std::uint32_t* ids = ids_of(list, one.slot);
      one.vertex = fetch<kind>(ids + offset, is_changing(warp, ids));
      if ((count & minus_flag) != 0) one.found = one.found && leads_to(warp, list, one.slot, one.vertex, true);
    } else {
      one.vertex = added_child(warp, depth, node, list, one.slot, offset - (count & count_mask));
      one.found = one.found && one.vertex != none;
    }
  }
  const std::uint32_t lists = lists_of(warp, depth, node);
  const std::uint32_t distinct = distinct_of(warp, depth, node);
#pragma unroll 1
  for (std::uint32_t i = 0; i < distinct; ++i) {
    const std::uint32_t* others = warp.apart(depth, node.probes, i);
#pragma unroll
    for (auto& one : made) one.found = one.found && others[one.slot] != one.vertex;
  }
#pragma unroll 1
  for (std::uint32_t p = 0; p < lists; ++p) {
    std::uint32_t* list = warp.view(depth, p);
    const std::uint32_t* place[2];
    std::uint32_t n[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      n[k] = made[k].found && p != q[k] ? list[view_counts + made[k].slot] & count_mask : 0;
      place[k] = n[k] > 0 ? ids_of(list, made[k].slot) : somewhere(warp);
    }
    const bool empty[2] = {n[0] == 0, n[1] == 0};
    const bool changing[2] = {is_changing(warp, place[0]), is_changing(warp, place[1])};
#pragma unroll 1
    while (n[0] > 1 || n[1] > 1) {
      std::uint32_t middle[2];
#pragma unroll
      for (int k = 0; k < 2; ++k) middle[k] = fetch<kind>(place[k] + (n[k] >> 1), changing[k]);
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const std::uint32_t half = n[k] >> 1;
        if (middle[k] <= made[k].vertex) place[k] += half;
        n[k] -= half;
      }
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (!made[k].found || p == q[k]) continue;
      const bool here = !empty[k] && fetch<kind>(place[k], changing[k]) == made[k].vertex;
      const bool changed = (list[view_counts + made[k].slot] & (here ? minus_flag : plus_flag)) != 0;
      made[k].found = changed ? leads_to(warp, list, made[k].slot, made[k].vertex, here) : here;
    }
    if (!made[0].found && !made[1].found) break;
  }
  if (!kind.sums && node.joined != 0) {
#pragma unroll
    for (Child& one : made) one.found = one.found && joined_so(warp, depth, node, one.slot, one.vertex);
  }
  both.put(0, made[0]);
  both.put(1, made[1]);
  return both;
}

// A mask of 32 children numbered from `from` on: those numbered below `at`.
__device__ inline unsigned numbered_below(std::uint32_t at, std::uint32_t from) {
  if (at <= from) return 0;
  return at - from >= 32 ? all_lanes : (1U << (at - from)) - 1;
}

// Makes the frame of a loop. `total`: children that are known already. `slots`: how many slots above still need sets.
template <Kind kind>
__device__ void push_frame(Warp<kind>& warp, std::uint32_t node_index, bool tail, std::uint32_t total,
                           std::uint32_t slots = 0) {
  const std::uint32_t depth = warp.depth + 1;
  if (warp.lane == 0) {
    const Header& above = warp.header(warp.depth);
    Header& made = warp.header(depth);
    made.node = node_index;
    made.filled = 0;
    made.batch = 0;
    made.next = 0;
    made.total = total;
    made.running = 0;
    made.tail = tail ? 1 : 0;
    made.global = tail && above.global ? 1 : 0;
    made.base = tail ? above.base : static_cast<std::uint8_t>(depth);
    if constexpr (kind.reuses) {
      made.kept = 0;
      made.window = 0;
      made.slots = static_cast<std::uint8_t>(slots);
    }
  }
  if (kind.sums && !tail) warp.sums_of(depth)[warp.lane] = 0;
  __syncwarp();
  warp.depth = depth;
}

// Ends a batch: what was found beyond it moves to the front.
template <Kind kind>
__device__ void end_batch(Warp<kind>& warp) {
  Header& own = warp.header(warp.depth);
  const std::uint32_t batch = own.batch;
  const std::uint32_t rest = own.filled - batch;
  if (warp.lane < rest) {
    const std::uint32_t vertex = warp.vertices(warp.depth)[batch + warp.lane];
    const std::uint8_t parent = warp.parents(warp.depth)[batch + warp.lane];
    warp.vertices(warp.depth)[warp.lane] = vertex;
    warp.parents(warp.depth)[warp.lane] = parent;
    if (kind.sums) {
      if (warp.keeps_weights(warp.depth)) warp.weights(warp.depth)[warp.lane] = warp.weights(warp.depth)[batch + warp.lane];
      warp.homes(warp.depth)[warp.lane] = warp.homes(warp.depth)[batch + warp.lane];
    }
  }
  __syncwarp();
  if (warp.lane == 0) {
    own.filled = rest;
    own.running = 0;
  }
  __syncwarp();
}

// Adds a child to the frame, as the partial match in a slot.
template <Kind kind>
__device__ void keep_child(Warp<kind>& warp, const Child& found, std::uint32_t slot) {
  const Header& own = warp.header(warp.depth);
  warp.vertices(warp.depth)[slot] = found.vertex;
  warp.parents(warp.depth)[slot] = static_cast<std::uint8_t>(found.slot);
  if (!kind.sums) return;
  const bool tail = own.tail != 0;
  const std::uint32_t parent = warp.depth - 1;
  if (warp.keeps_weights(warp.depth)) {
    warp.weights(warp.depth)[slot] = tail ? multiply(warp, warp.products(parent)[found.slot], found.ways) : found.ways;
  }
  if (own.global == 0)
    warp.homes(warp.depth)[slot] = static_cast<std::uint8_t>(tail ? warp.homes(parent)[found.slot] : found.slot);
}

}  // namespace deltamatch::gpu::device
