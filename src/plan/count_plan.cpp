// Chooses how a plan counts: which levels to enumerate, and what to sum below them.
//
// It needs the levels of the plan in matching order. For every length of the enumerated prefix, the rest is a set of free query
// vertices. Inclusion and exclusion corrects free vertices that coincide although they must not (free_vertices.hpp). So every
// term is a count without distinctness, which splits into the components of the free vertices. A component that is a tree is
// summed by elimination of its leaves. One with a cycle enumerates a vertex and splits again (factors.hpp). The cheapest plan
// wins.
#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "plan/factors.hpp"
#include "plan/free_vertices.hpp"

namespace deltamatch::plan {

namespace {

// Whether each automorphism of the plan is one that fixes the twins, combined with an exchange of twins. Then the order
// constraints among the other vertices are those of the former.
bool apart(const BoundQuery& query, const Plan& plan, std::uint32_t anchor, const Factor& twins, Count symmetry) {
  std::vector<query::Vertex> fixed;
  for (const std::uint32_t v : twins.members[0]) fixed.push_back(static_cast<query::Vertex>(v));
  if (anchor != no_anchor) {
    fixed.push_back(static_cast<query::Vertex>(plan.tail));
    fixed.push_back(static_cast<query::Vertex>(plan.head));
  }
  return query.group.stabiliser(fixed).order() * checked_factorial(twins.members[0].size()) == symmetry;
}

// Whether a plan intersects lists at every level, as static plans of cliques do. Order constraints then leave little work.
bool intersects_everywhere(const Plan& plan, std::uint32_t anchor) {
  return anchor == no_anchor &&
         std::ranges::all_of(plan.levels, [](const Level& level) { return level.candidates.probes.size() >= 2; });
}

// The cost of counting the candidates of the level after the prefix, if an earlier level has intersected a part of its lists.
// Otherwise returns `otherwise`.
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

// The levels that are enumerated before the sums.
struct Prefix {
  std::vector<Mask> positions;
  double cost = 0;
  double partials = 1;
};

Prefix prefix_of(const Plan& plan, std::size_t levels) {
  Prefix prefix;
  prefix.positions = {Mask{1} << plan.tail, Mask{1} << plan.head};
  for (const Level& level : std::span(plan.levels).first(levels)) {
    prefix.positions.push_back(Mask{1} << level.vertex);
    prefix.cost += prefix.partials * (list_overhead * static_cast<double>(level.candidates.probes.size()) + level.estimate);
    prefix.partials *= level.estimate;
  }
  return prefix;
}

// Searches for the cheapest prefix.
class CountPlanner {
 public:
  CountPlanner(const BoundQuery& query, const Estimates& estimates, const Plan& plan, Count symmetry, std::uint32_t anchor,
               bool allow_ordered, const std::atomic<bool>* stop)
      : query_(query),
        estimates_(estimates),
        plan_(plan),
        symmetry_(symmetry),
        anchor_(anchor),
        allow_ordered_(allow_ordered && symmetry > 1),
        stop_(stop) {
    best_.cost = std::numeric_limits<double>::infinity();
    best_.divisor = symmetry;  // used if all costs are infinite; all levels are walked then
  }

  // The prefix of all levels but the last has only one term. Its cost prunes most terms of the other prefixes.
  CountPlan run() {
    const std::size_t last = plan_.levels.empty() ? 0 : plan_.levels.size() - 1;
    if (last > 0) consider(last);
    for (std::size_t prefix = 0; prefix < std::max<std::size_t>(last, 1) && !sums_alone_; ++prefix) consider(prefix);
    return std::move(best_);
  }

 private:
  // Costs may be exactly equal if almost nothing is expected to be left after a few levels. The shorter prefix wins then: if
  // the estimate is too low, sums suffer less than enumeration.
  [[nodiscard]] bool beats_best(double cost, std::size_t levels) const noexcept {
    return cost < best_.cost || (cost == best_.cost && levels < best_.prefix);
  }

  void consider(std::size_t levels) {
    const Prefix prefix = prefix_of(plan_, levels);
    if (!beats_best(prefix.cost, levels) && !allow_ordered_) return;
    const FactorBuilder builder(query_, estimates_, anchor_, prefix.positions.size(), stop_);
    CountPlan candidate;
    candidate.prefix = levels;
    candidate.divisor = symmetry_;
    candidate.cost = prefix.cost;
    std::vector<std::uint32_t> free;
    for (std::size_t i = levels; i < plan_.levels.size(); ++i) free.push_back(plan_.levels[i].vertex);
    const bool last = free.size() <= 1;
    const std::vector<Factor> alike =
        choose_twins(builder, take_twins(query_, anchor_, prefix.positions, free), prefix.positions, candidate.divisor);
    const auto all = partitions(query_, free);
    if (!all) return;
    for (const auto& blocks : *all) {
      if (!candidate.terms.empty() && !beats_best(candidate.cost, levels)) return;
      Term term{moebius(blocks), alike};
      auto factors = builder.factors(blocks, prefix.positions);
      std::move(factors.begin(), factors.end(), std::back_inserter(term.factors));
      candidate.cost += prefix.partials * FactorBuilder::product_cost(term.factors);
      candidate.terms.push_back(std::move(term));
    }
    // Nothing is enumerated or corrected: sums decide at run time what a prefix would fix in advance. Trees never take longer
    // than reading their lists, whatever the estimates are. If a cycle is enumerated, order constraints may still win.
    sums_alone_ = levels == 0 && candidate.terms.size() == 1 &&
                  (symmetry_ <= 1 || (only_trees(candidate.terms[0]) && !intersects_everywhere(plan_, anchor_)));
    if (sums_alone_ || beats_best(candidate.cost, levels)) best_ = candidate;
    if (sums_alone_ || !allow_ordered_) return;
    // With order constraints, each match is found once. This needs all vertices enumerated except the last one, or except twins
    // that symmetry exchanges with no other vertex.
    const bool twins_left = free.empty() && alike.size() == 1 && apart(query_, plan_, anchor_, alike[0], symmetry_);
    if (alike.empty() ? last : twins_left) consider_ordered(std::move(candidate), prefix, alike.empty());
  }

  void consider_ordered(CountPlan candidate, const Prefix& prefix, bool one_left) {
    if (candidate.prefix < plan_.levels.size()) {
      const double otherwise = candidate.cost / prefix.partials;
      candidate.cost = prefix.cost + prefix.partials * extension_cost(plan_, candidate.prefix, otherwise);
    }
    candidate.cost /= std::min(1e6, static_cast<double>(symmetry_));
    candidate.ordered = true;
    candidate.divisor = 1;
    if (one_left && !plan_.levels.empty()) {
      Candidates& leaf = candidate.terms[0].factors[0].vertices[0];
      leaf.above = plan_.levels.back().candidates.above;
      leaf.below = plan_.levels.back().candidates.below;
    }
    if (beats_best(candidate.cost, candidate.prefix)) best_ = std::move(candidate);
  }

  const BoundQuery& query_;
  const Estimates& estimates_;
  const Plan& plan_;
  Count symmetry_;
  std::uint32_t anchor_;
  bool allow_ordered_;
  const std::atomic<bool>* stop_;
  CountPlan best_;
  bool sums_alone_ = false;
};

}  // namespace

CountPlan make_count_plan(const BoundQuery& query, const Estimates& estimates, const Plan& plan, Count symmetry,
                          std::uint32_t anchor, bool allow_ordered, const std::atomic<bool>* stop) {
  if (must_enumerate(query)) {
    CountPlan all;
    all.ordered = query.mode == MatchMode::isomorphism;
    all.prefix = plan.levels.size();
    all.divisor = 1;
    return all;
  }
  return CountPlanner(query, estimates, plan, symmetry, anchor, allow_ordered, stop).run();
}

}  // namespace deltamatch::plan
