// The times that the bounds of a conditional query leave to an edge, given those of edges that have been chosen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "condition/time_bounds.hpp"
#include "deltamatch/update.hpp"

namespace deltamatch::match {

/// Stands for the time of an edge that has none.
inline constexpr Timestamp no_time = INT64_MIN;

/// The times that an edge may have. `null`: it may have none.
struct Interval {
  Timestamp from = INT64_MIN;
  Timestamp to = INT64_MAX;
  bool null = true;

  [[nodiscard]] bool holds(std::optional<Timestamp> time) const noexcept { return time ? from <= *time && *time <= to : null; }
  [[nodiscard]] bool contains(const Interval& other) const noexcept { return from <= other.from && other.to <= to; }
  [[nodiscard]] bool empty() const noexcept { return from > to; }
};

/// A time plus a duration. It stays within what a time can say.
[[nodiscard]] inline Timestamp later(Timestamp time, std::int64_t duration) noexcept {
  Timestamp sum = 0;
  if (__builtin_add_overflow(time, duration, &sum)) return duration < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}
/// The same for a time less a duration.
[[nodiscard]] inline Timestamp earlier(Timestamp time, std::int64_t duration) noexcept {
  Timestamp difference = 0;
  if (__builtin_sub_overflow(time, duration, &difference)) return duration > 0 ? INT64_MIN : INT64_MAX;
  return difference;
}

/// `chosen`: query edges whose images have the times in `times`, which is by query edge. O(chosen).
[[nodiscard]] inline Interval interval_of(const condition::TimeBounds& bounds, std::uint32_t edge,
                                          std::span<const std::uint32_t> chosen, std::span<const Timestamp> times) noexcept {
  constexpr std::int64_t none = condition::TimeBounds::none;
  Interval result;
  if (!bounds.any()) return result;
  result.null = !bounds.binds(edge);
  if (result.null) return result;
  result.from = INT64_MIN + 1;
  if (bounds.latest(edge) != none) result.to = bounds.latest(edge);
  if (bounds.negated_earliest(edge) != none) result.from = std::max(result.from, earlier(0, bounds.negated_earliest(edge)));
  for (const std::uint32_t other : chosen) {
    const Timestamp time = times[other];
    if (time == no_time) continue;  // nothing bounds an edge that may lack a time
    if (const std::int64_t above = bounds.difference(edge, other); above != none)
      result.to = std::min(result.to, later(time, above));
    if (const std::int64_t below = bounds.difference(other, edge); below != none)
      result.from = std::max(result.from, earlier(time, below));
  }
  return result;
}

}  // namespace deltamatch::match
