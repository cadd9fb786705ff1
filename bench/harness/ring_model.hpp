// What a ring that kernels fill would serve (gpu/mirror/layout.hpp, DemandRing), without a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "estimate/estimator.hpp"
#include "gpu/mirror/ring_shape.hpp"

namespace deltamatch::bench {

/// The order in which a device makes the look-ups of a trace, as keys (estimate::key_of). Each of its warps makes one look-up
/// after the other for a piece of work, and then takes the next piece. All warps are equally fast.
///
/// Partial matches that share a look-up make it together, with the first of them.
[[nodiscard]] std::vector<std::uint64_t> order_of(const estimate::Trace& trace, std::size_t warps);

/// A ring that keeps every list that is missed, first in, first out. It has the segments of a device's ring. Those that the
/// device empties ahead hold nothing here. Long lists are put off by chance, as there.
class RingModel {
 public:
  explicit RingModel(std::size_t bytes) : shape_(bytes) {}

  /// Looks a list of so many bytes up. Returns whether it is there. If not, the ring keeps it, unless it is put off.
  bool look_up(std::uint64_t key, std::size_t bytes);
  /// Takes the place of a list back, because it has changed.
  void drop(std::uint64_t key) noexcept;
  /// Lists that were copied to the ring, and their bytes.
  [[nodiscard]] std::uint64_t filled_lists() const noexcept { return filled_lists_; }
  [[nodiscard]] std::uint64_t filled_bytes() const noexcept { return filled_bytes_; }

 private:
  [[nodiscard]] bool is_put_off(std::uint32_t granules) noexcept;

  gpu::RingShape shape_;
  std::vector<std::uint32_t> segment_of_;    // by key: the number of the segment with its list plus one; 0: none
  std::uint32_t segment_ = shape_.segments;  // the number of the one that is filled
  std::uint32_t taken_ = 0;                  // granules there
  std::uint64_t draws_ = 0;
  std::uint64_t filled_lists_ = 0;
  std::uint64_t filled_bytes_ = 0;
};

}  // namespace deltamatch::bench
