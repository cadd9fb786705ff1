// What every backend does: find the matches of a set of anchors, for several standing queries in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/engine.hpp"
#include "filter/candidate_steps.hpp"
#include "graph/data_graph.hpp"
#include "match/allowance.hpp"
#include "match/enumerator.hpp"
#include "match/partial.hpp"
#include "match/watch.hpp"
#include "plan/plan.hpp"

namespace deltamatch::match {

/// Recorded matches of one query, in no order: per match one vertex per query vertex and one tag per query edge (see Found).
struct Records {
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> plans;  ///< by match: index of the plan that found it
  void clear() noexcept {
    words.clear();
    plans.clear();
  }
};

/// Takes recorded matches while matching is under way, and keeps the thread that brings them until they are dealt with: so a
/// slow reader slows matching down.
class RecordTaker {
 public:
  virtual ~RecordTaker() = default;
  /// Matches of one pass. Called by any thread, by several at once. What it throws ends the matching.
  virtual void take(const Records& records, Pass pass) = 0;
};

/// How many records a backend has of a task when it hands them over.
inline constexpr std::size_t taker_portion = 4096;

/// One query to match. Both pointers outlive the call.
struct QueryTask {
  const plan::BoundQuery* query;
  const plan::QueryPlans* plans;
  bool list;  ///< record the matches; otherwise they are only counted
  /// Where not null, set by a thread once it has recorded more than `limit` matches in one call.
  StopFlag* beyond_limit = nullptr;
  std::uint64_t limit = 0;
  /// Where not null, a backend hands records over whenever it has many; those left are in the results as ever.
  RecordTaker* taker = nullptr;
  /// Listing: so many steps (see Allowance) may be taken for a plan at an anchor until a match is found. Where they do not tell
  /// whether there is one, the anchor is left (QueryResult::left). Not every matcher heeds it.
  std::uint64_t steps = Allowance::unbounded;
  /// Where not null, takes the place of the call's flag for this task, in matchers that tell tasks apart
  /// (Matcher::tells_tasks): so one task can be ended and the others go on. Whoever sets the call's flag sets this one, too.
  const StopFlag* stop = nullptr;
  /// Where not null, such matchers say what they do; as this task.
  Watch* watch = nullptr;
  std::size_t watched_as = 0;
};

/// An anchor that is still to be tried on a plan: nothing has been found.
struct LeftAnchor {
  graph::Edge anchor;
  std::uint32_t plan;
};

/// What one plan found.
struct PlanResult {
  __extension__ __int128 sum = 0;  ///< CountPlan::divisor times a number of matches
  Count found = 0;                 ///< matches that were enumerated: one of each class where order constraints were kept
  std::uint64_t anchors = 0;       ///< anchors that the plan was tried on
};

struct QueryResult {
  std::vector<PlanResult> plans;
  Records records;
  std::vector<LeftAnchor> left;
};

/// The anchors of one pass.
struct PassWork {
  Pass pass;
  std::span<const graph::Edge> anchors;
  /// Pass::whole, for matchers that take them: the vertices at which the tasks' rooted plans start.
  std::span<const VertexId> roots{};
  /// Pass::whole, a single task, nothing else: for matchers that leave anchors, those to try again, with more steps.
  std::span<const LeftAnchor> left{};
  /// Where not null, told by any thread, by several at once, which of the anchors, roots or left anchors it begins with: those
  /// before are begun as well, most of them done. Not every matcher tells. Does not throw.
  const std::function<void(std::size_t)>* begins = nullptr;
};

/// Seconds that a matcher spent on other steps of the batch than matching.
struct MatchSteps {
  double estimate = 0;
  double cache = 0;
};

class Matcher {
 public:
  virtual ~Matcher() = default;

  /// Adds to `results` (tasks.size() for each pass, one pass after the other, sized by the caller to the plans) what the
  /// anchors lead to. The graph has a batch staged whose inserted edges are the anchors of Pass::added and whose removed ones
  /// those of Pass::removed; with Pass::whole the anchors are any settled edges and nothing is staged. Independent of the
  /// number of threads, up to the order of records. Once `stop` is set it ends soon; what was added then is of whole anchors
  /// only where matches are summed, so that no count exceeds the truth. Throws Error where a count exceeds 128 bits or a device
  /// fails, std::bad_alloc; results are then of no use.
  virtual void match(const graph::DataGraph& graph, std::span<const PassWork> passes, std::span<const QueryTask> tasks,
                     std::span<QueryResult> results, const StopFlag* stop, MatchSteps& steps) = 0;

  /// Does ahead what the first call of match would do besides matching: with nothing staged, makes the graph and what its
  /// readings read ready.
  virtual void open(const graph::DataGraph& /*graph*/) {}
  /// The steps of filtering where its lists lie, after open; null: on the CPU's cores. Valid until the next call of match.
  [[nodiscard]] virtual filter::CandidateSteps* candidate_steps() { return nullptr; }
  /// Whether it takes roots of such a plan (PassWork::roots).
  [[nodiscard]] virtual bool takes_root(const plan::RootedPlan& /*plan*/,
                                        std::span<const graph::Resolved> /*resolved*/) const noexcept {
    return false;
  }
  /// Whether it heeds QueryTask::stop and QueryTask::watch.
  [[nodiscard]] virtual bool tells_tasks() const noexcept { return false; }
  /// How many anchors or roots keep it busy: with fewer for a call, time is lost.
  [[nodiscard]] virtual std::size_t preferred_anchors() const noexcept { return 1; }

  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  [[nodiscard]] virtual CacheStatistics statistics() const { return {}; }
};

/// The matcher that runs on CPU cores. `workers` outlives it.
[[nodiscard]] std::unique_ptr<Matcher> make_cpu_matcher(Workers& workers);
/// The same with other limits on candidate spaces.
[[nodiscard]] std::unique_ptr<Matcher> make_cpu_matcher_with(Workers& workers, const SpaceLimits& limits);

/// Whether a task keeps order constraints where it enumerates, so that it finds one match of each class; else each record
/// stands for one embedding per arc of the plan's orbit.
[[nodiscard]] inline bool ordered(const QueryTask& task) noexcept {
  return task.query->mode == MatchMode::isomorphism && (!task.list || task.query->count == CountMode::subgraphs);
}

/// How many matches, as the task counts them, each stands for that a walk of this plan finds; at most UINT64_MAX.
[[nodiscard]] std::uint64_t matches_of_each(const QueryTask& task, std::size_t plan);

/// Adds up what the plans of a task found: in the query's count mode, checked.
[[nodiscard]] Count total(const QueryTask& task, std::span<const PlanResult> results);

}  // namespace deltamatch::match
