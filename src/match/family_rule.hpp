// Variants of one query need much the same around an anchor. If one of them has no edges to go on with, others may be known to
// have none either, and are not tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "match/matcher.hpp"
#include "match/plan_index.hpp"

namespace deltamatch::match {

/// Whether a plan needs at the ends of an anchor all that another one needs there. For each query edge that the other looks
/// for, it looks for one at the same end. Its labels and times are among those that the other admits. So if the other one finds
/// no such edge, this plan has no match at the anchor. `query` and `other` must be bound to one graph, whose edges have slots.
[[nodiscard]] bool needs_no_less(const plan::BoundQuery& query, const plan::Plan& plan, const plan::BoundQuery& other,
                                 const plan::Plan& other_plan);

/// Says of each plan which one of its family is tried first and decides for it.
class FamilyRule {
 public:
  /// `tells`: whether the plan of a task is tried and tells that an anchor lacks edges. O(plans * leaders), of which each
  /// family has few.
  FamilyRule(std::span<const QueryTask> tasks, const std::function<bool(std::size_t task, std::size_t plan)>& tells);

  /// The plan that decides for this one, if there is one. It belongs to an earlier task.
  [[nodiscard]] const PlanRef* leader(const PlanRef& plan) const noexcept {
    if (plan.task >= leaders_.size() || plan.plan >= leaders_[plan.task].size()) return nullptr;
    const std::optional<PlanRef>& leader = leaders_[plan.task][plan.plan];
    return leader ? &*leader : nullptr;
  }

 private:
  using Tells = std::function<bool(std::size_t, std::size_t)>;
  void add(std::span<const QueryTask> tasks, std::size_t first, std::size_t end, const Tells& tells);

  std::vector<std::vector<std::optional<PlanRef>>> leaders_;  // by task and plan; may end early
};

}  // namespace deltamatch::match
