// A standing query: how it is bound, planned and delivered.
#pragma once

#include <vector>

#include "engine/listing/delivery.hpp"
#include "plan/plan.hpp"

namespace deltamatch::engine {

struct Standing {
  Standing(const Query& query, const QueryOptions& wanted, graph::DataGraph& graph)
      : options(wanted), bound(query, wanted.mode, wanted.count, graph), delivery(bound) {}

  /// Makes plans where there are none yet, or the graph has become another since.
  void refresh_plans();

  QueryOptions options;
  QueryBudget budget;
  plan::BoundQuery bound;
  Delivery delivery;
  plan::QueryPlans plans;
  std::vector<plan::PlanActuals> actuals;
  bool planned = false;
  double next_trial = 0;        ///< see PlanTrials
  std::size_t first_tried = 0;  ///< the plan that the next trial begins with
};

}  // namespace deltamatch::engine
