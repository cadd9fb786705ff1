// A standing query: its binding, plans and delivery.
#pragma once

#include <vector>

#include "engine/listing/delivery.hpp"
#include "plan/plan.hpp"

namespace deltamatch::engine {

struct StandingQuery {
  StandingQuery(const Query& asked, const QueryOptions& wanted, graph::DataGraph& graph)
      : query(asked),
        options(wanted),
        bound(plan::standing_form(asked, wanted), wanted.mode, wanted.count, graph),
        delivery(bound, query) {}

  /// Makes plans if there are none yet, or if the graph has changed much since they were made.
  void refresh_plans();

  Query query;  ///< as it was asked; `bound` may have further conditions
  QueryOptions options;
  QueryBudget budget;
  plan::BoundQuery bound;
  Delivery delivery;
  plan::QueryPlans plans;
  std::vector<plan::PlanActuals> actuals;
  bool planned = false;
  double next_trial = 0;        ///< seconds of matching at which its next trial is due; see PlanTrials
  std::size_t first_tried = 0;  ///< the plan that the next trial begins with
};

}  // namespace deltamatch::engine
