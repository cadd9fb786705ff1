// How many candidates the levels of delta plans really have: estimated from random walks through a batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/matcher.hpp"

namespace deltamatch::estimate {

/// What walks met at a level.
struct LevelFigures {
  std::uint64_t walks = 0;     ///< that came there
  double partial_matches = 0;  ///< that they stand for: each walk for one over its probability
  double candidates = 0;       ///< of these
};

/// By plan of the task and level. `walks` walks for each plan, each from an anchor that concerns it, one as likely as another
/// (among several thousand evenly spaced ones where the batch is larger), and on to one of the candidates of every level; order
/// constraints are left out. The ratio of the two sums estimates the mean number of candidates per partial match (as a ratio of
/// two unbiased estimates it is biased by as little as the walks are many). The graph has the passes' batch staged. Depends on
/// its arguments alone. O(walks) list look-ups for each level, whatever there is to be found. Throws Stopped once `stop`, which
/// may be null, is set.
[[nodiscard]] std::vector<std::vector<LevelFigures>> walk_levels(const graph::DataGraph& graph,
                                                                 std::span<const match::PassWork> passes,
                                                                 const match::QueryTask& task, std::size_t walks,
                                                                 const StopFlag* stop = nullptr);

}  // namespace deltamatch::estimate
