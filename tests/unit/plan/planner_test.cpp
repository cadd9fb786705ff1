// What must hold for every plan, whatever the planner prefers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include "base/checked.hpp"
#include "unit/plan/catalogue.hpp"

namespace deltamatch::plan {
namespace {

using Visit = std::function<void(const BoundQuery&, const QueryPlans&, bool delta)>;

void for_every_plan(const Visit& visit) {
  for (const bool all_different : {false, true}) {
    Data data(false, all_different);
    for (const Shape& shape : shapes()) {
      for (const MatchMode mode : {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism}) {
        for (const CountMode count : {CountMode::subgraphs, CountMode::embeddings}) {
          if (mode != MatchMode::isomorphism && count == CountMode::subgraphs) continue;
          SCOPED_TRACE(testing::Message() << shape.name << (all_different ? ", all different" : ", one label") << ", mode "
                                          << static_cast<int>(mode));
          const BoundQuery query(query_of(shape, all_different), mode, count, data.graph);
          data.graph.resolve_all();
          visit(query, make_delta_plans(query), true);
          visit(query, make_static_plans(query), false);
        }
      }
    }
  }
}

TEST(Planner, EveryEdgeIsReadOncePerPlan) {
  for_every_plan([](const BoundQuery& query, const QueryPlans& plans, bool) {
    for (const Plan& plan : plans.plans) {
      std::size_t edges = 1;  // the anchor
      std::map<std::uint32_t, int> seen{{plan.anchor.edge, 1}};
      std::vector<std::uint32_t> at{plan.tail, plan.head};
      const auto add = [&](const std::vector<Probe>& probes, std::uint32_t vertex) {
        for (const Probe& probe : probes) {
          edges += probe.power;
          ++seen[probe.edge];
          ASSERT_LT(probe.position, at.size());
          const BoundEdge& edge = query.edges[probe.edge];
          const std::uint32_t from = at[probe.position];
          const bool forth = edge.source == from && edge.target == vertex;
          EXPECT_TRUE(forth || (edge.target == from && edge.source == vertex));
          EXPECT_EQ(probe.query_relation, edge.query_relation[forth ? 0 : 1]);
        }
      };
      add(plan.closing, plan.head);
      for (const Level& level : plan.levels) {
        EXPECT_FALSE(level.candidates.probes.empty());
        add(level.candidates.probes, level.vertex);
        at.push_back(level.vertex);
      }
      EXPECT_EQ(edges, query.edges.size());
      for (const auto& [edge, times] : seen) EXPECT_EQ(times, 1) << "edge " << edge;
      std::sort(at.begin(), at.end());
      for (std::uint32_t v = 0; v < query.vertices(); ++v) EXPECT_EQ(at[v], v);
    }
  });
}

TEST(Planner, OrbitsCoverTheArcs) {
  for_every_plan([](const BoundQuery& query, const QueryPlans& plans, bool delta) {
    if (!delta) return;
    const std::size_t arcs = query::arcs(query.query).size();
    std::size_t sum = 0;
    for (const Plan& plan : plans.plans) {
      sum += plan.orbit;
      if (query.mode != MatchMode::homomorphism) {
        EXPECT_EQ(to_string(plan.orbit * plan.stabiliser), to_string(query.group.order()));
      }
    }
    EXPECT_EQ(sum, arcs);
    if (query.mode == MatchMode::homomorphism) {
      EXPECT_EQ(plans.plans.size(), arcs);
    }
  });
}

// How often a term counts each match: the stabiliser, without what chosen sets and order constraints leave out.
TEST(Planner, DivisorTimesChosenFactorialsIsTheSymmetry) {
  for_every_plan([](const BoundQuery& query, const QueryPlans& plans, bool) {
    for (const Plan& plan : plans.plans) {
      const Count symmetry = query.mode == MatchMode::isomorphism ? plan.stabiliser : 1;
      if (plan.count.terms.empty() || plan.count.ordered) {
        EXPECT_EQ(to_string(plan.count.divisor), "1");
        continue;
      }
      for (const Term& term : plan.count.terms) {
        Count product = plan.count.divisor;
        for (const Factor& factor : term.factors) product *= checked_factorial(factor.choose);
        EXPECT_EQ(to_string(product), to_string(symmetry));
      }
    }
  });
}

TEST(Planner, EveryTermHoldsEveryFreeVertexOnce) {
  for_every_plan([](const BoundQuery& query, const QueryPlans& plans, bool) {
    for (const Plan& plan : plans.plans) {
      for (const Term& term : plan.count.terms) {
        std::vector<std::uint32_t> held;
        const std::function<void(const std::vector<Factor>&)> add = [&](const std::vector<Factor>& factors) {
          for (const Factor& factor : factors) {
            for (const auto& members : factor.members) held.insert(held.end(), members.begin(), members.end());
            add(factor.inner);
          }
        };
        add(term.factors);
        for (std::size_t i = 0; i < plan.count.prefix; ++i) held.push_back(plan.levels[i].vertex);
        held.push_back(plan.tail);
        held.push_back(plan.head);
        std::sort(held.begin(), held.end());
        std::vector<std::uint32_t> all(query.vertices());
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(held, all);
      }
    }
  });
}

// Merging k free vertices weighs (-1)^(k-1) (k-1)!. A term has the product of these over its blocks: Moebius on partitions.
TEST(Planner, CoefficientsAreMoebius) {
  bool merged = false;
  for_every_plan([&](const BoundQuery&, const QueryPlans& plans, bool) {
    for (const Plan& plan : plans.plans) {
      for (const Term& term : plan.count.terms) {
        std::int64_t expected = 1;
        const std::function<void(const std::vector<Factor>&)> add = [&](const std::vector<Factor>& factors) {
          for (const Factor& factor : factors) {
            for (const auto& members : factor.members) {
              for (std::size_t k = 1; factor.choose == 1 && k < members.size(); ++k) expected *= -static_cast<std::int64_t>(k);
            }
            add(factor.inner);
          }
        };
        add(term.factors);
        EXPECT_EQ(term.coefficient, expected);
        merged = merged || expected != 1;
      }
    }
  });
  EXPECT_TRUE(merged);
}

// A caller that asks for an anchor has tried some of its images already.
TEST(Planner, AnAnchorThatIsAskedForExcludesRoots) {
  for (const bool all_different : {false, true}) {
    Data data(false, all_different);
    for (const Shape& shape : shapes()) {
      SCOPED_TRACE(shape.name);
      const BoundQuery query(query_of(shape, all_different), MatchMode::isomorphism, CountMode::subgraphs, data.graph);
      data.graph.resolve_all();
      for (const CountFrom from : {CountFrom::automatic, CountFrom::vertices}) {
        const QueryPlans plans = make_static_plans(query, {0, true, false, from});
        EXPECT_FALSE(plans.rooted);
        for (const Plan& plan : plans.plans) EXPECT_EQ(plan.anchor.edge, 0);
      }
    }
  }
}

TEST(Planner, SumsAreNotPlannedOnceStopped) {
  Data data(false, false);
  const BoundQuery query(parse_pattern("(a)--(b)--(c)--(d)--(a)--(c)", "diamond"), MatchMode::isomorphism, CountMode::subgraphs,
                         data.graph);
  data.graph.resolve_all();
  std::atomic<bool> stop = false;
  StaticPlanning how;
  how.stop = &stop;
  EXPECT_FALSE(make_static_plans(query, how).plans[0].count.terms.empty());
  stop = true;
  EXPECT_THROW(static_cast<void>(make_static_plans(query, how)), PlanningStopped);
  how.sums = false;
  EXPECT_TRUE(make_static_plans(query, how).plans[0].count.terms.empty());
}

// A clique that hardly ever exists, and a path that hangs from it. What comes after the clique adds nothing to the expected
// cost, so all ways to end cost the same. If there is such a clique after all, sums are faster.
TEST(Planner, SumsBeginEarlyWhereNothingIsExpected) {
  Data data(false, true);
  std::string pattern;
  for (int v = 0; v < 8; ++v) {
    for (int u = 0; u < v; ++u) pattern += fmt::format("(c{0}:L{0})-[:X]-(c{1}:L{1}), (c{0})-[:Y]-(c{1}), ", u, v);
  }
  pattern += "(c7)";
  for (int v = 0; v < 8; ++v) pattern += fmt::format("--(p{}:L0)", v);
  const BoundQuery query(parse_pattern(pattern, "kite"), MatchMode::isomorphism, CountMode::subgraphs, data.graph);
  data.graph.resolve_all();
  for (const Plan& plan : make_static_plans(query).plans) {
    EXPECT_LT(plan.count.prefix + 2, plan.levels.size());
    EXPECT_GT(plan.count.terms.size(), 1U);
  }
}

// The same for sums from a vertex, which is the greatest of its orbit.
TEST(Planner, RootsCountEveryMatchOnce) {
  int rooted = 0;
  int tables = 0;
  for (const bool all_different : {false, true}) {
    Data data(false, all_different);
    for (const Shape& shape : shapes()) {
      SCOPED_TRACE(shape.name);
      const BoundQuery query(query_of(shape, all_different), MatchMode::isomorphism, CountMode::subgraphs, data.graph);
      data.graph.resolve_all();
      const auto plan = make_static_plans(query, {{}, true, false, CountFrom::vertices}).rooted;
      if (!plan) continue;
      ++rooted;
      tables += static_cast<int>(plan->tables);
      const auto orbit = query.group.orbit(static_cast<query::Vertex>(plan->vertex)).size();
      for (const Term& term : plan->count.terms) {
        Count classes = plan->count.divisor * orbit;
        for (const Factor& factor : term.factors) classes *= checked_factorial(factor.choose);
        EXPECT_EQ(to_string(classes), to_string(query.group.order()));
        std::vector<std::uint32_t> held{plan->vertex};
        const std::function<void(const std::vector<Factor>&)> add = [&](const std::vector<Factor>& factors) {
          for (const Factor& factor : factors) {
            for (const auto& members : factor.members) held.insert(held.end(), members.begin(), members.end());
            add(factor.inner);
          }
        };
        add(term.factors);
        std::sort(held.begin(), held.end());
        std::vector<std::uint32_t> all(query.vertices());
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(held, all);
      }
    }
  }
  EXPECT_GT(rooted, 20);
  EXPECT_GT(tables, 0);
}

// If the levels have no label in common, nothing may be merged. There is one term, whatever is summed.
TEST(Planner, DifferentLabelsNeedNoCorrection) {
  Data data(false, true);
  for (const Shape& shape : shapes()) {
    const BoundQuery query(query_of(shape, true), MatchMode::isomorphism, CountMode::subgraphs, data.graph);
    data.graph.resolve_all();
    for (const Plan& plan : make_delta_plans(query).plans) {
      EXPECT_EQ(plan.count.terms.size(), 1U) << shape.name;
      for (const Level& level : plan.levels) EXPECT_TRUE(level.candidates.distinct.empty()) << shape.name;
    }
  }
}

}  // namespace
}  // namespace deltamatch::plan
