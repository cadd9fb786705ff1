// Tests the conditions of a plan that read nothing but its anchor, before a search begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "condition/evaluate.hpp"
#include "plan/condition_steps.hpp"
#include "plan/plan.hpp"

namespace deltamatch::match {

/// In a whole graph most edges fail these conditions. To test them here takes less time than to begin a search. One is used by
/// one thread, for any queries and plans.
class AnchorConditions {
 public:
  /// Whether a data edge satisfies what the plan of a conditional query asks of its anchor alone. O(conditions).
  [[nodiscard]] bool hold(const plan::BoundQuery& query, const plan::Plan& plan, const graph::Edge& anchor) {
    const plan::ConditionStep& first = plan.steps[1][0];
    if (first.conditions.empty()) return true;
    vertices_.resize(query.vertices());
    edges_.resize(query.edges.size());
    vertices_[plan.tail] = anchor.tail;
    vertices_[plan.head] = anchor.head;
    edges_[plan.anchor.edge] = anchor;
    for (std::size_t i = 0; i < first.conditions.size(); ++i) {
      if (first.reads[i] != 0) continue;  // it reads another edge between the ends, too
      const std::uint32_t c = first.conditions[i];
      if (condition::evaluate(query.conditions[c], plan::BoundValues(query, c, vertices_, edges_)) != condition::Truth::yes)
        return false;
    }
    return true;
  }

 private:
  std::vector<VertexId> vertices_;  // by query vertex
  std::vector<graph::Edge> edges_;  // by query edge
};

}  // namespace deltamatch::match
