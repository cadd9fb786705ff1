#include "match/family_rule.hpp"

#include <algorithm>

namespace deltamatch::match {

namespace {

using condition::TimeBounds;

// The most plans of a family that decide for others.
constexpr std::size_t most_leaders = 16;

/// Whether all labels of `part` are among those of `whole`. None stand for all.
bool within(const plan::LabelIds& part, const plan::LabelIds& whole) noexcept {
  return whole.empty() || (!part.empty() && std::ranges::includes(whole, part));
}

/// The end of a query edge at the query vertex: 0 if that is its source, 1 if its target, 2 if it is neither.
unsigned end_of(const plan::BoundEdge& edge, std::uint32_t vertex) noexcept {
  return edge.source == vertex ? 0 : edge.target == vertex ? 1 : 2;
}

/// Whether an edge's times, once the anchor's is known, are among those that another edge may have.
bool times_within(const TimeBounds& bounds, std::uint32_t edge, std::uint32_t anchor, const TimeBounds& other,
                  std::uint32_t other_edge, std::uint32_t other_anchor) noexcept {
  if (!other.any() || !other.binds(other_edge)) return true;
  return bounds.any() && bounds.binds(edge) && bounds.difference(edge, anchor) <= other.difference(other_edge, other_anchor) &&
         bounds.difference(anchor, edge) <= other.difference(other_anchor, other_edge) &&
         bounds.latest(edge) <= other.latest(other_edge) && bounds.negated_earliest(edge) <= other.negated_earliest(other_edge);
}

}  // namespace

bool needs_no_less(const plan::BoundQuery& query, const plan::Plan& plan, const plan::BoundQuery& other,
                   const plan::Plan& other_plan) {
  // An edge of `query` at `vertex` that finds no more than the other's edge at `other_vertex`.
  const auto has_like = [&](std::uint32_t vertex, std::uint32_t other_edge, unsigned other_end) {
    const plan::BoundEdge& wanted = other.edges[other_edge];
    for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
      const plan::BoundEdge& edge = query.edges[e];
      const unsigned end = end_of(edge, vertex);
      if (e == plan.anchor.edge || end > 1 || edge.directed != wanted.directed || (edge.directed && end != other_end)) continue;
      const plan::LabelIds& far = query.labels[end == 0 ? edge.target : edge.source];
      const plan::LabelIds& other_far = other.labels[other_end == 0 ? wanted.target : wanted.source];
      if (within(edge.labels, wanted.labels) && within(far, other_far) &&
          times_within(query.time_bounds, e, plan.anchor.edge, other.time_bounds, other_edge, other_plan.anchor.edge)) {
        return true;
      }
    }
    return false;
  };
  for (std::uint32_t e = 0; e < other.edges.size(); ++e) {
    if (e == other_plan.anchor.edge) continue;
    for (const bool head : {false, true}) {
      const unsigned end = end_of(other.edges[e], head ? other_plan.head : other_plan.tail);
      if (end <= 1 && !has_like(head ? plan.head : plan.tail, e, end)) return false;
    }
  }
  return true;
}

FamilyRule::FamilyRule(std::span<const QueryTask> tasks, const Tells& tells) {
  for (std::size_t first = 0; first < tasks.size();) {
    std::size_t end = first + 1;
    while (end < tasks.size() && tasks[end].family == tasks[first].family) ++end;
    if (end - first > 1) add(tasks, first, end, tells);
    first = end;
  }
}

void FamilyRule::add(std::span<const QueryTask> tasks, std::size_t first, std::size_t end, const Tells& tells) {
  leaders_.resize(end);
  std::vector<PlanRef> leaders;
  for (std::size_t t = first; t < end; ++t) {
    const QueryTask& task = tasks[t];
    leaders_[t].resize(task.plans->plans.size());
    const std::vector<PlanRef> earlier = leaders;  // of other tasks
    for (std::size_t p = 0; p < task.plans->plans.size(); ++p) {
      if (!tells(t, p)) continue;
      const auto leader = std::ranges::find_if(earlier, [&](const PlanRef& one) {
        const QueryTask& by = tasks[one.task];
        return needs_no_less(*task.query, task.plans->plans[p], *by.query, by.plans->plans[one.plan]);
      });
      if (leader != earlier.end()) {
        leaders_[t][p] = *leader;
      } else if (leaders.size() < most_leaders) {
        leaders.push_back({static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(p), true});
      }
    }
  }
}

}  // namespace deltamatch::match
