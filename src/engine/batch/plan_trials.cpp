#include "engine/batch/plan_trials.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <new>
#include <numeric>
#include <system_error>

#include "base/deadline.hpp"
#include "base/seconds.hpp"
#include "estimate/level_walks.hpp"
#include "plan/program.hpp"

namespace deltamatch::engine {

namespace {

using Clock = std::chrono::steady_clock;

// Walks along each plan, and how many of them must reach a level for its figures to count.
constexpr std::size_t walks = 256;
constexpr std::uint64_t telling_walks = 32;
// A batch with fewer edges says too little.
constexpr std::size_t telling_anchors = 32;
// Proposals per query. Each leads to levels that no walk has met before.
constexpr int most_proposals = 4;
// Anchors of a pass that each plan is tried on, twice. There are more of them until the old plan takes `telling_seconds`. Plans
// that search long at an anchor are so tried on few, and all plans of a query soon.
constexpr std::size_t least_sample = 32;
constexpr std::size_t most_sample = 1024;
constexpr double telling_seconds = 0.01;
// The seconds after which a plan is stopped.
constexpr double patience = 0.5;
// Before the first trial, this share of a large batch is timed, for at most so many seconds a query.
constexpr std::size_t timed_share = 64;
constexpr double timed_seconds = 0.1;
// A plan that takes fewer seconds has nothing to save.
constexpr double least_seconds = 1e-4;
// A new plan is kept if it takes less than this share of the old plan's time.
constexpr double clearly = 0.75;
// Matches that each thread may list in a trial. It keeps all of them in memory.
constexpr std::uint64_t most_matches = 20'000;
// The most plans and detours that are walked at once.
constexpr std::size_t most_ways = 256;

plan::Observations::iterator find(plan::Observations& seen, std::uint32_t vertex, std::uint32_t from) {
  return std::ranges::find_if(seen, [&](const plan::Observation& o) { return o.vertex == vertex && o.from == from; });
}

void learn(const plan::BoundQuery& query, const plan::Plan& plan, const std::vector<estimate::LevelFigures>& found,
           plan::Observations& seen) {
  for (std::size_t l = 0; l < found.size(); ++l) {
    if (found[l].walks < telling_walks) return;
    const plan::Level& level = plan.levels[l];
    const std::uint32_t from = plan::read_at(query, 1u << level.vertex, level.candidates.probes);
    if (find(seen, level.vertex, from) != seen.end()) continue;
    seen.push_back({level.vertex, from, found[l].candidates / found[l].partial_matches});
  }
}

// Walks along the plans. Where nothing is known yet, also walks one step off them.
void look(const graph::DataGraph& graph, std::span<const match::PassWork> passes, const plan::BoundQuery& query,
          const plan::QueryPlans& plans, const StopFlag* stop, std::vector<plan::Observations>& seen) {
  plan::QueryPlans ways = plans;
  std::vector<std::size_t> plan_of(plans.plans.size());
  std::iota(plan_of.begin(), plan_of.end(), std::size_t{0});
  for (std::size_t p = 0; p < plans.plans.size(); ++p) {
    plan::Observations known = seen[p];
    for (plan::Plan& detour : plan::make_detours(query, plans.plans[p])) {
      const plan::Level& last = detour.levels.back();
      const std::uint32_t from = plan::read_at(query, 1u << last.vertex, last.candidates.probes);
      if (ways.plans.size() >= most_ways || find(known, last.vertex, from) != known.end()) continue;
      known.push_back({last.vertex, from, 0});
      plan_of.push_back(p);
      ways.plans.push_back(std::move(detour));
    }
  }
  const auto found = estimate::walk_levels(graph, passes, {&query, &ways, false}, walks, stop);
  for (std::size_t way = 0; way < found.size(); ++way) learn(query, ways.plans[way], found[way], seen[plan_of[way]]);
}

std::vector<std::uint32_t> order_of(const plan::Plan& plan) {
  std::vector<std::uint32_t> order;
  order.reserve(plan.levels.size());
  for (const plan::Level& level : plan.levels) order.push_back(level.vertex);
  return order;
}

bool same_orders(const plan::QueryPlans& a, const plan::QueryPlans& b) {
  return std::ranges::equal(a.plans, b.plans, {}, order_of, order_of);
}

// What a plan does, without its estimates.
std::string work_of(const plan::BoundQuery& query, const plan::Plan& plan) {
  std::string text = plan::to_text(query, plan::make_walk(plan, false, true, false));
  if (!plan.count.terms.empty()) text += plan::to_text(query, plan::make_sums(query, plan));
  return text;
}

std::vector<graph::Edge> some_of(std::span<const graph::Edge> anchors, std::size_t most) {
  std::vector<graph::Edge> some;
  const std::size_t count = std::min(anchors.size(), most);
  some.reserve(count);
  for (std::size_t i = 0; i < count; ++i) some.push_back(anchors[i * anchors.size() / count]);
  return some;
}

std::size_t anchors_of(std::span<const match::PassWork> passes) noexcept {
  std::size_t anchors = 0;
  for (const match::PassWork& pass : passes) anchors += pass.anchors.size();
  return anchors;
}

// Runs plans on a sample of anchors.
class Trial {
 public:
  Trial(const graph::DataGraph& graph, std::span<const match::PassWork> passes, const StandingQuery& query, match::Matcher& cpu,
        const StopFlag* stop)
      : graph_(&graph), query_(&query), cpu_(&cpu), stop_(stop), all_(passes) {}

  bool takes_less(const plan::Plan& fresh, const plan::Plan& old) {
    plan::QueryPlans one;
    one.plans = {old};
    plan::QueryPlans other;
    other.plans = {fresh};
    double best_old = 0;
    for (std::size_t anchors = least_sample; anchors <= most_sample && best_old < telling_seconds; anchors *= 2) {
      take(anchors);
      best_old = seconds(one, patience);
    }
    if (best_old < least_seconds) return false;
    double best_new = seconds(other, best_old);
    if (best_new > best_old) return false;  // also if it was stopped
    best_old = std::min(best_old, seconds(one, patience));
    best_new = std::min(best_new, seconds(other, best_old));
    return best_new < clearly * best_old;
  }

  /// The seconds of the query's plans on some anchors, or `limit` if they take longer.
  double seconds_of(const plan::QueryPlans& plans, std::size_t anchors, double limit) {
    take(anchors);
    return seconds(plans, limit);
  }

 private:
  /// Makes passes of some of their anchors.
  void take(std::size_t most) {
    passes_.clear();
    anchors_.clear();
    for (const match::PassWork& pass : all_) anchors_.push_back(some_of(pass.anchors, most));
    for (std::size_t p = 0; p < all_.size(); ++p)
      passes_.push_back({.pass = all_[p].pass, .anchors = anchors_[p], .changed = all_[p].changed});
  }

  double seconds(const plan::QueryPlans& plans, double limit) {
    match::StopFlag stop = false;
    const auto start = Clock::now();  // before the deadline is set, so that a stopped plan has taken its whole limit
    const std::chrono::duration<double> time(std::min(limit, patience));
    std::function<bool()> asked;
    if (stop_ != nullptr) asked = [this] { return stop_->load(); };
    const Deadline deadline(std::chrono::duration_cast<std::chrono::nanoseconds>(time), stop, asked);
    const match::QueryTask task{&query_->bound, &plans, query_->options.list, &stop, most_matches};
    std::vector<match::QueryResult> results(passes_.size());
    for (match::QueryResult& result : results) result.plans.resize(plans.plans.size());
    match::MatchSteps steps;
    try {
      cpu_->match(*graph_, passes_, {&task, 1}, results, &stop, steps);
    } catch (const Error&) {  // a sum exceeded 128 bits before it was divided
      return std::numeric_limits<double>::infinity();
    }
    throw_if_stopped(stop_);
    return seconds_since(start);
  }

  const graph::DataGraph* graph_;
  const StandingQuery* query_;
  match::Matcher* cpu_;
  const StopFlag* stop_;
  std::span<const match::PassWork> all_;
  std::vector<std::vector<graph::Edge>> anchors_;  // by pass
  std::vector<match::PassWork> passes_;
};

}  // namespace

bool PlanTrials::due(std::span<const match::PassWork> passes) const noexcept {
  return matched_ + expected_ >= next_ && (recent_.size() >= telling_anchors || anchors_of(passes) >= telling_anchors);
}

void PlanTrials::expect(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                        std::span<StandingQuery* const> standing, match::Matcher& cpu, const StopFlag* stop) {
  std::size_t some = 0;
  for (const match::PassWork& pass : passes) some = std::max(some, pass.anchors.size() / timed_share);
  if (next_ > first_trial || matched_ >= first_trial || some < least_sample) return;
  expected_ = 0;
  try {
    for (const StandingQuery* query : standing) {
      if (query->plans.plans.empty() || matched_ + expected_ >= first_trial) continue;
      expected_ += timed_share * Trial(graph, passes, *query, cpu, stop).seconds_of(query->plans, some, timed_seconds);
    }
  } catch (const std::bad_alloc&) {     // NOLINT(bugprone-empty-catch): nothing is expected then
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): likewise
  }
}

void PlanTrials::remember(std::span<const match::PassWork> passes) {
  if (anchors_of(passes) >= telling_anchors) return;
  for (const match::PassWork& pass : passes) {
    if (pass.pass != match::Pass::added) continue;
    for (const graph::Edge& anchor : pass.anchors) {
      if (recent_.size() < most_sample) {
        recent_.push_back(anchor);
      } else {
        recent_[oldest_++ % most_sample] = anchor;
      }
    }
  }
}

std::vector<graph::Edge> PlanTrials::recent(const graph::DataGraph& graph) const {
  std::vector<graph::Edge> edges;
  std::ranges::copy_if(recent_, std::back_inserter(edges), [&](const graph::Edge& edge) { return graph.contains(edge); });
  std::ranges::sort(edges);
  const auto repeated = std::ranges::unique(edges);
  edges.erase(repeated.begin(), repeated.end());
  return edges;
}

void PlanTrials::run(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                     std::span<StandingQuery* const> standing, match::Matcher& cpu, const StopFlag* stop) {
  const auto next = std::ranges::min_element(standing, {}, &StandingQuery::next_trial);
  const double taken = matched_ + expected_;
  if (next == standing.end() || (*next)->next_trial > taken) return;
  const auto start = Clock::now();
  (*next)->next_trial = 2 * taken;
  try {
    if (anchors_of(passes) >= telling_anchors) {
      try_plans(graph, passes, **next, cpu, most_at_once * taken, stop);
    } else {
      const std::vector<graph::Edge> edges = recent(graph);
      std::vector<match::PassWork> from_recent(passes.begin(), passes.end());
      for (match::PassWork& pass : from_recent) {
        pass.marks = {};
        pass.anchors = pass.pass == match::Pass::added ? std::span(edges) : std::span<const graph::Edge>();
      }
      if (edges.size() >= telling_anchors) try_plans(graph, from_recent, **next, cpu, most_at_once * taken, stop);
    }
  } catch (const std::bad_alloc&) {     // NOLINT(bugprone-empty-catch): the batch may well be matched without a trial
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): likewise
  }
  next_ = taken + seconds_since(start) / share;
}

plan::QueryPlans propose_plans(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                               const StandingQuery& query, double seconds, const StopFlag* stop) {
  const auto start = Clock::now();
  std::vector<plan::Observations> seen(query.plans.plans.size());
  plan::QueryPlans proposed = query.plans;
  for (int i = 0; i < most_proposals && (i == 0 || seconds_since(start) < seconds); ++i) {
    look(graph, passes, query.bound, proposed, stop, seen);
    plan::QueryPlans next = plan::make_delta_plans(query.bound, seen);
    const bool settled = same_orders(next, proposed);
    proposed = std::move(next);
    if (settled) break;
  }
  return proposed;
}

std::size_t try_plans(const graph::DataGraph& graph, std::span<const match::PassWork> passes, StandingQuery& query,
                      match::Matcher& cpu, double seconds, const StopFlag* stop) {
  if (query.plans.plans.empty()) return 0;  // a query of one vertex
  const auto start = Clock::now();
  const plan::QueryPlans proposed = propose_plans(graph, passes, query, seconds, stop);
  Trial trial(graph, passes, query, cpu, stop);
  std::vector<std::size_t> better;
  const std::size_t plans = proposed.plans.size();
  std::size_t tried = 0;
  for (; tried < plans && seconds_since(start) < seconds; ++tried) {
    const std::size_t p = (query.first_tried + tried) % plans;
    const plan::Plan& fresh = proposed.plans[p];
    const plan::Plan& old = query.plans.plans[p];
    if (work_of(query.bound, fresh) != work_of(query.bound, old) && trial.takes_less(fresh, old)) better.push_back(p);
  }
  std::vector<plan::Plan> copies;
  copies.reserve(better.size());
  for (const std::size_t p : better) copies.push_back(proposed.plans[p]);
  query.first_tried = (query.first_tried + tried) % plans;
  for (std::size_t i = 0; i < better.size(); ++i) {
    query.plans.plans[better[i]] = std::move(copies[i]);
    query.actuals[better[i]] = {};
  }
  return better.size();
}

}  // namespace deltamatch::engine
