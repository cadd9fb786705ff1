#include "plan/condition_steps.hpp"

#include <algorithm>

namespace deltamatch::plan {

namespace {

/// Whether the bounds on times imply the condition. They are kept anyway, and an edge without a time does not keep them.
bool follows_from(const condition::TimeBounds& bounds, const condition::Program& program) {
  using condition::Operation;
  using condition::Wide;
  if (!program.linear || program.linear->operation == Operation::equal) return false;
  const condition::LinearComparison::Side& left = program.linear->left;
  const condition::LinearComparison::Side& right = program.linear->right;
  const auto is_time = [&](const condition::LinearComparison::Side& side) {
    return side.load && side.load->operation == Operation::load_time && side.times == 1;
  };
  if ((left.load && !is_time(left)) || (right.load && !is_time(right))) return false;
  const auto edge = [&](const condition::LinearComparison::Side& side) { return program.elements[side.load->element].index; };
  const Wide limit = right.plus - left.plus - (program.linear->operation == Operation::less ? 1 : 0);
  const auto implied = [&](std::int64_t bound) { return bound != condition::TimeBounds::none && bound <= limit; };
  if (left.load && right.load) return edge(left) != edge(right) && implied(bounds.difference(edge(left), edge(right)));
  if (left.load) return implied(bounds.latest(edge(left)));
  return right.load && implied(bounds.negated_earliest(edge(right)));
}

}  // namespace

ConditionSteps condition_steps(const BoundQuery& query, const Plan& plan) {
  std::vector<std::size_t> position(query.vertices());
  position[plan.tail] = 0;
  position[plan.head] = 1;
  for (std::size_t l = 0; l < plan.levels.size(); ++l) position[plan.levels[l].vertex] = l + 2;
  const auto later_end = [&](std::uint32_t edge) {
    return std::max(position[query.edges[edge].source], position[query.edges[edge].target]);
  };

  ConditionSteps steps(plan.levels.size() + 2);
  struct Place {
    std::size_t position;
    std::size_t step;
    bool operator<(const Place& other) const noexcept {
      return position != other.position ? position < other.position : step < other.step;
    }
  };
  std::vector<Place> edge_place(query.edges.size());
  for (std::size_t p = 1; p < steps.size(); ++p) steps[p].emplace_back();
  edge_place[plan.anchor.edge] = {1, 0};
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    if (e == plan.anchor.edge) continue;
    std::vector<ConditionStep>& at = steps[later_end(e)];
    at.push_back({e, {}, {}});
    edge_place[e] = {later_end(e), at.size() - 1};
  }
  for (std::uint32_t c = 0; c < query.conditions.size(); ++c) {
    if (follows_from(query.time_bounds, query.conditions[c])) continue;
    Place last{1, 0};
    for (const Element& element : query.conditions[c].elements) {
      const bool vertex = element.kind == Element::Kind::vertex;
      const Place place = vertex ? Place{std::max<std::size_t>(position[element.index], 1), 0} : edge_place[element.index];
      last = std::max(last, place);
    }
    std::uint64_t reads = 0;
    for (const Element& element : query.conditions[c].elements) {
      if (element.kind != Element::Kind::edge || edge_place[element.index].position != last.position) continue;
      if (element.index != plan.anchor.edge) reads |= std::uint64_t{1} << edge_place[element.index].step % 64;
    }
    steps[last.position][last.step].conditions.push_back(c);
    steps[last.position][last.step].reads.push_back(reads);
  }
  return steps;
}

bool satisfies(const BoundQuery& query, std::span<const VertexId> vertices, std::span<const graph::Edge> edges) {
  const condition::TimeBounds& bounds = query.time_bounds;
  constexpr std::int64_t none = condition::TimeBounds::none;
  const auto within = [](Timestamp a, Timestamp b, std::int64_t limit) {
    if (limit == none) return true;
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a, b, &difference)) return a < b;
    return difference <= limit;
  };
  for (std::size_t x = 0; bounds.any() && x < edges.size(); ++x) {
    const auto time = query.graph().edge_table->time(edges[x].which);
    if (!time) {
      if (bounds.binds(x)) return false;
      continue;
    }
    if (!within(*time, 0, bounds.latest(x)) || !within(0, *time, bounds.negated_earliest(x))) return false;
    for (std::size_t y = 0; y < edges.size(); ++y) {
      const auto other = query.graph().edge_table->time(edges[y].which);
      if (x != y && other && !within(*time, *other, bounds.difference(x, y))) return false;
    }
  }
  for (std::size_t c = 0; c < query.conditions.size(); ++c) {
    if (evaluate(query.conditions[c], BoundValues(query, c, vertices, edges)) != condition::Truth::yes) return false;
  }
  return true;
}

}  // namespace deltamatch::plan
