// A standing query: its binding, plans and delivery.
#pragma once

#include <memory>
#include <vector>

#include "engine/batch/final_wait.hpp"
#include "engine/batch/once_rule.hpp"
#include "engine/listing/delivery.hpp"
#include "plan/plan.hpp"

namespace deltamatch::engine {

struct StandingQuery {
  StandingQuery(const Query& asked, const QueryOptions& wanted, graph::DataGraph& graph, Timestamp lateness)
      : query(asked),
        options(wanted),
        bound(plan::standing_form(asked, wanted), wanted.mode, wanted.count, graph),
        delivery(bound, query),
        once(query.once ? std::make_unique<OnceRule>(bound, *query.once, lateness) : nullptr) {}

  /// Whether it has to list its matches even if it only counts them.
  [[nodiscard]] bool needs_list() const noexcept { return bound.counts_something() || once != nullptr; }

  /// Makes plans if there are none yet, or if the graph has changed much since they were made.
  void refresh_plans();

  Query query;  ///< as it was asked; `bound` may have further conditions
  QueryOptions options;
  QueryBudget budget;
  plan::BoundQuery bound;
  Delivery delivery;
  std::unique_ptr<OnceRule> once;   ///< null unless the query says ALERT ONCE
  std::unique_ptr<FinalWait> wait;  ///< null unless it says EMIT FINAL
  plan::QueryPlans plans;
  std::vector<plan::PlanActuals> actuals;
  bool planned = false;
  double next_trial = 0;        ///< seconds of matching at which its next trial is due; see PlanTrials
  std::size_t first_tried = 0;  ///< the plan that the next trial begins with
};

}  // namespace deltamatch::engine
