#include <algorithm>

#include "plan/condition_report.hpp"
#include "plan/condition_steps.hpp"
#include "plan/estimates.hpp"
#include "plan/matching_order.hpp"

namespace deltamatch::plan {

namespace {

// Finds the earlier level whose probes make up the largest part of this level's.
void find_reuse(std::vector<Level>& levels) {
  Level& level = levels.back();
  level.rest = level.candidates.probes;
  std::size_t covered = 1;  // reusing a single list saves nothing
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    const auto& earlier = levels[i].candidates.probes;
    const bool part = std::all_of(earlier.begin(), earlier.end(), [&](const Probe& probe) {
      return std::find_if(level.candidates.probes.begin(), level.candidates.probes.end(), [&](const Probe& own) {
               return own.position == probe.position && own.query_relation == probe.query_relation &&
                      own.inclusive == probe.inclusive;
             }) != level.candidates.probes.end();
    });
    if (!part || earlier.size() <= covered) continue;
    covered = earlier.size();
    level.reuse = static_cast<int>(i);
    level.rest.clear();
    for (const Probe& own : level.candidates.probes) {
      const bool done = std::any_of(earlier.begin(), earlier.end(), [&](const Probe& probe) {
        return own.position == probe.position && own.query_relation == probe.query_relation;
      });
      if (!done) level.rest.push_back(own);
    }
  }
}

void add_constraints(Level& level, Position position, const std::vector<std::uint32_t>& positions,
                     const std::vector<query::OrderConstraint>& constraints) {
  for (Position p = 0; p < position; ++p) {
    for (const auto& [low, high] : constraints) {
      if (high == level.vertex && (positions[p] >> low & 1u) != 0) level.candidates.above.push_back(p);
      if (low == level.vertex && (positions[p] >> high & 1u) != 0) level.candidates.below.push_back(p);
    }
  }
}

// Whether the order constraints of an earlier level also hold for a level that reuses its candidates.
bool implies(const Candidates& later, const Candidates& earlier) {
  const auto part = [](const std::vector<Position>& of, const std::vector<Position>& all) {
    return std::ranges::all_of(of, [&](Position p) { return std::ranges::find(all, p) != all.end(); });
  };
  return part(earlier.above, later.above) && part(earlier.below, later.below);
}

// The conditions of an induced match on a candidate for `vertex`.
std::vector<Joined> joined_to(const BoundQuery& query, std::uint32_t vertex, const std::vector<std::uint32_t>& positions) {
  std::vector<Joined> joined;
  if (!query.induced || query.mode != MatchMode::isomorphism) return joined;
  for (std::size_t p = 0; p < positions.size(); ++p) {
    Joined pair{static_cast<Position>(p), 0, query.any_edge[vertex]};
    for (const BoundEdge& edge : query.edges) {
      const std::uint32_t ends = 1u << edge.source | 1u << edge.target;
      if (ends == (1u << vertex | positions[p])) ++pair.edges;
    }
    joined.push_back(pair);
  }
  return joined;
}

Plan make_plan(const BoundQuery& query, const Estimates& estimates, query::Arc arc, bool fixed_anchor,
               const std::vector<query::OrderConstraint>& constraints) {
  Plan plan;
  plan.anchor = arc;
  plan.tail = query::tail(query.query, arc);
  plan.head = query::head(query.query, arc);
  const std::uint32_t anchor = fixed_anchor ? arc.edge : no_anchor;
  std::vector<std::uint32_t> positions{1u << plan.tail};
  for (const Probe& probe : candidates_for(query, 1u << plan.head, positions, anchor, 1).probes) {
    if (probe.edge != arc.edge) plan.closing.push_back(probe);
  }
  for (const auto& [low, high] : constraints) {
    plan.anchor_above = plan.anchor_above || (low == plan.tail && high == plan.head);
    plan.anchor_below = plan.anchor_below || (low == plan.head && high == plan.tail);
  }
  plan.anchor_joined = joined_to(query, plan.head, positions);
  positions.push_back(1u << plan.head);
  double partials = 1;
  for (const std::uint32_t vertex : matching_order(query, estimates, plan, anchor)) {
    Level level;
    level.vertex = vertex;
    level.candidates = candidates_for(query, 1u << level.vertex, positions, anchor, positions.size());
    level.estimate = estimates.size(1u << level.vertex, level.candidates.probes);
    add_constraints(level, static_cast<Position>(positions.size()), positions, constraints);
    level.joined = joined_to(query, level.vertex, positions);
    partials *= level.estimate;
    plan.cost += partials;
    positions.push_back(1u << level.vertex);
    plan.levels.push_back(std::move(level));
    find_reuse(plan.levels);
    const Candidates& reusing = plan.levels.back().candidates;
    for (int at = plan.levels.back().reuse; at >= 0; at = plan.levels[static_cast<std::size_t>(at)].reuse) {
      Level& reused = plan.levels[static_cast<std::size_t>(at)];  // directly or through levels in between
      reused.early_cut = reused.early_cut && implies(reusing, reused.candidates);
    }
  }
  if (query.conditional()) plan.steps = condition_steps(query, plan);
  return plan;
}

}  // namespace

QueryPlans make_delta_plans(const BoundQuery& query, std::span<const Observations> seen, std::optional<double> closure) {
  QueryPlans result;
  result.planned_edges = query.graph().edges();
  Estimates estimates(query, Estimates::Of::batches, closure ? *closure : triangle_closure(query.graph()));
  const auto trust_next = [&] {
    if (!seen.empty()) estimates.trust(seen[result.plans.size()]);
  };
  // Two arcs of an orbit may map to a self-loop in the same way. So arcs then have plans of their own.
  if (query.mode == MatchMode::homomorphism || query.takes_loops()) {
    for (const query::Arc arc : query::arcs(query.query)) {
      trust_next();
      result.plans.push_back(make_plan(query, estimates, arc, true, {}));
    }
  } else {
    for (const query::ArcOrbit& orbit : query::arc_orbits(query.query, query.group)) {
      const query::Arc arc = orbit.representative;
      const std::vector<query::Vertex> ends{static_cast<query::Vertex>(query::tail(query.query, arc)),
                                            static_cast<query::Vertex>(query::head(query.query, arc))};
      const query::Group stabiliser = query.group.stabiliser(ends);
      const bool ordered = query.mode == MatchMode::isomorphism;
      trust_next();
      result.plans.push_back(make_plan(query, estimates, arc, true,
                                       ordered ? query::order_constraints(stabiliser) : std::vector<query::OrderConstraint>{}));
      result.plans.back().orbit = static_cast<std::uint32_t>(orbit.members.size());
      result.plans.back().stabiliser = stabiliser.order();
    }
  }
  for (std::size_t p = 0; p < result.plans.size(); ++p) {
    Plan& plan = result.plans[p];
    const Count symmetry = query.mode == MatchMode::isomorphism ? plan.stabiliser : 1;
    if (!seen.empty()) estimates.trust(seen[p]);
    plan.count = make_count_plan(query, estimates, plan, symmetry, plan.anchor.edge, true);
  }
  return result;
}

std::vector<Plan> make_detours(const BoundQuery& query, const Plan& plan) {
  std::vector<Plan> detours;
  Plan beginning;
  beginning.anchor = plan.anchor;
  beginning.tail = plan.tail;
  beginning.head = plan.head;
  beginning.closing = plan.closing;
  std::vector<std::uint32_t> positions{1u << plan.tail, 1u << plan.head};
  std::uint32_t held = positions[0] | positions[1];
  for (const Level& level : plan.levels) {
    for (std::uint32_t v = 0; v < query.vertices(); ++v) {
      if (v == level.vertex || (held >> v & 1u) != 0 || (query.neighbours(v) & held) == 0) continue;
      Level other;
      other.vertex = v;
      other.candidates = candidates_for(query, 1u << v, positions, plan.anchor.edge, positions.size());
      other.rest = other.candidates.probes;
      detours.push_back(beginning);
      detours.back().levels.push_back(std::move(other));
    }
    beginning.levels.push_back(level);
    positions.push_back(1u << level.vertex);
    held |= positions.back();
  }
  return detours;
}

namespace {

// For larger queries, planning from every edge and vertex takes too long, and vertices may coincide in too many ways.
constexpr std::size_t most_searched_vertices = 8;

// Below this expected work, planning from every edge and vertex would cost more than it saves.
constexpr double searched_cost = 1e6;

// The edge with the fewest images that satisfy the conditions on it alone.
std::uint32_t rarest_edge(const BoundQuery& query, const Estimates& estimates) {
  std::vector<double> images;
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) images.push_back(estimates.entries(e));
  for (std::size_t c = 0; c < query.conditions.size(); ++c) {
    const std::optional<Selectivity> seen = sample_condition(query, c);
    const Element element = query.conditions[c].elements.empty() ? Element{} : query.conditions[c].elements[0];
    if (!seen || seen->sampled == 0 || element.kind != Element::Kind::edge) continue;
    images[element.index] *= static_cast<double>(seen->satisfied + 1) / static_cast<double>(seen->sampled + 1);
  }
  return static_cast<std::uint32_t>(std::ranges::min_element(images) - images.begin());
}

// Makes the plans that use all images of one query edge as anchors.
QueryPlans from_edge(const BoundQuery& query, const Estimates& estimates, std::uint32_t anchor, bool sums,
                     const std::atomic<bool>* stop) {
  QueryPlans result;
  const bool ordered = query.mode == MatchMode::isomorphism;
  const Count symmetry = ordered ? query.group.order() : 1;
  for (const query::Arc arc : query::arcs(query.query)) {
    if (arc.edge != anchor) continue;
    result.plans.push_back(make_plan(query, estimates, arc, false,
                                     ordered ? query::order_constraints(query.group) : std::vector<query::OrderConstraint>{}));
    result.plans.back().stabiliser = symmetry;
  }
  if (!sums) return result;
  // The plans' sums are divided together, so they must have the same divisor.
  const auto count_plans = [&](bool allow_ordered) {
    for (Plan& plan : result.plans)
      plan.count = make_count_plan(query, estimates, plan, symmetry, no_anchor, allow_ordered, stop);
  };
  count_plans(true);
  const auto alike = [&](const Plan& plan) { return plan.count.divisor == result.plans[0].count.divisor; };
  if (!std::all_of(result.plans.begin(), result.plans.end(), alike)) count_plans(false);
  return result;
}

// The expected work. All plans try each data edge; an undirected edge has two entries.
double cost_from(const QueryPlans& from_edge, const Estimates& estimates) {
  double cost = 0;
  for (const Plan& plan : from_edge.plans) cost += plan.count.cost;
  const std::uint32_t anchor = from_edge.plans[0].anchor.edge;
  return cost * estimates.entries(anchor) / static_cast<double>(from_edge.plans.size());
}

// Finds the cheapest sum from a vertex. It tries one vertex of each orbit, because the others count the same.
std::optional<RootedPlan> cheapest_root(const BoundQuery& query, const Estimates& estimates, Count symmetry,
                                        const std::atomic<bool>* stop) {
  std::optional<RootedPlan> best;
  if (query.vertices() > most_searched_vertices) return best;
  std::uint32_t seen = 0;
  for (std::uint32_t v = 0; v < query.vertices(); ++v) {
    if ((seen >> v & 1u) != 0) continue;
    for (const query::Vertex other : query.group.orbit(static_cast<query::Vertex>(v))) seen |= 1u << other;
    auto rooted = make_rooted_plan(query, estimates, v, symmetry, stop);
    if (rooted && (!best || rooted->count.cost < best->count.cost)) best = std::move(rooted);
  }
  return best;
}

}  // namespace

QueryPlans make_static_plans(const BoundQuery& query, const StaticPlanning& how) {
  const Estimates estimates(query, Estimates::Of::current, triangle_closure(query.graph()));
  const std::uint32_t rarest = rarest_edge(query, estimates);
  const std::optional<std::uint32_t> given = how.anchor ? how.anchor : first_edge(query);
  QueryPlans best = from_edge(query, estimates, given.value_or(rarest), how.sums, how.stop);
  best.planned_edges = query.graph().edges();
  if (!how.sums || how.listed) return best;
  double least = cost_from(best, estimates);
  if (least < searched_cost && how.from != CountFrom::vertices) return best;
  for (std::uint32_t e = 0; e < query.edges.size() && !given; ++e) {
    if (e == rarest || query.vertices() > most_searched_vertices) continue;
    QueryPlans plans = from_edge(query, estimates, e, true, how.stop);
    const double cost = cost_from(plans, estimates);
    if (cost >= least) continue;
    least = cost;
    best.plans = std::move(plans.plans);
  }
  // Sums from a vertex follow no order.
  if (given || how.from == CountFrom::edges || (query.planner != nullptr && how.from == CountFrom::automatic)) return best;
  best.rooted = cheapest_root(query, estimates, query.mode == MatchMode::isomorphism ? query.group.order() : 1, how.stop);
  if (best.rooted && how.from == CountFrom::automatic && best.rooted->count.cost > least) best.rooted.reset();
  return best;
}

}  // namespace deltamatch::plan
