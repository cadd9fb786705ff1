// Candidates that are only counted: eighth layer of the matching kernel.
#pragma once

#include "gpu/loops/warp_sharing.cuh"

namespace deltamatch::gpu::device {

// Searches that a lane runs at once.
inline constexpr std::uint32_t searches = 4;
// Counting a list of at least this length takes long enough to be given away.
inline constexpr std::uint32_t heavy_list = 1024;
// Candidates counted the slow way between two checks for a stop.
inline constexpr std::uint32_t slow_between_looks = 1U << 14;

template <bool sums, bool in_shared, bool reuses>
class Counting : public Sharing<sums, in_shared, reuses> {
 protected:
  using Base = Sharing<sums, in_shared, reuses>;
  using Base::Base;
  using Base::depth_;
  using Base::header;
  using Base::lane_;
  using Base::products;
  using Base::total_;
  using Base::work_;

  // Multiplies the products by the number of a node's candidates. Without sums, adds that number to the total.
  __device__ __noinline__ void count(const Node& node) {
    if (count_lists(node)) return;
    const std::uint32_t depth = depth_ + 1;
    unsigned wide = 0;
    const std::uint32_t total = this->expand(depth, node, Base::Aim::count, wide);
    if (header(depth).slow != 0) {
      count_slow(depth, node, total);
      return;
    }
    // With sums, candidates of this lane's partial match; otherwise, candidates that this lane finds.
    std::uint32_t hits = wide == 0 ? 0 : count_wide(depth, node, wide);
    [[maybe_unused]] const std::uint32_t begin = this->prefix(depth)[lane_];
    [[maybe_unused]] const std::uint32_t end = this->prefix(depth)[lane_ + 1];
#pragma unroll 1
    for (std::uint32_t at = 0; at < total; at += 64) {
      const std::uint32_t places = this->children(depth, node, at + lane_, total).places >> 16;
      if constexpr (sums) {
#pragma unroll
        for (std::uint32_t k = 0; k < 2; ++k) {
          const unsigned found = __ballot_sync(all_lanes, (places >> k & 1U) != 0);
          const std::uint32_t from = at + 32 * k;
          hits += __popc(found & Base::below(end, from) & ~Base::below(begin, from));
        }
      } else {
        hits += __popc(places);
      }
    }
    if (!sums) {
      total_ += hits;
    } else if (lane_ < header(depth_).batch) {
      products(depth_)[lane_] = this->multiply(products(depth_)[lane_], this->binomial(hits, node.choose));
    }
    __syncwarp();
  }

 private:
  // Counts the candidates of the partial matches in `wide`, one match after the other. Idle warps may take some of them.
  __device__ __noinline__ std::uint32_t count_wide(std::uint32_t depth, const Node& node, unsigned wide) {
    std::uint32_t hits = 0;
#pragma unroll 1
    for (; wide != 0; wide &= wide - 1) {
      if (__popc(wide) > 1 && this->time_to_look()) {
        const std::uint32_t size =
            (wide >> lane_ & 1U) != 0 ? this->view(depth, this->chosen(depth)[lane_])[view_counts + lane_] & count_mask : 0;
        const unsigned heavy = __ballot_sync(all_lanes, size >= heavy_list);
        if (__popc(heavy) > 1) wide &= ~heavy | this->donate_partials(heavy);
      }
      const auto slot = static_cast<std::uint32_t>(__ffs(static_cast<int>(wide)) - 1);
      const std::uint32_t own = count_one(depth, node, slot);
      if (!sums) {
        hits += own;
      } else {
        const std::uint32_t all = __reduce_add_sync(all_lanes, own);
        if (lane_ == slot) hits = all;
      }
    }
    return hits;
  }

  // Counts the candidates of one partial match that this lane finds in its share of the shortest list.
  __device__ std::uint32_t count_one(std::uint32_t depth, const Node& node, std::uint32_t slot) {
    const std::uint32_t q = this->chosen(depth)[slot];
    std::uint32_t* const list = this->view(depth, q);
    const std::uint32_t total = (list[view_counts + slot] & count_mask) + list[view_added + slot];
    const std::uint32_t lists = this->lists_of(depth, node);
    const std::uint32_t distinct = this->distinct_of(depth, node);
    std::uint32_t hits = 0;
#pragma unroll 1
    for (std::uint32_t at = 0; at < total; at += 32 * searches) {
      std::uint32_t id[searches];
      bool found[searches];
      const bool ascending = this->entries(depth, node, list, slot, at, id, found);
#pragma unroll 1
      for (std::uint32_t i = 0; i < distinct; ++i) {
        const std::uint32_t other = this->apart(depth, node.probes, i)[slot];
#pragma unroll
        for (std::uint32_t k = 0; k < searches; ++k) found[k] = found[k] && id[k] != other;
      }
#pragma unroll 1
      for (std::uint32_t p = 0; p < lists; ++p) {
        if (p != q) this->search(this->view(depth, p), slot, id, found, ascending);
      }
      if (!sums && node.joined != 0) this->keep_apart(depth, node, slot, id, found, ascending);
#pragma unroll
      for (std::uint32_t k = 0; k < searches; ++k) hits += found[k] ? 1 : 0;
    }
    return hits;
  }

  // Does the same as count, for lists that need the slow way.
  __device__ __noinline__ void count_slow(std::uint32_t depth, const Node& node, std::uint32_t total) {
    if (sums) {
      this->sums_of(depth)[lane_] = 0;
      __syncwarp();
    }
#pragma unroll 1
    for (std::uint32_t at = 0; at < total; at += 32) {
      if (at % slow_between_looks == 0 && at > 0 && this->stopped()) {
        this->stopped_ = true;
        break;
      }
      const Child found = this->slow_child(depth, node, at + lane_, total);
      if (!sums) {
        total_ += found.found ? 1 : 0;
      } else if (found.found) {
        this->add_shared(&this->sums_of(depth)[found.slot], found.ways);
      }
    }
    __syncwarp();
    if (sums && lane_ < header(depth_).batch) {
      products(depth_)[lane_] =
          this->multiply(products(depth_)[lane_], this->binomial(this->sums_of(depth)[lane_], node.choose));
    }
    __syncwarp();
  }

  // Counts by the length of a single list, one list per lane. Returns false if the length does not suffice.
  __device__ __noinline__ bool count_lists(const Node& node) {
    if (node.probes != 1 || node.joined != 0) return false;
    const Probe probe = work_.probes[node.first_probe];
    const Reading& where = work_.graph.readings[probe.reading];
    if (where.parallel || where.derived || (this->program().ordered && (node.above | node.below) != 0)) return false;
    const bool active = lane_ < header(depth_).batch && !(sums && products(depth_)[lane_] == 0);
    const unsigned looking = __ballot_sync(all_lanes, active);
    if (active) {
      const std::uint32_t owner = this->vertex_at(depth_, lane_, probe.position);
      const View list = this->look_up(probe.reading, owner, this->leads(looking, owner));
      const Anchor anchor = this->anchor_of(depth_, lane_);
      std::uint32_t size = list.count;
      if (list.slice != none) {
        const Changes changes = this->changes_of(probe, list.slice, owner, anchor);
        size += changes.added;
        size -= changes.removed;
      }
      const std::uint8_t* positions = work_.positions + node.first_position;
#pragma unroll 1
      for (std::uint32_t i = 0; i < node.distinct; ++i) {
        size -= this->multiplicity(probe, list, owner, this->vertex_at(depth_, lane_, positions[i]), anchor);
      }
      if (sums) {
        products(depth_)[lane_] = this->multiply(products(depth_)[lane_], this->binomial(size, node.choose));
      } else {
        total_ += size;
      }
    }
    __syncwarp();
    return true;
  }
};

}  // namespace deltamatch::gpu::device
