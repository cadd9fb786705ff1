// How a plan counts: which levels to enumerate, and what to sum below them.
//
// Needs the levels of the plan in matching order. For every length of the enumerated prefix, what is left is a set of free
// query vertices. Free vertices that may coincide although they must not are corrected by inclusion and exclusion
// (free_vertices.hpp): every term is a count without distinctness, which splits into the components of the free vertices. A
// component that is a tree is summed by elimination of its leaves; one with a cycle enumerates a vertex and splits again
// (factors.hpp). The cheapest wins.
#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "plan/factors.hpp"
#include "plan/free_vertices.hpp"

namespace deltamatch::plan {

namespace {

// Whether the automorphisms that a plan has to deal with are those that leave the twins in place, combined with any exchange of
// twins. Order constraints among the other vertices then are those of the former.
bool apart(const BoundQuery& query, const Plan& plan, std::uint32_t anchor, const Factor& twins, Count symmetry) {
  std::vector<query::Vertex> fixed;
  for (const std::uint32_t v : twins.members[0]) fixed.push_back(static_cast<query::Vertex>(v));
  if (anchor != no_anchor) {
    fixed.push_back(static_cast<query::Vertex>(plan.tail));
    fixed.push_back(static_cast<query::Vertex>(plan.head));
  }
  return query.group.stabiliser(fixed).order() * checked_factorial(twins.members[0].size()) == symmetry;
}

// Static plans of cliques and their like: lists are intersected at every level, so that order constraints leave little.
bool intersects_everywhere(const Plan& plan, std::uint32_t anchor) {
  return anchor == no_anchor &&
         std::ranges::all_of(plan.levels, [](const Level& level) { return level.candidates.probes.size() >= 2; });
}

// What it costs to count the candidates of the level after the prefix, of which earlier levels have intersected a part; else
// `otherwise`.
double extension_cost(const Plan& plan, std::size_t prefix, double otherwise) {
  const Level& level = plan.levels[prefix];
  if (level.reuse < 0) return otherwise;
  return list_overhead * static_cast<double>(1 + level.rest.size()) +
         plan.levels[static_cast<std::size_t>(level.reuse)].estimate;
}

bool only_trees(const Term& term) {
  return std::all_of(term.factors.begin(), term.factors.end(),
                     [](const Factor& factor) { return factor.kind == Factor::Kind::tree; });
}

}  // namespace

CountPlan make_count_plan(const BoundQuery& query, const Estimates& estimates, const Plan& plan, Count symmetry,
                          std::uint32_t anchor, bool allow_ordered, const std::atomic<bool>* stop) {
  CountPlan best;
  best.divisor = symmetry;
  if (must_enumerate(query)) {
    best.ordered = query.mode == MatchMode::isomorphism;
    best.prefix = plan.levels.size();
    best.divisor = 1;
    return best;
  }
  best.cost = std::numeric_limits<double>::infinity();
  std::vector<Mask> positions{Mask{1} << plan.tail, Mask{1} << plan.head};
  double partials = 1;
  double prefix_cost = 0;
  for (std::size_t prefix = 0; prefix == 0 || prefix < plan.levels.size(); ++prefix) {
    if (prefix > 0) {
      const Level& level = plan.levels[prefix - 1];
      positions.push_back(Mask{1} << level.vertex);
      prefix_cost += partials * (list_overhead * static_cast<double>(level.candidates.probes.size()) + level.estimate);
      partials *= level.estimate;
    }
    const FactorBuilder builder(query, estimates, anchor, positions.size(), stop);
    CountPlan candidate;
    candidate.prefix = prefix;
    candidate.divisor = symmetry;
    std::vector<std::uint32_t> free;
    for (std::size_t i = prefix; i < plan.levels.size(); ++i) free.push_back(plan.levels[i].vertex);
    const bool last = free.size() <= 1;
    const std::vector<Factor> alike =
        choose_twins(builder, take_twins(query, anchor, positions, free), positions, candidate.divisor);
    const auto all = partitions(query, free);
    if (!all) continue;
    double cost = prefix_cost;
    for (const auto& blocks : *all) {
      Term term;
      term.coefficient = moebius(blocks);
      term.factors = alike;
      auto factors = builder.factors(blocks, positions);
      std::move(factors.begin(), factors.end(), std::back_inserter(term.factors));
      cost += partials * FactorBuilder::product_cost(term.factors);
      candidate.terms.push_back(std::move(term));
    }
    candidate.cost = cost;
    if (cost < best.cost) best = candidate;
    // Nothing enumerated and nothing to correct: sums decide at run time what a prefix would fix beforehand, and trees never
    // take longer than the lists they read, whatever the estimates say. Where a cycle is enumerated, order constraints may
    // still win.
    const bool sums_alone = only_trees(candidate.terms[0]) && !intersects_everywhere(plan, anchor);
    if (prefix == 0 && candidate.terms.size() == 1 && (symmetry <= 1 || sums_alone)) break;
    if (!allow_ordered || symmetry <= 1) continue;
    // All but the last vertex enumerated, or all but twins that symmetry exchanges with no others, under the order constraints:
    // each match once.
    const bool twins_left = free.empty() && alike.size() == 1 && apart(query, plan, anchor, alike[0], symmetry);
    if (alike.empty() ? !last : !twins_left) continue;
    candidate.cost =
        prefix < plan.levels.size() ? prefix_cost + partials * extension_cost(plan, prefix, cost / partials) : cost;
    candidate.cost /= std::min(1e6, static_cast<double>(symmetry));
    candidate.ordered = true;
    candidate.divisor = 1;
    if (alike.empty() && !plan.levels.empty()) {
      Candidates& leaf = candidate.terms[0].factors[0].vertices[0];
      leaf.above = plan.levels.back().candidates.above;
      leaf.below = plan.levels.back().candidates.below;
    }
    if (candidate.cost < best.cost) best = candidate;
  }
  return best;
}

}  // namespace deltamatch::plan
