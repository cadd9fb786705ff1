#include "match/family_rule.hpp"

#include <algorithm>

namespace deltamatch::match {

namespace {

using condition::TimeBounds;

// The most groups of a family. Further plans are tried alone.
constexpr std::size_t most_leaders = 16;

/// Whether all labels of `part` are among those of `whole`. None stand for all.
bool within(const plan::LabelIds& part, const plan::LabelIds& whole) noexcept {
  return whole.empty() || (!part.empty() && std::ranges::includes(whole, part));
}

/// The end of a query edge at the query vertex: 0 if that is its source, 1 if its target, 2 if it is neither.
unsigned end_of(const plan::BoundEdge& edge, std::uint32_t vertex) noexcept {
  return edge.source == vertex ? 0 : edge.target == vertex ? 1 : 2;
}

}  // namespace

bool times_within(const TimeBounds& bounds, std::uint32_t edge, std::uint32_t anchor, const TimeBounds& other,
                  std::uint32_t other_edge, std::uint32_t other_anchor) noexcept {
  if (!other.any() || !other.binds(other_edge)) return true;
  return bounds.any() && bounds.binds(edge) && bounds.difference(edge, anchor) <= other.difference(other_edge, other_anchor) &&
         bounds.difference(anchor, edge) <= other.difference(other_anchor, other_edge) &&
         bounds.latest(edge) <= other.latest(other_edge) && bounds.negated_earliest(edge) <= other.negated_earliest(other_edge);
}

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

FamilyRule::FamilyRule(std::span<const QueryTask> tasks, const Kind& kind) {
  for (std::size_t first = 0; first < tasks.size();) {
    std::size_t end = first + 1;
    while (end < tasks.size() && tasks[end].family == tasks[first].family) ++end;
    if (end - first > 1) add(tasks, first, end, kind);
    first = end;
  }
}

void FamilyRule::add(std::span<const QueryTask> tasks, std::size_t first, std::size_t end, const Kind& kind) {
  places_.resize(end);
  std::vector<std::uint32_t> open;  // the groups of this family
  for (std::size_t t = first; t < end; ++t) {
    const QueryTask& task = tasks[t];
    places_[t].resize(task.plans->plans.size());
    const std::size_t earlier = open.size();  // those that another task leads
    for (std::size_t p = 0; p < task.plans->plans.size(); ++p) {
      const int own = kind(t, p);
      if (own == 0) continue;
      const auto led =
          std::find_if(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(earlier), [&](std::uint32_t group) {
            const Member& leader = groups_[group][0];
            const QueryTask& by = tasks[leader.task];
            return groups_[group].size() <= most_followers && kind(leader.task, leader.plan) == own &&
                   needs_no_less(*task.query, task.plans->plans[p], *by.query, by.plans->plans[leader.plan]);
          });
      const Member member{static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(p)};
      if (led != open.begin() + static_cast<std::ptrdiff_t>(earlier)) {
        places_[t][p] = {*led, static_cast<std::uint32_t>(groups_[*led].size())};
        groups_[*led].push_back(member);
      } else if (open.size() < most_leaders) {
        open.push_back(static_cast<std::uint32_t>(groups_.size()));
        places_[t][p] = {open.back(), 0};
        groups_.push_back({member});
      }
    }
  }
}

}  // namespace deltamatch::match
