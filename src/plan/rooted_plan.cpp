// Plans sums from a vertex. Sums below an enumerated vertex that depend on the root alone would be computed many times. They
// get tables.
#include <algorithm>
#include <bit>
#include <limits>

#include "plan/factors.hpp"
#include "plan/free_vertices.hpp"

namespace deltamatch::plan {

namespace {

// Assigns tables to leaves. Equal leaves share one.
class Tables {
 public:
  void assign(std::vector<Factor>& factors, bool inner) {
    for (Factor& factor : factors) {
      if (factor.kind == Factor::Kind::bind) {
        assign(factor.inner, true);
        assign(factor.others, inner);
      } else if (inner) {
        assign(factor);
      }
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

 private:
  struct Key {
    std::vector<Probe> probes;              // of the leaf; which edge it is does not matter
    bool below;                             // the leaf is less than the root
    bool into_below;                        // the vertex that the leaf leads to is also less than the root
    graph::QueryRelationId query_relation;  // from the leaf
    friend bool operator==(const Key& a, const Key& b) {
      return a.query_relation == b.query_relation && a.below == b.below && a.into_below == b.into_below &&
             std::ranges::equal(a.probes, b.probes, [](const Probe& x, const Probe& y) {
               return x.query_relation == y.query_relation && x.power == y.power;
             });
    }
  };

  void assign(Factor& tree) {
    for (TreeEdge& edge : tree.edges) {
      const auto leaf = root_leaf(tree, edge);
      if (!leaf) continue;
      const Candidates& into = tree.vertices[*leaf == edge.a ? edge.b : edge.a];
      Key key{tree.vertices[*leaf].probes, !tree.vertices[*leaf].below.empty(), !into.below.empty(),
              *leaf == edge.a ? edge.a_to_b : edge.b_to_a};
      const auto known = std::find(known_.begin(), known_.end(), key);
      if (known == known_.end() && known_.size() == no_table) continue;
      edge.table = static_cast<std::uint8_t>(known - known_.begin());
      edge.leaf_is_a = *leaf == edge.a;
      if (known == known_.end()) known_.push_back(std::move(key));
    }
  }

  std::vector<Key> known_;
};

// The expected work of counting with every data vertex as the root. List lengths are those that a walk along edges meets. So
// the number of roots is the number of entries divided by that length.
double rooted_cost(const BoundQuery& query, const Estimates& estimates, const RootedPlan& plan) {
  double roots = std::numeric_limits<double>::infinity();
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    for (unsigned end = 0; end < 2; ++end) {
      const std::uint32_t from = end == 0 ? query.edges[e].source : query.edges[e].target;
      if (from == plan.vertex) roots = std::min(roots, estimates.entries(e) / estimates.degree(e, end));
    }
  }
  const std::uint32_t alternatives =
      query.mode == MatchMode::isomorphism
          ? static_cast<std::uint32_t>(query.group.orbit(static_cast<query::Vertex>(plan.vertex)).size())
          : 1;
  return roots * plan.count.cost / alternatives;
}

}  // namespace

std::optional<RootedPlan> make_rooted_plan(const BoundQuery& query, const Estimates& estimates, std::uint32_t vertex,
                                           Count symmetry, const std::atomic<bool>* stop) {
  if (must_enumerate(query)) return std::nullopt;
  RootedPlan plan;
  plan.vertex = vertex;
  plan.count.divisor = symmetry;
  const std::vector<Mask> positions{Mask{1} << vertex};
  // Among the vertices that symmetry maps the root to, the root is the greatest. This counts one match in N, if there are N of
  // them.
  Mask alternatives = 0;
  if (query.mode == MatchMode::isomorphism) {
    for (const query::Vertex other : query.group.orbit(static_cast<query::Vertex>(vertex))) alternatives |= Mask{1} << other;
    plan.count.divisor /= static_cast<unsigned>(std::popcount(alternatives));
    alternatives &= ~positions[0];
  }
  const FactorBuilder builder(query, estimates, alternatives, stop);
  std::vector<std::uint32_t> free;
  for (std::uint32_t v = 0; v < query.vertices(); ++v) {
    if (v != vertex) free.push_back(v);
  }
  const std::vector<Factor> alike =
      choose_twins(builder, take_twins(query, no_anchor, positions, free), positions, plan.count.divisor);
  const auto all = partitions(query, free);
  if (!all) return std::nullopt;
  Tables tables;
  for (const auto& blocks : *all) {
    Term term{moebius(blocks), alike};
    auto factors = builder.factors(blocks, positions);
    tables.assign(factors, false);
    std::move(factors.begin(), factors.end(), std::back_inserter(term.factors));
    plan.count.cost += FactorBuilder::product_cost(term.factors);
    plan.count.terms.push_back(std::move(term));
  }
  plan.tables = tables.size();
  plan.count.cost = rooted_cost(query, estimates, plan);
  return plan;
}

}  // namespace deltamatch::plan
