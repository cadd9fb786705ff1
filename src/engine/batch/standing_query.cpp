#include "engine/batch/standing_query.hpp"

namespace deltamatch::engine {

namespace {

// New plans are made once the graph has grown or shrunk by this factor, and by at least this many edges.
constexpr std::uint64_t drift_factor = 2;
constexpr std::uint64_t drift_edges = 1000;

}  // namespace

void StandingQuery::refresh_plans() {
  const std::uint64_t before = plans.planned_edges;
  const std::uint64_t edges = bound.graph().edges();
  if (planned && edges <= drift_factor * before + drift_edges && before <= drift_factor * edges + drift_edges) return;
  plan::QueryPlans fresh = plan::make_delta_plans(bound);
  std::vector<plan::PlanActuals> zero(fresh.plans.size());
  plans = std::move(fresh);
  actuals = std::move(zero);
  planned = true;
  next_trial = 0;
  first_tried = 0;
}

}  // namespace deltamatch::engine
