// Estimates the count of a static match: rounds of walks, a mean over the replicates, and Student's interval.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/deadline.hpp"
#include "base/seconds.hpp"
#include "engine/whole/static_match.hpp"
#include "estimate/sampler.hpp"

namespace deltamatch::engine {

namespace {

using Clock = std::chrono::steady_clock;

// The most walks of a replicate in one round. The first round has one, since a walk may take long and a time-out keeps whole
// rounds only. Each round has twice as many as the round before.
constexpr std::uint64_t most_round_walks = 512;
// The quantile at 0.975 of Student's distribution with 29 degrees of freedom.
static_assert(SampleResult::replicates == 30 && SampleResult::confidence == 0.95);
constexpr double quantile = 2.045229642132703;

/// Whether the graph has too few vertices or edges for a match, if a match needs distinct ones.
bool too_small(const graph::DataGraph& graph, const Query& query, MatchMode mode) {
  return (mode == MatchMode::isomorphism && graph.dictionary.size() < query.vertices.size()) ||
         (mode != MatchMode::homomorphism && graph.edges() < query.edges.size());
}

void conclude(const std::vector<double>& means, double symmetry, SampleResult& result) {
  const auto n = static_cast<double>(means.size());
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / n;
  double squares = 0;
  for (const double value : means) squares += (value - mean) * (value - mean);
  const double error = quantile * std::sqrt(squares / (n - 1) / n);
  result.matches = mean / symmetry;
  result.low = std::max(0.0, mean - error) / symmetry;
  result.high = (mean + error) / symmetry;
}

}  // namespace

SampleResult sample_variant(const StaticScene& scene, const Query& query, const SampleOptions& options) {
  if (options.walks == 0) {
    throw Error(ErrorKind::configuration, "query " + query.name, "a sample needs at least one walk", "ask for one or more");
  }
  if (plan::counts_something(query)) {
    throw Error(ErrorKind::configuration, "query " + query.name, "its condition counts, and walks do not",
                "let match find the matches instead of a sample");
  }
  const auto start = Clock::now();
  match::StopFlag stop = false;
  const Deadline deadline(options.timeout, stop, options.stop);
  plan::BoundQuery bound(query, options.query.mode, options.query.count, scene.graph, options.induced);
  bound.planner = options.query.planner;
  scene.graph.resolve_all();
  const plan::QueryPlans plans = plan::make_static_plans(bound, {.anchor = {}, .sums = false});  // walks read no sums
  const match::QueryTask task{&bound, &plans, true};
  const double symmetry =
      options.query.count == CountMode::subgraphs ? static_cast<double>(bound.group.order()) : 1.0;  // embeddings are sampled
  estimate::Sampler sampler(scene.graph, task, scene.workers, SampleResult::replicates, stop);
  // A query that cannot match at all is known without a walk.
  const bool none = too_small(scene.graph, query, options.query.mode) || (!sampler.has_anchors() && !stop.load());
  const std::uint64_t wanted = none ? 0 : (options.walks - 1) / SampleResult::replicates + 1;
  SampleResult result;
  std::uint64_t round_walks = 1;
  for (std::uint64_t number = 0; sampler.walks() < wanted; ++number) {
    if (!sampler.has_anchors() || !sampler.round(std::min(round_walks, wanted - sampler.walks()), options.seed, number)) break;
    round_walks = std::min(2 * round_walks, most_round_walks);
    if (!options.progress) continue;
    conclude(sampler.means(), symmetry, result);
    options.progress(static_cast<double>(sampler.walks()) / static_cast<double>(wanted), result.matches);
  }
  if (sampler.walks() > 0) conclude(sampler.means(), symmetry, result);
  result.walks = sampler.walks() * SampleResult::replicates;
  result.hits = sampler.hits();
  if (sampler.walks() < wanted) result.shortfall = deadline.passed() ? Shortfall::timeout : Shortfall::stopped;
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace deltamatch::engine
