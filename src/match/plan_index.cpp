#include "match/plan_index.hpp"

#include <algorithm>
#include <iterator>

#include "match/intersect.hpp"

namespace deltamatch::match {

namespace {

// Marks a plan that is tried with its leader. A leader's own bits are odd.
constexpr std::uint64_t follower = 2;
// An index that goes on forgets the plans that it found once they are for more combinations of labels.
constexpr std::size_t most_known = 1 << 14;

bool powers_meet_parallels(const plan::Factor& factor, std::span<const graph::Resolved> resolved) {
  const auto bad = [&](std::uint8_t power, graph::QueryRelationId query_relation) {
    return power > 1 && resolved[query_relation].parallel;
  };
  return std::any_of(factor.vertices.begin(), factor.vertices.end(),
                     [&](const plan::Candidates& wanted) {
                       return std::any_of(wanted.probes.begin(), wanted.probes.end(),
                                          [&](const plan::Probe& probe) { return bad(probe.power, probe.query_relation); });
                     }) ||
         std::any_of(factor.edges.begin(), factor.edges.end(),
                     [&](const plan::TreeEdge& edge) { return bad(edge.power, edge.a_to_b); }) ||
         std::any_of(factor.inner.begin(), factor.inner.end(),
                     [&](const plan::Factor& inner) { return powers_meet_parallels(inner, resolved); }) ||
         std::any_of(factor.others.begin(), factor.others.end(),
                     [&](const plan::Factor& other) { return powers_meet_parallels(other, resolved); });
}

/// Whether the plan reads a list that no vertex has ever had.
bool is_barren(const plan::Plan& plan, std::span<const graph::Resolved> resolved) {
  const auto empty = [&](const plan::Probe& probe) {
    const graph::Resolved& where = resolved[probe.query_relation];
    return where.store == nullptr || where.store->longest(where.relation) == 0;
  };
  return std::ranges::any_of(plan.closing, empty) || std::ranges::any_of(plan.levels, [&](const plan::Level& level) {
           return std::ranges::any_of(level.candidates.probes, empty);
         });
}

/// What the plan reads at the end of its anchor at a position. Every match needs it.
Needs needs_of(const plan::Plan& plan, plan::Position position, std::span<const graph::Resolved> resolved) {
  Needs needs;
  const auto add = [&](const plan::Probe& probe) {
    const graph::Resolved& where = resolved[probe.query_relation];
    if (probe.position != position || where.lent) return;
    (where.derived ? needs.derived : needs.base) |= graph::Adjacency::signature_bit(where.relation);
  };
  std::ranges::for_each(plan.closing, add);
  for (const plan::Level& level : plan.levels) std::ranges::for_each(level.candidates.probes, add);
  return needs;
}

}  // namespace

bool must_walk(const plan::CountPlan& count, std::span<const graph::Resolved> resolved) {
  if (count.terms.empty()) return true;
  for (const plan::Term& term : count.terms) {
    for (const plan::Factor& factor : term.factors) {
      if (powers_meet_parallels(factor, resolved)) return true;
    }
  }
  return false;
}

bool must_walk_together(std::span<const plan::Plan> plans, std::span<const graph::Resolved> resolved) {
  return std::ranges::all_of(plans, [&](const plan::Plan& plan) { return plan.anchor.edge == plans[0].anchor.edge; }) &&
         std::ranges::any_of(plans, [&](const plan::Plan& plan) { return must_walk(plan.count, resolved); });
}

bool may_be_root(const QueryTask& task, VertexId vertex, std::span<const graph::Resolved> resolved) {
  const std::uint32_t root = task.plans->rooted->vertex;
  return std::ranges::all_of(task.query->edges, [&](const plan::BoundEdge& edge) {
    if (edge.source != root && edge.target != root) return true;
    const graph::Resolved& where = resolved[edge.query_relation[edge.source == root ? 0 : 1]];
    return where.store != nullptr && !where.store->ids(vertex, where.relation).empty();
  });
}

PlanIndex::PlanIndex(const graph::DataGraph& graph, std::span<const QueryTask> tasks, std::span<const graph::Resolved> resolved,
                     const FamilyRule* rule) noexcept
    : graph_(&graph),
      tasks_(tasks),
      resolved_(resolved),
      lent_(std::ranges::any_of(resolved, &graph::Resolved::lent)),
      rule_(lent_ ? nullptr : rule) {}

std::vector<std::uint64_t> PlanIndex::basis(const graph::DataGraph& graph, std::span<const QueryTask> tasks,
                                            std::span<const graph::Resolved> resolved, const FamilyRule* rule) {
  std::vector<std::uint64_t> words{reinterpret_cast<std::uintptr_t>(&graph), rule == nullptr ? 0U : 1U};
  for (const graph::Resolved& where : resolved) {
    const bool barren = where.store == nullptr || where.store->longest(where.relation) == 0;
    words.push_back(reinterpret_cast<std::uintptr_t>(where.store));
    words.push_back(std::uint64_t{where.relation} << 32 | (where.derived ? 8U : 0U) | (where.parallel ? 4U : 0U) |
                    (where.lent ? 2U : 0U) | (barren ? 1U : 0U));
  }
  const bool parallel = std::ranges::any_of(resolved, &graph::Resolved::parallel);
  for (const QueryTask& task : tasks) {
    words.push_back(task.query->id);
    words.push_back(task.family);
    // The query decides where plans begin and what they read. But sums differ between its plans.
    for (const plan::Plan& plan : task.plans->plans)
      words.push_back(plan.count.terms.empty() || (parallel && must_walk(plan.count, resolved)) ? 1 : 0);
  }
  return words;
}

void PlanIndex::renew(std::span<const QueryTask> tasks, std::span<const graph::Resolved> resolved,
                      const FamilyRule* rule) noexcept {
  tasks_ = tasks;
  resolved_ = resolved;
  rule_ = lent_ ? nullptr : rule;
  if (known_.size() > most_known) {
    known_.clear();
    last_ = nullptr;
  }
}

std::span<const IndexedPlan> PlanIndex::of(const graph::Edge& anchor) {
  // Without labels no vertex is looked up. The look-up would take longer than everything else.
  const bool labelled = graph_->vertex_labels.size() > 1;
  const LabelId tail = labelled ? graph_->dictionary.label(anchor.tail) : empty_label;
  const LabelId head = labelled ? graph_->dictionary.label(anchor.head) : empty_label;
  const Labels labels{graph_->label_of(anchor), tail, head, anchor.tail == anchor.head};
  if (last_ == nullptr || labels != last_labels_) {
    auto at = known_.find(labels);
    if (at == known_.end()) at = known_.emplace(labels, std::make_unique<Kind>(find_plans(labels))).first;
    last_ = at->second.get();
    last_labels_ = labels;
  }
  if (!lent_) return last_->plans;
  held_.clear();
  std::ranges::copy_if(last_->plans, std::back_inserter(held_), [&](const PlanRef& plan) { return holds(plan, anchor); });
  return held_;
}

ScreenTests& PlanIndex::tests() {
  if (!last_->tests) last_->tests = lent_ ? ScreenTests() : ScreenTests(tasks_, last_->plans, resolved_);
  return *last_->tests;
}

// Whether the lists that the query reads hold the anchor in the plan's orientation. Lent lists may lack it.
bool PlanIndex::holds(const PlanRef& ref, const graph::Edge& anchor) const {
  const QueryTask& task = tasks_[ref.task];
  const plan::Plan& plan = task.plans->plans[ref.plan];
  const auto& query_relation = task.query->edges[plan.anchor.edge].query_relation;
  const auto there = [&](graph::QueryRelationId id, VertexId vertex, VertexId neighbour) {
    const graph::Resolved& where = resolved_[id];
    if (!where.lent) return true;
    const auto list = where.store->ids(vertex, where.relation);
    return contains(list.data(), list.size(), neighbour);
  };
  return there(query_relation[plan.anchor.reversed ? 1 : 0], anchor.tail, anchor.head) &&
         there(query_relation[plan.anchor.reversed ? 0 : 1], anchor.head, anchor.tail);
}

void PlanIndex::list_plans() {
  listed_ = true;
  for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
    const plan::BoundQuery& query = *tasks_[t].query;
    const bool all_walk = must_walk_together(tasks_[t].plans->plans, resolved_);
    for (std::uint32_t p = 0; p < tasks_[t].plans->plans.size(); ++p) {
      const plan::Plan& plan = tasks_[t].plans->plans[p];
      if (is_barren(plan, resolved_)) continue;
      const IndexedPlan ref{{.task = t, .plan = p, .walk = all_walk || must_walk(plan.count, resolved_)},
                            needs_of(plan, 0, resolved_),
                            needs_of(plan, 1, resolved_)};
      const plan::LabelIds& labels = query.labels[plan.tail];
      // Lent lists may have their own numbers of vertices. `holds` looks up whether they have the anchor.
      if (labels.empty() || resolved_[query.edges[plan.anchor.edge].query_relation[0]].lent) {
        any_tail_.push_back(ref);
      } else {
        for (const LabelId label : labels) by_tail_[label].push_back(ref);
      }
    }
  }
}

std::vector<IndexedPlan> PlanIndex::find_plans(const Labels& of) {
  if (!listed_) list_plans();
  std::vector<IndexedPlan> found;
  const auto take = [&](std::span<const IndexedPlan> plans) {
    for (const IndexedPlan& ref : plans) {
      const plan::BoundQuery& query = *tasks_[ref.task].query;
      const plan::Plan& plan = tasks_[ref.task].plans->plans[ref.plan];
      const plan::BoundEdge& edge = query.edges[plan.anchor.edge];
      const bool head_fits = resolved_[edge.query_relation[0]].lent || plan::admits(query.labels[plan.head], of.head);
      if (head_fits && plan::admits(edge.labels, of.edge) && plan::may_begin(query, plan.anchor, of.loop)) found.push_back(ref);
    }
  };
  take(any_tail_);
  const auto middle = static_cast<std::ptrdiff_t>(found.size());
  if (const auto at = by_tail_.find(of.tail); at != by_tail_.end()) take(at->second);
  std::ranges::inplace_merge(found, found.begin() + middle, {},
                             [](const PlanRef& ref) { return std::uint64_t{ref.task} << 32 | ref.plan; });
  if (rule_ != nullptr) group(found);
  return found;
}

// Takes out the plans whose leader is there, too.
void PlanIndex::group(std::vector<IndexedPlan>& plans) const {
  std::vector<IndexedPlan*> leaders(rule_->groups());
  for (IndexedPlan& plan : plans) {
    const FamilyRule::Place place = rule_->place(plan.task, plan.plan);
    if (place.group == FamilyRule::none) continue;
    if (place.number == 0) {
      leaders[place.group] = &plan;
    } else if (IndexedPlan* leader = leaders[place.group]; leader != nullptr) {
      leader->together |= std::uint64_t{1} | std::uint64_t{1} << place.number;
      leader->tail = leader->head = {};  // those who are tried with it may read less
      plan.together = follower;
    }
  }
  std::erase_if(plans, [](const PlanRef& plan) { return plan.together == follower; });
}

}  // namespace deltamatch::match
