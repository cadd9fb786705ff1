// How the groups of a warp take nodes from a list and reserve room for children, with one atomic operation for the warp.
#pragma once

#include <cstdint>

#include "gpu/cuda/lane_bits.hpp"

namespace deltamatch::gpu::device {

inline constexpr unsigned whole_warp = 0xffffffffU;
inline constexpr std::uint64_t no_node = ~std::uint64_t{0};

__device__ inline unsigned lane_of_warp() { return threadIdx.x % 32; }

/// A group of `lanes` neighbouring lanes of a warp. `lanes` is a power of 2, more than 1.
template <unsigned lanes>
struct Tile {
  static constexpr unsigned size = lanes;
  __device__ unsigned first() const { return lane_of_warp() / lanes * lanes; }
  __device__ unsigned mask() const { return lanes == 32 ? whole_warp : ((1U << lanes % 32) - 1) << first(); }
  __device__ unsigned rank() const { return lane_of_warp() % lanes; }
  __device__ unsigned sum(unsigned value) const { return __reduce_add_sync(mask(), value); }
  __device__ unsigned ballot(bool vote) const { return __ballot_sync(mask(), vote) >> first(); }
  __device__ void sync() const { __syncwarp(mask()); }
  template <class T>
  __device__ T from(T value, unsigned lane) const {
    return __shfl_sync(mask(), value, static_cast<int>(lane), static_cast<int>(lanes));
  }
};

template <unsigned lanes>
struct GroupOf {
  using type = Tile<lanes>;
};
template <>
struct GroupOf<1> {
  using type = Lane;
};

/// The sum of what the lanes of a warp have, in lane 0.
__device__ inline unsigned long long sum_of_warp(unsigned long long own) {
  for (int distance = 16; distance > 0; distance /= 2) own += __shfl_down_sync(whole_warp, own, distance);
  return own;
}

/// Hands out the numbers below `count`, each once over all warps. The whole warp calls take().
class NumberDispenser {
 public:
  __device__ NumberDispenser(std::uint64_t count, unsigned long long* taken) : count_(count), taken_(taken) {}

  /// Returns a number to each group that wants one, or no_node if it gets none in this round. If no group of the warp got one,
  /// none are left.
  template <class Group>
  __device__ std::uint64_t take(Group group, bool wanted) {
    constexpr unsigned groups = 32 / Group::size;
    const unsigned asking = __ballot_sync(whole_warp, wanted && group.rank() == 0);
    if (asking == 0) return no_node;
    if (next_ == end_ && end_ < count_) {
      unsigned long long first = 0;
      if (lane_of_warp() == 0) first = atomicAdd(taken_, groups);
      first = __shfl_sync(whole_warp, first, 0);
      next_ = min(first, static_cast<unsigned long long>(count_));
      end_ = min(first + groups, static_cast<unsigned long long>(count_));
    }
    const unsigned before = __popc(asking & ((1U << lane_of_warp()) - 1));
    const std::uint64_t own = next_ + before;
    const std::uint64_t got = group.from(wanted && own < end_ ? own : no_node, 0);
    next_ = min(next_ + __popc(asking), end_);
    return got;
  }

  /// Each group that is not active loads the node of the number that it gets, and becomes active. Returns whether a group of
  /// the warp is active.
  template <class Group, class Load>
  __device__ bool refill(Group group, bool& active, const Load& load) {
    const std::uint64_t number = take(group, !active);
    if (!active && number != no_node) {
      load(number);
      active = true;
    }
    return __any_sync(whole_warp, active);
  }

 private:
  std::uint64_t count_;
  unsigned long long* taken_;
  std::uint64_t next_ = 0;
  std::uint64_t end_ = 0;
};

/// Reserves slots for the `wanted` (0: none) nodes of each group. The whole warp calls it. Returns no_node if there was not
/// room for everything that the warp wanted. An output has a capacity and a progress, as the one of dense sets.
template <class Group, class Output>
__device__ std::uint64_t reserve(Group group, const Output& output, unsigned wanted) {
  const unsigned own = group.rank() == 0 ? wanted : 0;
  unsigned sum = own;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned before = __shfl_up_sync(whole_warp, sum, distance);
    if (lane_of_warp() >= distance) sum += before;
  }
  const unsigned total = __shfl_sync(whole_warp, sum, 31);
  if (total == 0) return 0;
  unsigned long long first = 0;
  if (lane_of_warp() == 0) {
    first = atomicAdd(&output.progress->reserved, total);
    if (first + total > output.capacity) {
      atomicMax(&output.progress->cut, ~first);
      first = no_node;
    }
  }
  first = __shfl_sync(whole_warp, first, 0);
  return group.from(first == no_node ? no_node : first + sum - own, 0);
}

}  // namespace deltamatch::gpu::device
