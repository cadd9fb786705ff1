// The interface of all backends: find the matches of a set of anchors, for several standing queries in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/count.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/statistics.hpp"
#include "filter/candidate_steps.hpp"
#include "graph/data_graph.hpp"
#include "match/enumerator.hpp"
#include "match/partial.hpp"
#include "match/step_budget.hpp"
#include "match/thread_progress.hpp"
#include "match/transient_rule.hpp"
#include "plan/plan.hpp"

namespace deltamatch::match {

/// Recorded matches of one query, in no order. Each has one vertex per query vertex and one tag per query edge (see Found).
struct Records {
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> plans;  ///< by match: index of the plan that found it
  void clear() noexcept {
    words.clear();
    plans.clear();
  }
};

/// Takes recorded matches while matching runs. The thread that brings them waits until they are handled, so a slow reader slows
/// matching down.
class RecordTaker {
 public:
  virtual ~RecordTaker() = default;
  /// Takes matches of one pass. Any threads may call it, several at once. An exception ends the matching.
  virtual void take(const Records& records, Pass pass) = 0;
};

/// The number of records of a task at which a backend hands them over.
inline constexpr std::size_t taker_portion = 4096;

/// One query to match. Query and plans must outlive the call.
struct QueryTask {
  const plan::BoundQuery* query;
  const plan::QueryPlans* plans;
  bool list;  ///< record the matches; otherwise they are only counted
  /// If not null, set by a thread once it has recorded more than `limit` matches in one call.
  StopFlag* beyond_limit = nullptr;
  std::uint64_t limit = 0;
  /// If not null, a backend hands records over whenever it has many. The remaining ones are in the results as usual.
  RecordTaker* taker = nullptr;
  /// For listing: the steps (see StepBudget) for a plan at an anchor before a match is found. If they do not show whether there
  /// is a match, the anchor is left (QueryResult::left). Not every matcher respects it.
  std::uint64_t steps = StepBudget::unbounded;
  /// If positive, matches are reported by the rule of match/arrival_rule.hpp with this span.
  Timestamp span = 0;
  /// If not null, replaces the call's stop flag for this task, in matchers that tell tasks apart (Matcher::separates_tasks). So
  /// one task can be ended while the others go on. Whoever sets the call's flag must set this one, too.
  const StopFlag* stop = nullptr;
  /// If not null, such matchers report what they do for this task, under the number `progress_index`.
  ThreadProgress* watch = nullptr;
  std::size_t progress_index = 0;
  /// Tasks of one family are variants of one query, and follow each other. Matchers may share work among them.
  std::size_t family = 0;
};

/// An anchor that must still be tried on a plan. Nothing has been found from it.
struct UnfinishedAnchor {
  graph::Edge anchor;
  std::uint32_t plan;
};

/// What one plan found.
struct PlanResult {
  __extension__ __int128 sum = 0;  ///< CountPlan::divisor times a number of matches
  Count found = 0;                 ///< matches that were enumerated; one of each class if order constraints were kept
  std::uint64_t anchors = 0;       ///< anchors that the plan was tried on
};

struct QueryResult {
  std::vector<PlanResult> plans;
  Records records;
  std::vector<UnfinishedAnchor> left;
  double seconds = 0;  ///< the family's share of the time in which threads or devices searched, at one of its tasks
};

/// The anchors of one pass.
struct PassWork {
  Pass pass;
  std::span<const graph::Edge> anchors;
  /// Pass::whole, for matchers that take roots: the vertices at which the tasks' rooted plans start.
  std::span<const VertexId> roots{};
  /// Pass::whole with a single task and nothing else, for matchers that leave anchors: those to try again, with more steps.
  std::span<const UnfinishedAnchor> left{};
  /// If not null, called with the index of the anchor, root or left anchor that a thread begins with. All before it have begun,
  /// and most of them are done. Any threads may call it, several at once. Not every matcher calls it. Must not throw.
  const std::function<void(std::size_t)>* begins = nullptr;
  /// Edges that the batch changes, ascending, with the running watermark after the record that changed each, or INT64_MAX if
  /// none did. Anchors are among them. Only tasks with a span read it.
  std::span<const graph::Edge> marked{};
  std::span<const Timestamp> marks{};
  /// All edges that the batch removes or inserts. The anchors may be a part of them. Only needed if edges have slots.
  std::span<const graph::Edge> changed{};
  /// Pass::transient: which matches count. Must outlive the call.
  const TransientRule* transient = nullptr;
};

/// Seconds that a matcher spent on steps of the batch other than matching.
struct MatchSteps {
  double estimate = 0;
  double cache = 0;
};

class Matcher {
 public:
  virtual ~Matcher() = default;

  /// Adds the matches of the anchors to `results`.
  /// - `results` has tasks.size() entries per pass, one pass after the other. The caller sizes them to the plans.
  /// - The graph has a batch staged. Its inserted edges are the anchors of Pass::added, its removed edges those of
  ///   Pass::removed. With Pass::transient they are the inserted ones again. Not every matcher takes that pass.
  /// - With Pass::whole, the anchors are any settled edges, and nothing is staged.
  /// The result does not depend on the number of threads, except for the order of records.
  ///
  /// Once `stop` is set, it ends soon. If matches are summed, only whole anchors have then been added, so no count exceeds the
  /// truth. Throws Error if a count exceeds 128 bits or a device fails. Throws std::bad_alloc. After an exception, the results
  /// are useless.
  virtual void match(const graph::DataGraph& graph, std::span<const PassWork> passes, std::span<const QueryTask> tasks,
                     std::span<QueryResult> results, const StopFlag* stop, MatchSteps& steps) = 0;

  /// Does in advance what the first call of `match` would do besides matching: prepares the graph and what its query relations
  /// read. Nothing may be staged.
  virtual void open(const graph::DataGraph& /*graph*/) {}
  /// The steps of filtering, run where the lists are stored. Call it after `open`. Null: filter on CPU cores. Valid until the
  /// next call of `match`.
  [[nodiscard]] virtual filter::CandidateSteps* candidate_steps() { return nullptr; }
  /// Whether it takes queries of a mode, induced or not, over a whole graph. CPU cores match the others.
  [[nodiscard]] virtual bool takes_whole(MatchMode /*mode*/, bool /*induced*/) const noexcept { return true; }
  /// Whether it takes roots of such a plan (PassWork::roots).
  [[nodiscard]] virtual bool takes_root(const plan::RootedPlan& /*plan*/,
                                        std::span<const graph::Resolved> /*resolved*/) const noexcept {
    return false;
  }
  /// Whether it takes Pass::transient.
  [[nodiscard]] virtual bool takes_transient() const noexcept { return false; }
  /// Whether it respects QueryTask::stop and QueryTask::watch.
  [[nodiscard]] virtual bool separates_tasks() const noexcept { return false; }
  /// How many anchors or roots keep it busy. A call with fewer wastes time.
  [[nodiscard]] virtual std::size_t preferred_anchors() const noexcept { return 1; }

  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  /// What it did since it was made. Names and values are those of the metrics of its backend; none: nothing to report.
  [[nodiscard]] virtual BackendStatistics statistics() const { return {}; }
};

/// The matcher that runs on CPU cores. `workers` must outlive it.
[[nodiscard]] std::unique_ptr<Matcher> make_cpu_matcher(Workers& workers);
/// The same with other limits on candidate spaces, and another rule for the sets that loops keep.
[[nodiscard]] std::unique_ptr<Matcher> make_cpu_matcher_with(Workers& workers, const SpaceLimits& limits,
                                                             const KeepRule& rule = {});

/// Whether a task keeps order constraints when it enumerates, so that it finds one match of each class. Otherwise each record
/// stands for one embedding per arc of the plan's orbit.
[[nodiscard]] inline bool ordered(const QueryTask& task) noexcept {
  return task.query->mode == MatchMode::isomorphism && (!task.list || task.query->count == CountMode::subgraphs);
}

/// How many matches, as the task counts them, one match found by a walk of this plan stands for. At most UINT64_MAX.
[[nodiscard]] std::uint64_t matches_of_each(const QueryTask& task, std::size_t plan);

/// Adds up what the plans of a task found, in the query's count mode. Throws if the count overflows.
[[nodiscard]] Count total(const QueryTask& task, std::span<const PlanResult> results);

}  // namespace deltamatch::match
