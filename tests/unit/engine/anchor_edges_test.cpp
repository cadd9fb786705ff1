// The edges from which whole-graph matches start. Each edge that some plan admits is there exactly once, in portions of any
// size and on any number of threads.
#include "engine/whole/anchor_edges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "deltamatch/query.hpp"
#include "filter/pruned_lists.hpp"
#include "match/plan_index.hpp"
#include "plan/plan.hpp"

namespace deltamatch::engine {
namespace {

struct Case {
  bool directed;
  int vertex_labels;
  int edge_labels;
  const char* pattern;
};

graph::DataGraph make_graph(const Case& shape, std::uint32_t vertices, std::uint32_t edges) {
  graph::DataGraph graph(shape.directed, false);
  std::mt19937_64 random(7);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    const int label = static_cast<int>(random() % static_cast<unsigned>(shape.vertex_labels + 1));
    (void)graph.dictionary.create(v, graph.vertex_labels.intern(label == 0 ? "" : "L" + std::to_string(label)));
  }
  graph::NetBatch batch;
  for (std::uint32_t e = 0; e < edges; ++e) {
    const auto u = static_cast<VertexId>(random() % vertices);
    const auto v = static_cast<VertexId>(random() % (1 + random() % vertices));
    const int label = static_cast<int>(random() % static_cast<unsigned>(shape.edge_labels + 1));
    const LabelId number = graph.edge_labels.intern(label == 0 ? "" : "e" + std::to_string(label));
    if (u != v) batch.inserted.push_back(graph.ranked(u, v, number));
  }
  std::ranges::sort(batch.inserted);
  batch.inserted.erase(std::ranges::unique(batch.inserted).begin(), batch.inserted.end());
  Workers workers(1);
  graph.stage(batch);
  graph.settle(workers);
  return graph;
}

class AnchorEdgesOf : public testing::TestWithParam<Case> {};

TEST_P(AnchorEdgesOf, AreThoseThatConcernSomePlan) {
  graph::DataGraph graph = make_graph(GetParam(), 3000, 20000);
  const plan::BoundQuery query(parse_pattern(GetParam().pattern, "q"), MatchMode::isomorphism, CountMode::subgraphs, graph);
  graph.resolve_all();
  const plan::QueryPlans plans = plan::make_static_plans(query, {});
  const match::QueryTask task{&query, &plans, false};
  std::vector<graph::Edge> expected;
  const std::vector<graph::Resolved> resolved = graph.resolved();
  match::PlanIndex plan_index(graph, {&task, 1}, resolved);
  for (VertexId v = 0; v < graph.dictionary.capacity(); ++v) {
    graph.for_each_edge(v, false, [&](const graph::Edge& edge, Timestamp) {
      if (!plan_index.of(edge).empty()) expected.push_back(edge);
    });
  }
  ASSERT_FALSE(expected.empty());
  std::ranges::sort(expected);
  const match::StopFlag never = false;
  for (const unsigned threads : {1U, 3U}) {
    Workers workers(threads);
    for (const std::size_t wanted : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{100000}}) {
      AnchorEdges anchors(graph, task, workers, never);
      EXPECT_EQ(anchors.size(), expected.size());
      EXPECT_EQ(anchors.sum([](const graph::Edge& edge) { return edge.tail + 1.0; }), [&] {
        double sum = 0;
        for (const graph::Edge& edge : expected) sum += edge.tail + 1.0;
        return sum;
      }());
      std::vector<graph::Edge> got;
      for (std::span<const graph::Edge> next; !(next = anchors.next(wanted)).empty();) {
        EXPECT_TRUE(next.size() == wanted || got.size() + next.size() == expected.size());
        got.insert(got.end(), next.begin(), next.end());
      }
      EXPECT_TRUE(std::ranges::is_sorted(got, {}, &graph::Edge::tail));
      std::ranges::sort(got);
      EXPECT_TRUE(got == expected) << wanted << " at a time, " << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, AnchorEdgesOf,
                         testing::Values(Case{false, 0, 0, "(a)--(b)--(c)--(a)"}, Case{true, 0, 0, "(a)-->(b)-->(c)-->(a)"},
                                         Case{false, 3, 0, "(a:L1)--(b:L2)--(c:L1)"},
                                         Case{false, 3, 0, "(a:L1)--(b)--(c:L2|L3)"},
                                         Case{true, 3, 2, "(a:L1)-[:e1]->(b:L2)-[:e2]->(c)"},
                                         Case{true, 2, 2, "(a:L1)-[:e1|e2]-(b:L2)--(c)"},
                                         Case{false, 0, 2, "(a)-[:e2]-(b)-[:e1]-(c)"}));

TEST(AnchorEdges, EndWhereTheyAreStopped) {
  graph::DataGraph graph = make_graph({false, 0, 0, ""}, 3000, 20000);
  const plan::BoundQuery query(parse_pattern("(a)--(b)--(c)", "q"), MatchMode::isomorphism, CountMode::subgraphs, graph);
  graph.resolve_all();
  const plan::QueryPlans plans = plan::make_static_plans(query, {});
  const match::QueryTask task{&query, &plans, false};
  match::StopFlag stop = false;
  Workers workers(2);
  AnchorEdges anchors(graph, task, workers, stop);
  EXPECT_EQ(anchors.next(100).size(), 100U);
  stop = true;
  EXPECT_TRUE(anchors.next(100).empty());
}

TEST(AnchorEdges, AreNotReadFromLentListsOnceStopped) {
  graph::DataGraph graph = make_graph({false, 0, 0, ""}, 3000, 20000);
  plan::BoundQuery query(parse_pattern("(a)--(b)--(c)", "q"), MatchMode::isomorphism, CountMode::subgraphs, graph);
  graph.resolve_all();
  Workers workers(2);
  match::StopFlag stop = false;
  filter::Candidates candidates(query, workers, stop);
  candidates.by_label();
  const filter::PrunedLists lists(query, candidates, filter::Numbering::of_graph, workers, stop);
  lists.lend(query, graph);
  const plan::QueryPlans plans = plan::make_static_plans(query, {});
  const match::QueryTask task{&query, &plans, false};
  EXPECT_EQ(AnchorEdges(graph, task, workers, stop).size(), graph.edges());
  stop = true;
  AnchorEdges anchors(graph, task, workers, stop);
  EXPECT_EQ(anchors.size(), 0U);
  EXPECT_TRUE(anchors.next(100).empty());
}

}  // namespace
}  // namespace deltamatch::engine
