// How partial matches grow: fourth layer of the matching kernel.
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

template <bool sums, bool in_shared, bool reuses>
class Extension : public Searches<sums, in_shared, reuses> {
 protected:
  using Base = Searches<sums, in_shared, reuses>;
  using Base::added_child;
  using Base::apart;
  using Base::Base;
  using Base::chosen;
  using Base::depth_;
  using Base::distinct_of;
  using Base::entries;
  using Base::fetch;
  using Base::header;
  using Base::homes;
  using Base::ids_of;
  using Base::is_cut;
  using Base::joined_so;
  using Base::joined_view;
  using Base::keep_apart;
  using Base::keeps_weights;
  using Base::lane_;
  using Base::leads;
  using Base::leads_to;
  using Base::lists_of;
  using Base::look_up;
  using Base::narrow;
  using Base::parents;
  using Base::prefix;
  using Base::products;
  using Base::put_set;
  using Base::put_view;
  using Base::reads_set;
  using Base::search;
  using Base::slot_of;
  using Base::slow_child;
  using Base::somewhere;
  using Base::vertex_at;
  using Base::vertices;
  using Base::view;
  using Base::weights;
  using Base::work_;

  // What children are searched for. A set may contain vertices that are already matched. It is cut only by order constraints
  // that all loops reading it share.
  enum class Aim : std::uint8_t { loop, count, set };

  // Looks up the lists that extend the partial matches in `slots` of the batch at `depth` - 1. Fills views, chosen and prefix.
  // Returns the number of children. If children are only counted, `wide` gets the lanes with long lists, and the number
  // excludes their children.
  __device__ __noinline__ std::uint32_t expand(std::uint32_t depth, const Node& node, Aim aim, unsigned& wide,
                                               unsigned slots = all_lanes) {
    __syncwarp();  // the frame may still be read
    const std::uint32_t parent = depth - 1;
    bool active = lane_ < header(parent).batch;
    if constexpr (reuses) active = active && (slots >> lane_ & 1U) != 0;
    if (sums && active) active = products(parent)[lane_] != 0;
    std::uint32_t least = active ? none : 0;
    std::uint32_t best = 0;
    bool slow = false;
    const bool reads = reads_set(node);
    const std::uint32_t lists = reads ? node.rest + 1U : node.probes;
#pragma unroll 1
    for (std::uint32_t p = 0; p < lists; ++p) {
      std::uint32_t* into = view(depth, p);
      std::uint32_t size = 0;
      if (reads && p == node.rest) {
        size = put_set(into, node.base, parent, least != 0);
      } else {
        const Probe probe = work_.probes[node.first_probe + p];
        View list{nullptr, 0, none};
        const unsigned looking = __ballot_sync(all_lanes, least != 0);
        if (least != 0) {
          const std::uint32_t owner = vertex_at(parent, lane_, probe.position);
          list = look_up(probe.reading, owner, leads(looking, owner));
        }
        size = put_view(into, probe, list, parent);
      }
      slow = slow || (into[view_counts + lane_] & slow_flag) != 0;
      if (size < least) {
        least = size;
        best = p;
      }
    }
    if (!sums && node.joined != 0) slow = look_up_joined(depth, node, least != 0) || slow;
    std::uint32_t children = least;
    const bool uncut = reuses && aim == Aim::set && node.uncut != 0;
    if (children > 0 && is_cut(node) && !uncut) children = narrow(depth, node, best);
    chosen(depth)[lane_] = static_cast<std::uint8_t>(best);
    if (active) {
#pragma unroll 1
      for (std::uint32_t i = 0; i < node.distinct; ++i) {
        apart(depth, node.probes, i)[lane_] = vertex_at(parent, lane_, work_.positions[node.first_position + i]);
      }
    }
    slow = __any_sync(all_lanes, slow);
    if (lane_ == 0) {
      Header& own = header(depth);
      own.slow = slow ? 1 : 0;
      if constexpr (reuses) {
        own.lists = static_cast<std::uint8_t>(lists);
        own.distinct = aim == Aim::set ? 0 : node.distinct;
        own.uncut = uncut ? 1 : 0;
      }
    }
    const bool alone = aim == Aim::count && children >= wide_list && !slow;
    wide = __ballot_sync(all_lanes, alone);
    return number(depth, alone ? 0 : children);
  }

  // Numbers the children of all lanes, one lane after the other. Returns how many there are.
  __device__ std::uint32_t number(std::uint32_t depth, std::uint32_t children) {
    std::uint32_t before = children;
#pragma unroll 1
    for (unsigned offset = 1; offset < 32; offset *= 2) {
      const std::uint32_t other = __shfl_up_sync(all_lanes, before, offset);
      if (lane_ >= offset) before += other;
    }
    prefix(depth)[lane_ + 1] = before;
    if (lane_ == 0) prefix(depth)[0] = 0;
    __syncwarp();
    return __shfl_sync(all_lanes, before, 31);
  }

  // Children number `at` and `at` + 32 of those that expand has numbered. Their searches run side by side. The first exists in
  // at least one lane.
  __device__ __noinline__ Children children(std::uint32_t depth, const Node& node, std::uint32_t at, std::uint32_t total) {
    Children both{};
    if (header(depth).slow != 0) {
#pragma unroll 1
      for (int k = 0; k < 2; ++k) both.put(k, slow_child(depth, node, at + 32 * k, total));
      return both;
    }
    const std::uint32_t* starts = prefix(depth);
    const std::uint32_t first = at - lane_;
    const std::uint32_t first_slot = slot_of(starts, first);
    if (min(starts[first_slot + 1], total) - first >= 64)
      return children_of(depth, node, first_slot, first - starts[first_slot]);
    Child made[2];
    std::uint32_t q[2];
#pragma unroll
    for (std::uint32_t k = 0; k < 2; ++k) {
      Child& one = made[k];
      one.found = at + 32 * k < total;
      one.ways = 1;
      const std::uint32_t own = min(at + 32 * k, total - 1);
      one.slot = slot_of(starts, own);
      q[k] = chosen(depth)[one.slot];
      std::uint32_t* list = view(depth, q[k]);
      const std::uint32_t offset = own - starts[one.slot];
      const std::uint32_t count = list[view_counts + one.slot];
      if (offset < (count & count_mask)) {
        one.vertex = fetch(ids_of(list, one.slot) + offset);
        if ((count & minus_flag) != 0) one.found = one.found && leads_to(list, one.slot, one.vertex, true);
      } else {
        one.vertex = added_child(depth, node, list, one.slot, offset - (count & count_mask));
        one.found = one.found && one.vertex != none;
      }
    }
    const std::uint32_t lists = lists_of(depth, node);
    const std::uint32_t distinct = distinct_of(depth, node);
#pragma unroll 1
    for (std::uint32_t i = 0; i < distinct; ++i) {
      const std::uint32_t* others = apart(depth, node.probes, i);
#pragma unroll
      for (auto& one : made) one.found = one.found && others[one.slot] != one.vertex;
    }
#pragma unroll 1
    for (std::uint32_t p = 0; p < lists; ++p) {
      std::uint32_t* list = view(depth, p);
      const std::uint32_t* place[2];
      std::uint32_t n[2];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        n[k] = made[k].found && p != q[k] ? list[view_counts + made[k].slot] & count_mask : 0;
        place[k] = n[k] > 0 ? ids_of(list, made[k].slot) : somewhere();
      }
      const bool empty[2] = {n[0] == 0, n[1] == 0};
#pragma unroll 1
      while (n[0] > 1 || n[1] > 1) {
        std::uint32_t middle[2];
#pragma unroll
        for (int k = 0; k < 2; ++k) middle[k] = fetch(place[k] + (n[k] >> 1));
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
        const bool here = !empty[k] && fetch(place[k]) == made[k].vertex;
        const bool changed = (list[view_counts + made[k].slot] & (here ? minus_flag : plus_flag)) != 0;
        made[k].found = changed ? leads_to(list, made[k].slot, made[k].vertex, here) : here;
      }
      if (!made[0].found && !made[1].found) break;
    }
    if (!sums && node.joined != 0) {
#pragma unroll
      for (Child& one : made) one.found = one.found && joined_so(depth, node, one.slot, one.vertex);
    }
    both.put(0, made[0]);
    both.put(1, made[1]);
    return both;
  }

  // Does the same if all children belong to one slot, from its child number `offset` on.
  __device__ __noinline__ Children children_of(std::uint32_t depth, const Node& node, std::uint32_t slot,
                                               std::uint32_t offset) {
    const std::uint32_t q = chosen(depth)[slot];
    std::uint32_t id[2];
    bool found[2];
    const bool ascending = entries(depth, node, view(depth, q), slot, offset, id, found);
    const std::uint32_t lists = lists_of(depth, node);
    const std::uint32_t distinct = distinct_of(depth, node);
#pragma unroll 1
    for (std::uint32_t i = 0; i < distinct; ++i) {
      const std::uint32_t other = apart(depth, node.probes, i)[slot];
#pragma unroll
      for (std::uint32_t k = 0; k < 2; ++k) found[k] = found[k] && id[k] != other;
    }
#pragma unroll 1
    for (std::uint32_t p = 0; p < lists; ++p) {
      if (p != q) search(view(depth, p), slot, id, found, ascending);
    }
    if (!sums && node.joined != 0) keep_apart(depth, node, slot, id, found, ascending);
    Children both{};
#pragma unroll
    for (std::uint32_t k = 0; k < 2; ++k) both.put(static_cast<int>(k), {found[k], id[k], slot, 1});
    return both;
  }

  // A mask of 32 children numbered from `from` on: those numbered below `at`.
  __device__ static unsigned below(std::uint32_t at, std::uint32_t from) {
    if (at <= from) return 0;
    return at - from >= 32 ? all_lanes : (1U << (at - from)) - 1;
  }

  // Makes the frame of a loop. `total`: children that are known already. `slots`: how many slots above still need sets.
  __device__ void push(std::uint32_t node_index, bool tail, std::uint32_t total, std::uint32_t slots = 0) {
    const std::uint32_t depth = depth_ + 1;
    if (lane_ == 0) {
      const Header& above = header(depth_);
      Header& made = header(depth);
      made.node = node_index;
      made.filled = 0;
      made.batch = 0;
      made.next = 0;
      made.total = total;
      made.running = 0;
      made.tail = tail ? 1 : 0;
      made.global = tail && above.global ? 1 : 0;
      made.base = tail ? above.base : static_cast<std::uint8_t>(depth);
      if constexpr (reuses) {
        made.kept = 0;
        made.window = 0;
        made.slots = static_cast<std::uint8_t>(slots);
      }
    }
    if (sums && !tail) Base::sums_of(depth)[lane_] = 0;
    __syncwarp();
    depth_ = depth;
  }

  // Ends a batch: what was found beyond it moves to the front.
  __device__ void shift() {
    Header& own = header(depth_);
    const std::uint32_t batch = own.batch;
    const std::uint32_t rest = own.filled - batch;
    if (lane_ < rest) {
      const std::uint32_t vertex = vertices(depth_)[batch + lane_];
      const std::uint8_t parent = parents(depth_)[batch + lane_];
      vertices(depth_)[lane_] = vertex;
      parents(depth_)[lane_] = parent;
      if (sums) {
        if (keeps_weights(depth_)) weights(depth_)[lane_] = weights(depth_)[batch + lane_];
        homes(depth_)[lane_] = homes(depth_)[batch + lane_];
      }
    }
    __syncwarp();
    if (lane_ == 0) {
      own.filled = rest;
      own.running = 0;
    }
    __syncwarp();
  }

  __device__ void keep(const Child& found, std::uint32_t slot) {
    const Header& own = header(depth_);
    vertices(depth_)[slot] = found.vertex;
    parents(depth_)[slot] = static_cast<std::uint8_t>(found.slot);
    if (!sums) return;
    const bool tail = own.tail != 0;
    const std::uint32_t parent = depth_ - 1;
    if (keeps_weights(depth_)) {
      weights(depth_)[slot] = tail ? Base::multiply(products(parent)[found.slot], found.ways) : found.ways;
    }
    if (own.global == 0) homes(depth_)[slot] = static_cast<std::uint8_t>(tail ? homes(parent)[found.slot] : found.slot);
  }

 private:
  // Fills the views for conditions of induced matches. Returns whether one of them demands edges, so that entries must be
  // counted.
  __device__ __noinline__ bool look_up_joined(std::uint32_t depth, const Node& node, bool active) {
    bool some = false;
    const unsigned looking = __ballot_sync(all_lanes, active);
#pragma unroll 1
    for (std::uint32_t i = 0; i < node.joined; ++i) {
      const Joined joined = work_.joined[node.first_joined + i];
      View list{nullptr, 0, none};
      if (active) {
        const std::uint32_t owner = vertex_at(depth - 1, lane_, joined.position);
        list = look_up(joined.reading, owner, leads(looking, owner));
      }
      std::uint32_t* into = joined_view(depth, node, i);
      ids_of(into, lane_) = list.ids;
      into[view_counts + lane_] = list.count;
      some = some || joined.edges > 0;
    }
    return some;
  }
};

}  // namespace deltamatch::gpu::device
