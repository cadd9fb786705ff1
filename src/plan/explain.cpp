#include "plan/plan.hpp"

namespace deltamatch::plan {

std::string to_text(const BoundQuery& query, const QueryPlans& plans, const std::vector<PlanActuals>&) {
  std::string text = "query " + to_pattern(query.query) + "\n";
  for (const Plan& plan : plans.plans) {
    text += "anchor edge " + std::to_string(plan.anchor.edge) + " orbit " + std::to_string(plan.orbit) + " divisor " +
            to_string(plan.count.divisor) + " prefix " + std::to_string(plan.count.prefix) + " terms " +
            std::to_string(plan.count.terms.size()) + (plan.count.ordered ? " ordered" : "") + "\n";
  }
  return text;
}

}  // namespace deltamatch::plan
