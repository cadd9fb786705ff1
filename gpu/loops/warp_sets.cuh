// Sets that deeper loops read again: fifth layer of the matching kernel.
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

template <bool sums, bool in_shared, bool reuses>
class Sets : public Extension<sums, in_shared, reuses> {
 protected:
  using Base = Extension<sums, in_shared, reuses>;
  using Base::Base;
  using Base::below;
  using Base::chosen;
  using Base::depth_;
  using Base::expand;
  using Base::header;
  using Base::lane_;
  using Base::number;
  using Base::prefix;
  using Base::put_ids;
  using Base::view;
  using Base::work_;
  using typename Base::Aim;

  // Finds the sets of the next slots above the frame. If the very next set is too large, looks up the lists of its children
  // instead. `longest`: limit of the lists that are searched for a set.
  __device__ __noinline__ void next_sets(std::uint32_t longest) {
    Header& own = header(depth_);
    const Node& node = work_.nodes[own.node];
    const std::uint32_t first = own.window;
    unsigned wide = 0;
    std::uint32_t total = expand(depth_, node, Aim::set, wide, below(own.slots, 0) & ~below(first, 0));
    std::uint32_t end = collect(node, total, longest);
    const bool kept = end > first;
    if (!kept) {
      total = expand(depth_, node, Aim::loop, wide, 1U << first);
      end = first + 1;
    }
    if (lane_ == 0) {
      own.kept = kept ? 1 : 0;
      own.window = static_cast<std::uint8_t>(end);
      own.next = 0;
      own.total = total;
    }
    __syncwarp();
  }

  // Finds the set of the one partial match above, which is known to fit.
  __device__ void restore_set() {
    if (lane_ == 0) {
      header(depth_).window = 0;
      header(depth_).slots = 1;
    }
    __syncwarp();
    next_sets(none);
  }

 private:
  // Finds the `total` children that expand has numbered, slot by slot as long as they fit, and makes views of them. `total`
  // becomes the number of those that are the loop's own. Returns the end of those slots.
  __device__ std::uint32_t collect(const Node& node, std::uint32_t& total, std::uint32_t longest) {
    const std::uint32_t capacity = work_.set_capacity;
    std::uint32_t* set = this->set_memory(depth_);
    const std::uint32_t begin = prefix(depth_)[lane_];
    const std::uint32_t end = prefix(depth_)[lane_ + 1];
    const std::uint32_t stable = min(begin + (view(depth_, chosen(depth_)[lane_])[view_counts + lane_] & count_mask), end);
    const unsigned too_long = __ballot_sync(all_lanes, end - begin > longest);
    if (too_long != 0) total = __shfl_sync(all_lanes, begin, __ffs(static_cast<int>(too_long)) - 1);
    std::uint32_t found = 0;
    std::uint32_t hits = 0;  // found for this lane's slot
    std::uint32_t run = 0;   // those of `hits` among the stable entries
    std::uint32_t at = 0;
#pragma unroll 1
    while (at < total && found <= capacity) {
      const Children made = this->children(depth_, node, at + lane_, total);
#pragma unroll 1
      for (int k = 0; k < 2; ++k, at += 32) {
        const Child child = made.get(k);
        const unsigned some = __ballot_sync(all_lanes, child.found);
        const std::uint32_t place = found + __popc(some & ((1U << lane_) - 1));
        if (child.found && place < capacity) set[place] = child.vertex;
        const unsigned own = some & ~below(begin, at);
        found += __popc(some);
        hits += __popc(own & below(end, at));
        run += __popc(own & below(stable, at));
      }
    }
    __syncwarp();
    number(depth_, hits);
    const unsigned incomplete = __ballot_sync(all_lanes, end > min(at, total) || prefix(depth_)[lane_ + 1] > capacity);
    const std::uint32_t slots = incomplete == 0 ? header(depth_).slots : __ffs(static_cast<int>(incomplete)) - 1;
    if (lane_ >= slots) hits = 0;
    __syncwarp();
    total = number(depth_, hits);
    if (__any_sync(all_lanes, run < hits)) set = merge(set, total, min(run, hits));
    put_ids(view(depth_, own_view), set + prefix(depth_)[lane_], hits);
    put_ids(view(depth_, kept_view), set + prefix(depth_)[lane_], hits);
    chosen(depth_)[lane_] = own_view;
    if (lane_ == 0) {
      header(depth_).lists = 1;
      header(depth_).distinct = node.distinct;
    }
    __syncwarp();
    if (node.uncut != 0 && this->is_cut(node)) {
      if (hits > 0) hits = this->narrow(depth_, node, own_view);
      total = number(depth_, hits);
    }
    return slots;
  }

  // Merges the two ascending runs of each slot's set, in the other piece of memory. `run` is the length of the first run in
  // this lane's set.
  __device__ __noinline__ std::uint32_t* merge(const std::uint32_t* set, std::uint32_t total, std::uint32_t run) {
    std::uint32_t* const merged = this->set_memory(depth_) + work_.set_capacity;
    std::uint32_t* const runs = view(depth_, kept_view) + view_counts;
    const std::uint32_t* starts = prefix(depth_);
    runs[lane_] = run;
    __syncwarp();
#pragma unroll 1
    for (std::uint32_t i = lane_; i < total; i += 32) {
      const std::uint32_t slot = Base::slot_of(starts, i);
      const std::uint32_t begin = starts[slot];
      merged[begin + merged_place(set + begin, runs[slot], starts[slot + 1] - begin, i - begin)] = set[i];
    }
    __syncwarp();
    return merged;
  }
};

}  // namespace deltamatch::gpu::device
