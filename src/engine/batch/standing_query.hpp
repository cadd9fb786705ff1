// A standing query: its binding, plans and delivery. If it has paths, it consists of variants.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/batch/final_wait.hpp"
#include "engine/batch/once_rule.hpp"
#include "engine/listing/delivery.hpp"
#include "plan/plan.hpp"

namespace deltamatch::engine {

/// What is matched: a query without paths, or one variant of a query with paths.
struct StandingQuery {
  StandingQuery(const Query& asked, const QueryOptions& wanted, graph::DataGraph& graph, std::vector<query::Path> in = {})
      : query(asked),
        options(wanted),
        paths(std::move(in)),
        bound(plan::standing_form(asked, wanted), wanted.mode, wanted.count, graph),
        delivery(bound, query, paths) {
    bound.planner = wanted.planner;
  }

  /// Whether it has to list its matches even if it only counts them.
  [[nodiscard]] bool needs_list() const noexcept { return bound.counts_something() || query.once.has_value(); }

  /// Makes plans if there are none yet, or if the graph has changed much since they were made. They need the graph's
  /// triangle_closure. The first query that is planned sets `closure`, and the others of the batch use it.
  void refresh_plans(std::optional<double>& closure);

  Query query;  ///< as it was asked; `bound` may have further conditions
  QueryOptions options;
  std::vector<query::Path> paths;
  plan::BoundQuery bound;
  Delivery delivery;
  std::unique_ptr<FinalWait> wait;  ///< null unless the query says EMIT FINAL
  plan::QueryPlans plans;
  std::vector<plan::PlanActuals> actuals;
  bool planned = false;
  double next_trial = 0;        ///< seconds of matching at which its next trial is due; see PlanTrials
  std::size_t first_tried = 0;  ///< the plan that the next trial begins with
};

/// What is registered and reported: a query with its variants. A query without paths has one.
struct QueryFamily {
  /// `lateness`: EngineOptions::allowed_lateness.
  QueryFamily(const Query& wanted, const QueryOptions& how, graph::DataGraph& graph, Timestamp lateness);
  /// Binds the variants anew that name a label which has been added to the graph or removed from it.
  void bind_anew(graph::DataGraph& graph);

  Query query;
  QueryOptions options;
  QueryBudget budget;
  std::vector<std::unique_ptr<StandingQuery>> variants;
  std::unique_ptr<OnceRule> once;  ///< null unless the query says ALERT ONCE
};

/// The variants of a query with paths, one on a line. Says that plans follow for the last of them, which is the longest. Empty
/// for a query without paths.
[[nodiscard]] std::string variants_text(const QueryFamily& family);

}  // namespace deltamatch::engine
