// The planner's probabilities, compared with graphs for which they are known.
#include "plan/estimates.hpp"

#include <gtest/gtest.h>

#include <set>

#include "unit/plan/catalogue.hpp"

namespace deltamatch::plan {
namespace {

/// An undirected graph with one label and that many vertices. `joined` says which are joined.
template <class Joined>
std::unique_ptr<graph::DataGraph> make_graph(VertexId vertices, Joined&& joined) {
  auto graph = std::make_unique<graph::DataGraph>(false, false);
  graph::NetBatch batch;
  const LabelId label = graph->edge_labels.intern("X");
  for (VertexId u = 0; u < vertices; ++u) {
    graph->dictionary.create(std::int64_t{u}, graph->vertex_labels.intern("P"));
    for (VertexId v = u + 1; v < vertices; ++v) {
      if (joined(u, v)) batch.inserted.push_back(graph->ranked(u, v, label));
    }
  }
  Workers workers(1);
  graph->stage(batch);
  graph->settle(workers);
  return graph;
}

TEST(TriangleClosure, IsOneInACliqueAndNoneWithoutTriangles) {
  EXPECT_EQ(triangle_closure(*make_graph(40, [](VertexId, VertexId) { return true; })), 1);
  EXPECT_EQ(triangle_closure(*make_graph(40, [](VertexId u, VertexId v) { return (u ^ v) % 2 == 1; })), 0);
  EXPECT_EQ(triangle_closure(*make_graph(40, [](VertexId, VertexId) { return false; })), 0);
  EXPECT_EQ(triangle_closure(graph::DataGraph(false, false)), 0);
}

TEST(TriangleClosure, IsThatOfEdgesAtTheirEnds) {
  // A clique of 20, and 60 stars whose 20 leaves are not joined. Weighted by degree, the pairs of edges at a vertex of the
  // clique count 380. Those of the stars count 1,200.
  const auto graph = make_graph(20 + 60 * 21, [](VertexId u, VertexId v) {
    if (v < 20) return true;
    return u >= 20 && (u - 20) % 21 == 0 && (v - 20) / 21 == (u - 20) / 21;
  });
  EXPECT_NEAR(triangle_closure(*graph), 380.0 / (380 + 1200), 0.15);
}

TEST(Estimates, ExpectMoreCommonNeighboursOfJoinedVerticesWhereTrianglesAreMany) {
  Data data(false, false);
  const Query square = query_of({"square", 4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}}, false);
  const Query triangle = query_of({"triangle", 3, {{0, 1}, {1, 2}, {2, 0}}}, false);
  const auto size = [&](const Query& query, std::uint32_t vertex, double closure) {
    const BoundQuery bound(query, MatchMode::isomorphism, CountMode::subgraphs, data.graph);
    data.graph.resolve_all();
    std::vector<std::uint32_t> held;
    for (std::uint32_t v = 0; v < bound.vertices(); ++v) {
      if (v != vertex) held.push_back(1u << v);
    }
    const Candidates candidates = candidates_for(bound, 1u << vertex, held, no_anchor, held.size());
    EXPECT_EQ(candidates.probes.size(), 2u);
    return Estimates(bound, Estimates::Of::current, closure).size(1u << vertex, candidates.probes);
  };
  for (std::uint32_t v = 0; v < 3; ++v) {
    EXPECT_GT(size(triangle, v, 0.9), 4 * size(triangle, v, 0));
    EXPECT_EQ(size(triangle, v, 0.01), size(triangle, v, 0)) << "never less than chance";
  }
  for (std::uint32_t v = 0; v < 4; ++v) EXPECT_EQ(size(square, v, 0.9), size(square, v, 0));
}

TEST(Estimates, ExpectInBatchesTheTrianglesOfAGraphThatIsNotSmall) {
  const auto expected = [](VertexId cliques) {
    const auto graph = make_graph(20 * cliques, [](VertexId u, VertexId v) { return u / 20 == v / 20; });
    const Query triangle = query_of({"triangle", 3, {{0, 1}, {1, 2}, {2, 0}}}, false);
    const BoundQuery bound(triangle, MatchMode::isomorphism, CountMode::subgraphs, *graph);
    graph->resolve_all();
    return make_delta_plans(bound).plans.at(0).levels.at(0).estimate;
  };
  EXPECT_NEAR(expected(50), 18, 2);
  EXPECT_LT(expected(2), 8) << "380 edges say little about batches to come";
}

}  // namespace
}  // namespace deltamatch::plan
