// Sets that deeper loops read again.
//
// What a loop has found for a partial match serves as a list for the loops below it. It is shorter than the lists that it was
// found in.
//
// If its set is read again (gpu/program/set_plan.hpp), a loop first finds all of its children. It takes partial matches one
// after the other, as many as fit into a piece of device memory of the warp. The sets become the views that its own children
// and those of deeper loops are read from. After these, it goes on with the next partial matches.
//
// A set that does not fit is handled like any other loop. So is one that takes long to find, so that several warps can share
// it.
#pragma once

#include "gpu/loops/warp_extension.cuh"
#include "gpu/mirror/merged_place.hpp"

namespace deltamatch::gpu::device {

// A set is kept only if its shortest list has at most this many times the entries that fit.
inline constexpr std::uint32_t longest_search = 8;

// Merges the two ascending runs of each slot's set, in the other piece of memory. `run` is the length of the first run in
// this lane's set.
template <Kind kind>
__device__ __noinline__ std::uint32_t* merge_runs(Warp<kind>& warp, const std::uint32_t* set, std::uint32_t total,
                                                  std::uint32_t run) {
  std::uint32_t* const merged = warp.set_memory(warp.depth) + warp.work.set_capacity;
  std::uint32_t* const runs = warp.view(warp.depth, kept_view) + view_counts;
  const std::uint32_t* starts = warp.prefix(warp.depth);
  runs[warp.lane] = run;
  __syncwarp();
#pragma unroll 1
  for (std::uint32_t i = warp.lane; i < total; i += 32) {
    const std::uint32_t slot = slot_of(starts, i);
    const std::uint32_t begin = starts[slot];
    merged[begin + merged_place(set + begin, runs[slot], starts[slot + 1] - begin, i - begin)] = set[i];
  }
  __syncwarp();
  return merged;
}

// Finds the `total` children that expand has numbered, slot by slot as long as they fit, and makes views of them. `total`
// becomes the number of those that are the loop's own. Returns the end of those slots.
template <Kind kind>
__device__ std::uint32_t collect_sets(Warp<kind>& warp, const Node& node, std::uint32_t& total, std::uint32_t longest) {
  const std::uint32_t capacity = warp.work.set_capacity;
  std::uint32_t* set = warp.set_memory(warp.depth);
  const std::uint32_t begin = warp.prefix(warp.depth)[warp.lane];
  const std::uint32_t end = warp.prefix(warp.depth)[warp.lane + 1];
  const std::uint32_t stable =
      min(begin + (warp.view(warp.depth, warp.chosen(warp.depth)[warp.lane])[view_counts + warp.lane] & count_mask), end);
  const unsigned too_long = __ballot_sync(all_lanes, end - begin > longest);
  if (too_long != 0) total = __shfl_sync(all_lanes, begin, __ffs(static_cast<int>(too_long)) - 1);
  const std::uint32_t first_end = __shfl_sync(all_lanes, end, warp.header(warp.depth).window);
  std::uint32_t found = 0;
  std::uint32_t hits = 0;  // found for this lane's slot
  std::uint32_t run = 0;   // those of `hits` among the stable entries
  std::uint32_t at = 0;
#pragma unroll 1
  while (at < total && found <= capacity) {
    if (is_outdated(warp) && at >= first_end) break;
    const Children made = read_children(warp, warp.depth, node, at + warp.lane, total);
#pragma unroll 1
    for (int k = 0; k < 2; ++k, at += 32) {
      const Child child = made.get(k);
      const unsigned some = __ballot_sync(all_lanes, child.found);
      const std::uint32_t place = found + __popc(some & ((1U << warp.lane) - 1));
      if (child.found && place < capacity) set[place] = child.vertex;
      const unsigned own = some & ~numbered_below(begin, at);
      found += __popc(some);
      hits += __popc(own & numbered_below(end, at));
      run += __popc(own & numbered_below(stable, at));
    }
  }
  __syncwarp();
  number_children(warp, warp.depth, hits);
  const unsigned incomplete =
      __ballot_sync(all_lanes, end > min(at, total) || warp.prefix(warp.depth)[warp.lane + 1] > capacity);
  const std::uint32_t slots = incomplete == 0 ? warp.header(warp.depth).slots : __ffs(static_cast<int>(incomplete)) - 1;
  if (warp.lane >= slots) hits = 0;
  __syncwarp();
  total = number_children(warp, warp.depth, hits);
  if (__any_sync(all_lanes, run < hits)) set = merge_runs(warp, set, total, min(run, hits));
  put_ids(warp, warp.view(warp.depth, own_view), set + warp.prefix(warp.depth)[warp.lane], hits);
  put_ids(warp, warp.view(warp.depth, kept_view), set + warp.prefix(warp.depth)[warp.lane], hits);
  warp.chosen(warp.depth)[warp.lane] = own_view;
  if (warp.lane == 0) {
    warp.header(warp.depth).lists = 1;
    warp.header(warp.depth).distinct = node.distinct;
  }
  __syncwarp();
  if (node.uncut != 0 && is_cut(warp, node)) {
    if (hits > 0) hits = cut_to_bounds(warp, warp.depth, node, own_view);
    total = number_children(warp, warp.depth, hits);
  }
  return slots;
}

// Finds the sets of the next slots above the frame. If the very next set is too large, looks up the lists of its children
// instead. `longest`: limit of the lists that are searched for a set.
template <Kind kind>
__device__ __noinline__ void next_sets(Warp<kind>& warp, std::uint32_t longest) {
  Header& own = warp.header(warp.depth);
  const Node& node = warp.work.nodes[own.node];
  const std::uint32_t first = own.window;
  unsigned wide = 0;
  open_ring(warp, node);
  std::uint32_t total =
      expand(warp, warp.depth, node, Aim::set, wide, numbered_below(own.slots, 0) & ~numbered_below(first, 0));
  std::uint32_t end = collect_sets(warp, node, total, longest);
  close_ring(warp);
  const bool kept = end > first;
  if (!kept) {
    open_ring(warp, node);
    total = expand(warp, warp.depth, node, Aim::loop, wide, 1U << first);
    close_ring(warp);
    end = first + 1;
  }
  if (warp.lane == 0) {
    own.kept = kept ? 1 : 0;
    own.window = static_cast<std::uint8_t>(end);
    own.next = 0;
    own.total = total;
  }
  __syncwarp();
}

// Finds the set of the one partial match above, which is known to fit.
template <Kind kind>
__device__ void restore_set(Warp<kind>& warp) {
  if (warp.lane == 0) {
    warp.header(warp.depth).window = 0;
    warp.header(warp.depth).slots = 1;
  }
  __syncwarp();
  next_sets(warp, none);
}

}  // namespace deltamatch::gpu::device
