// Estimates how many candidates the levels of delta plans really have, by random walks through a batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/matcher.hpp"

namespace deltamatch::estimate {

/// What walks met at a level.
struct LevelFigures {
  std::uint64_t walks = 0;     ///< that reached the level
  double partial_matches = 0;  ///< that they stand for: each walk counts one over its probability
  double candidates = 0;       ///< of these partial matches
};

/// Makes `walks` walks for each plan of the task. Returns what they met, by plan and level. A walk starts from an anchor of its
/// plan, all equally likely. In a large batch, it chooses among several thousand evenly spaced ones. It then goes to one of the
/// candidates of every level, without order constraints.
///
/// The ratio of the two sums estimates the mean number of candidates per partial match. As a ratio of two unbiased estimates it
/// is slightly biased, the less so the more walks there are.
///
/// The passes' batch must be staged. The result depends only on the arguments. O(walks) list look-ups per level, whatever is
/// found. Throws Stopped once `stop`, which may be null, is set.
[[nodiscard]] std::vector<std::vector<LevelFigures>> walk_levels(const graph::DataGraph& graph,
                                                                 std::span<const match::PassWork> passes,
                                                                 const match::QueryTask& task, std::size_t walks,
                                                                 const StopFlag* stop = nullptr);

}  // namespace deltamatch::estimate
