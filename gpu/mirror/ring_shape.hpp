// The sizes of a DemandRing and of what is copied to it. Needs no device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace deltamatch::gpu {

/// The sizes of a ring of about `bytes` bytes, in granules of four words.
struct RingShape {
  static constexpr std::size_t granule_bytes = 16;
  /// Longer blocks are copied with a chance: this, divided by their length.
  static constexpr std::uint32_t short_granules = 512;

  explicit constexpr RingShape(std::size_t bytes) noexcept
      : segments(
            static_cast<std::uint32_t>(std::clamp<std::size_t>(bytes / least_segment_bytes, least_segments, most_segments))),
        segments_ahead(segments / one_ahead_of),
        segment_granules(static_cast<std::uint32_t>(bytes / granule_bytes / segments)),
        most_granules(std::min(longest_granules, segment_granules / 2)) {}

  std::uint32_t segments;
  std::uint32_t segments_ahead;  ///< are emptied before they are filled; less than half of them
  std::uint32_t segment_granules;
  std::uint32_t most_granules;  ///< longer blocks are not copied

 private:
  // A segment is emptied as a whole, so many segments lose little. Each must hold many blocks, since its end is left empty.
  static constexpr std::uint32_t least_segments = 8;
  static constexpr std::uint32_t most_segments = 64;
  static constexpr std::uint32_t one_ahead_of = 4;  // a quarter of the segments is emptied ahead
  static constexpr std::size_t least_segment_bytes = std::size_t{1} << 16;
  // The longest list that is copied has about 131,072 entries.
  static constexpr std::uint32_t longest_granules = 1U << 15;
};

}  // namespace deltamatch::gpu
