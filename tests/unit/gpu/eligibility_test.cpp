// Which queries kernels run. flat_programs_test.cpp has the limits that depend on the graph.
#include "gpu/program/eligibility.hpp"

#include <gtest/gtest.h>

#include "deltamatch/query.hpp"

namespace deltamatch::gpu {
namespace {

bool runs(const char* pattern, MatchMode mode, bool induced) {
  graph::DataGraph graph(false, false);
  const plan::BoundQuery query(parse_pattern(pattern, "q"), mode, CountMode::embeddings, graph, induced);
  graph.resolve_all();
  const plan::QueryPlans plans;
  return runs_on_kernels({&query, &plans, false}, graph.resolved(), false);
}

TEST(Eligibility, InducedMatchesOfOtherModesAreLeftToTheCpu) {
  constexpr const char* triangle = "(a)--(b)--(c)--(a)";
  for (const MatchMode mode : {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism}) {
    EXPECT_TRUE(runs(triangle, mode, false));
    EXPECT_TRUE(runs_whole(mode, false));
    EXPECT_EQ(runs(triangle, mode, true), mode == MatchMode::isomorphism);
    EXPECT_EQ(runs_whole(mode, true), mode == MatchMode::isomorphism);
  }
}

// Conditions on ids and attributes of vertices are possible in each model of edges.
TEST(Eligibility, ConditionsAreLeftToTheCpu) {
  EXPECT_TRUE(runs("(a)--(b)--(c)--(a)", MatchMode::isomorphism, false));
  EXPECT_FALSE(runs("(a)--(b)--(c)--(a) WHERE id(a) < 7", MatchMode::isomorphism, false));
}

TEST(Eligibility, GraphsWhoseEdgesHaveAnIdentityAreLeftToTheCpu) {
  for (const EdgeModel model : {EdgeModel::simple, EdgeModel::keyed, EdgeModel::events}) {
    graph::DataGraph graph(true, false, graph::heap_slabs(), {model, {}, {}});
    EXPECT_EQ(reads_graph(graph), model == EdgeModel::simple);
    const plan::BoundQuery query(parse_pattern("(a)-->(b)-->(c)", "q"), MatchMode::isomorphism, CountMode::embeddings, graph,
                                 false);
    graph.resolve_all();
    const plan::QueryPlans plans;
    EXPECT_EQ(runs_on_kernels({&query, &plans, false}, graph.resolved(), false), model == EdgeModel::simple);
  }
}

TEST(Eligibility, EdgesThatOneDataEdgeCouldServeAreLeftToTheCpu) {
  constexpr const char* twice = "(a)-[:T]-(b), (a)--(b)";
  EXPECT_FALSE(runs(twice, MatchMode::isomorphism, false));
  EXPECT_TRUE(runs(twice, MatchMode::homomorphism, false));
}

}  // namespace
}  // namespace deltamatch::gpu
