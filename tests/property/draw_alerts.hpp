// Draws queries that remember or wait: ALERT ONCE and EMIT FINAL.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "property/draw.hpp"
#include "property/scenario.hpp"

namespace deltamatch::property {

/// Lets a query alert once per some of its vertices. Those that can change places are all named. `within`: it keeps its WITHIN.
void draw_once(Standing& standing, bool within);

/// By edge of the query: how long after it a counted edge may come at most.
using Bounds = std::map<std::uint32_t, Timestamp>;
/// No bound is longer.
inline constexpr Timestamp longest_wait = 6;

/// A scenario whose queries all wait, and their bounds.
struct Waiting {
  Scenario scenario;
  std::vector<Bounds> bounds;
};

/// Nothing, if a query that was drawn has nothing to wait for. The conditions must count.
[[nodiscard]] std::optional<Waiting> draw_waiting(const Traits& traits);

}  // namespace deltamatch::property
