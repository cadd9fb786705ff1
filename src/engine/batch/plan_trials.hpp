// Looks for better plans of standing queries while they run.
#pragma once

#include <span>
#include <vector>

#include "engine/batch/standing_query.hpp"
#include "match/matcher.hpp"

namespace deltamatch::engine {

/// Tries new plans for standing queries, one query at a time.
///
/// Plans rest on statistics of the graph. Those do not say which labels and shapes occur together. A trial corrects that in
/// three steps:
/// 1. Random walks from the edges of the current batch, or of the last small ones, measure how many candidates each level of
/// the plans has.
/// 2. The planner is asked again with these figures, and walks follow its proposal. This repeats until it proposes nothing new.
/// 3. Old and new plans of an anchor run on a sample of these edges. The new one is kept if it takes clearly less time.
///
/// A proposal that rests on a wrong guess costs one trial, never more. Trials never change which matches are found. Which plan
/// finds them depends on measured time.
class PlanTrials {
 public:
  /// Matching must have taken `first_trial` seconds before the first trial. One trial may take the share `most_at_once` of the
  /// time that matching took. In the long run, all trials take at most the share `share` of it.
  static constexpr double first_trial = 0.25;
  static constexpr double most_at_once = 0.2;
  static constexpr double share = 0.05;

  /// Whether a trial is due, and the batch or the small ones before it have enough edges to measure.
  [[nodiscard]] bool due(std::span<const match::PassWork> passes) const noexcept;
  /// Runs a trial. Call it if one is due, after the batch is staged and before its tasks are made. `cpu` matches on CPU cores.
  /// Throws Stopped once `stop`, which may be null, is set.
  void run(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<StandingQuery* const> standing,
           match::Matcher& cpu, const StopFlag* stop = nullptr);
  /// Keeps the edges that a small batch inserts, for a trial. Such a batch by itself says too little.
  void remember(std::span<const match::PassWork> passes);
  /// Before the first trial, times a small part of a large batch, and expects the whole batch to take so much longer. The first
  /// trial is then due before this batch is matched. Its cost is that part of the batch.
  void expect(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<StandingQuery* const> standing,
              match::Matcher& cpu, const StopFlag* stop = nullptr);
  /// Adds the seconds that matching a batch took.
  void matched(double seconds) noexcept {
    matched_ += seconds;
    expected_ = 0;
  }

 private:
  /// The remembered edges that are still in the settled graph, ascending, each once.
  [[nodiscard]] std::vector<graph::Edge> recent(const graph::DataGraph& graph) const;

  std::vector<graph::Edge> recent_;
  std::size_t oldest_ = 0;     // counts those that were replaced in recent_
  double matched_ = 0;         // seconds of matching so far
  double expected_ = 0;        // seconds that the present batch may take
  double next_ = first_trial;  // value of matched_ at which the next trial is due
};

/// The plans that the planner proposes once it knows how many candidates each level has in the staged batch. It is not asked
/// again after `seconds`.
[[nodiscard]] plan::QueryPlans propose_plans(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                                             const StandingQuery& query, double seconds, const StopFlag* stop = nullptr);

/// Runs the trial of one query and returns how many plans it replaced. No plan is begun after `seconds`; the next trial
/// continues with that plan. The passes' batch must be staged. Strong exception safety.
std::size_t try_plans(const graph::DataGraph& graph, std::span<const match::PassWork> passes, StandingQuery& query,
                      match::Matcher& cpu, double seconds, const StopFlag* stop = nullptr);

}  // namespace deltamatch::engine
