// Better plans for standing queries while they run.
#pragma once

#include <span>
#include <vector>

#include "engine/batch/standing.hpp"
#include "match/matcher.hpp"

namespace deltamatch::engine {

/// Plans come from statistics of the graph, which know nothing of what labels and shapes go together. So now and then, for one
/// query at a time, random walks through the present batch tell how many candidates the levels of its plans really have; the
/// planner is asked again with that, walks go through what it proposes, and so on until it proposes nothing new; and where both
/// the old and the new plan of an anchor are then run on a sample of the batch, the new one is kept if it takes clearly less
/// time. A proposal that rests on a wrong guess costs a trial, never more.
///
/// What is matched does not depend on it; which plan matches it does depend on time.
class PlanTrials {
 public:
  /// Seconds that matching has taken before any trial is worth its time, and what trials may take of that: one, and all that
  /// follow.
  static constexpr double first_trial = 0.25;
  static constexpr double most_at_once = 0.2;
  static constexpr double share = 0.05;

  /// Whether it is time to run, with a batch that tells something.
  [[nodiscard]] bool due(std::span<const match::PassWork> passes) const noexcept;
  /// To be called when due, with the batch staged in the graph, before its tasks are made; `cpu` matches on CPU cores.
  /// Throws Stopped once `stop`, which may be null, is set.
  void run(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<Standing* const> standing,
           match::Matcher& cpu, const StopFlag* stop = nullptr);
  /// How long matching a batch took.
  void matched(double seconds) noexcept { matched_ += seconds; }

 private:
  double matched_ = 0;         // seconds
  double next_ = first_trial;  // what `matched_` must have come to for the next trial
};

/// What the planner makes of a query's plans once it knows how many candidates their levels have in the batch that is staged.
/// After so many seconds it is not asked again.
[[nodiscard]] plan::QueryPlans propose_plans(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                                             const Standing& query, double seconds, const StopFlag* stop = nullptr);

/// One query's trial, which begins with no plan after so many seconds (the next one then goes on with it); how many plans it
/// replaced. The graph has the passes' batch staged. Strong exception safety.
std::size_t try_plans(const graph::DataGraph& graph, std::span<const match::PassWork> passes, Standing& query,
                      match::Matcher& cpu, double seconds, const StopFlag* stop = nullptr);

}  // namespace deltamatch::engine
