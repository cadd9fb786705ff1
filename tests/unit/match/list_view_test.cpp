// What an anchor may read of a list, compared with the definition: stable edges, and changed edges of higher rank.
#include "match/list_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace deltamatch::match {
namespace {

using graph::DataGraph;
using graph::Direction;
using graph::Edge;
using graph::NetBatch;
using graph::QueryRelation;
using graph::QueryRelationId;

constexpr VertexId vertices = 12;

struct Case {
  std::set<Edge> before;
  NetBatch batch;
};

/// Whether the query relation covers the edge as seen from `vertex`. Sets `other` to the edge's other end.
bool covers(const DataGraph& graph, const QueryRelation& query_relation, const Edge& edge, VertexId vertex, bool incoming,
            VertexId& other) {
  if ((incoming ? edge.head : edge.tail) != vertex) return false;
  other = incoming ? edge.tail : edge.head;
  if (graph.directed() && query_relation.direction != Direction::both &&
      (query_relation.direction == Direction::in) != incoming)
    return false;
  const auto holds = [](const std::vector<LabelId>& set, LabelId label) {
    return set.empty() || std::binary_search(set.begin(), set.end(), label);
  };
  return holds(query_relation.edge_labels, edge.which) && holds(query_relation.neighbour_labels, graph.dictionary.label(other));
}

/// The neighbours that must be visible by the definition.
std::vector<std::uint32_t> expected(const DataGraph& graph, const Case& data, const QueryRelation& query_relation,
                                    VertexId vertex, Pass pass, const Edge& anchor, bool inclusive) {
  const std::set<Edge> inserted(data.batch.inserted.begin(), data.batch.inserted.end());
  const std::set<Edge> removed(data.batch.removed.begin(), data.batch.removed.end());
  std::set<Edge> all = data.before;
  all.insert(inserted.begin(), inserted.end());
  std::vector<std::uint32_t> neighbours;
  for (const Edge& edge : all) {
    const bool changed = inserted.contains(edge) || removed.contains(edge);
    const bool own = pass == Pass::added ? inserted.contains(edge) : removed.contains(edge);
    const bool admitted = own && (inclusive ? edge >= anchor : edge > anchor);
    if (changed && !admitted) continue;
    for (const bool incoming : {false, true}) {
      VertexId other = 0;
      if (covers(graph, query_relation, edge, vertex, incoming, other)) neighbours.push_back(other);
    }
  }
  std::sort(neighbours.begin(), neighbours.end());
  return neighbours;
}

void check_view(const ListView& view, const std::vector<std::uint32_t>& wanted, std::mt19937& random) {
  Scratch scratch;
  std::vector<std::uint32_t> entries;
  for_each_entry(view, [&](std::uint32_t id) { entries.push_back(id); });
  std::sort(entries.begin(), entries.end());
  ASSERT_EQ(entries, wanted);
  ASSERT_EQ(view.size(), wanted.size());
  std::vector<std::uint32_t> distinct = wanted;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const auto written = materialise(view, scratch);
  ASSERT_EQ(std::vector(written.begin(), written.end()), distinct);
  std::vector<std::uint32_t> set;
  std::vector<std::uint32_t> both;
  for (std::uint32_t id = 0; id < vertices; ++id) {
    const auto times = std::count(wanted.begin(), wanted.end(), id);
    ASSERT_EQ(multiplicity(view, id), times);
    if (std::bernoulli_distribution(0.5)(random)) continue;
    set.push_back(id);
    if (times > 0) both.push_back(id);
  }
  if (!view.parallel) {
    ASSERT_EQ(count_members(set, view), both.size());
  }
  // Kernels may write beyond what they keep, up to the given size.
  std::uint32_t* kept = scratch.words(set.size() + 64);
  std::copy(set.begin(), set.end(), kept);
  const std::size_t size = keep_members(kept, set.size(), view, scratch);
  ASSERT_EQ(std::vector(kept, kept + size), both);
  const auto found = common(set, view, scratch);
  ASSERT_EQ(std::vector(found.begin(), found.end()), both);
}

std::set<Edge> draw_edges(const DataGraph& graph, std::mt19937& random, unsigned count, const std::vector<LabelId>& labels) {
  std::set<Edge> edges;
  for (unsigned i = 0; i < count; ++i) {
    const VertexId a = static_cast<VertexId>(random() % vertices);
    const VertexId b = static_cast<VertexId>(random() % vertices);
    if (a != b) edges.insert(graph.ranked(a, b, labels[random() % labels.size()]));
  }
  return edges;
}

void run(bool directed, unsigned seed) {
  std::mt19937 random(seed);
  DataGraph graph(directed, false);
  std::vector<LabelId> vertex_labels = {graph.vertex_labels.intern("K"), graph.vertex_labels.intern("L")};
  std::vector<LabelId> edge_labels = {graph.edge_labels.intern("A"), graph.edge_labels.intern("B")};
  std::sort(edge_labels.begin(), edge_labels.end());
  for (VertexId v = 0; v < vertices; ++v) graph.dictionary.create(std::int64_t{v}, vertex_labels[random() % 2]);

  std::vector<QueryRelation> query_relations;
  const Direction out = directed ? Direction::out : Direction::both;
  const Direction in = directed ? Direction::in : Direction::both;
  for (const Direction direction : {out, in, Direction::both}) {
    query_relations.push_back({direction, {edge_labels[0]}, {vertex_labels[0]}});
    query_relations.push_back({direction, {}, {}});
    query_relations.push_back({direction, {edge_labels[1]}, {}});
    query_relations.push_back({direction, edge_labels, {vertex_labels[1]}});
  }
  std::vector<QueryRelationId> ids;
  for (const QueryRelation& query_relation : query_relations) ids.push_back(graph.add_query_relation(query_relation));

  Case data;
  Workers workers(1);
  data.before = draw_edges(graph, random, 70, edge_labels);
  NetBatch start;
  start.inserted.assign(data.before.begin(), data.before.end());
  graph.stage(start);
  graph.settle(workers);
  for (const Edge& edge : draw_edges(graph, random, 40, edge_labels)) {
    (data.before.contains(edge) ? data.batch.removed : data.batch.inserted).push_back(edge);
  }
  ASSERT_FALSE(data.batch.removed.empty() || data.batch.inserted.empty());
  graph.stage(data.batch);
  const auto resolved = graph.resolved();
  for (const Pass pass : {Pass::removed, Pass::added}) {
    Lists lists(graph.base(), resolved, directed, pass);
    for (const Edge& anchor : pass == Pass::added ? data.batch.inserted : data.batch.removed) {
      lists.anchor(anchor);
      for (std::size_t r = 0; r < query_relations.size(); ++r) {
        for (VertexId v = 0; v < vertices; ++v) {
          for (const bool inclusive : {false, true}) {
            Scratch scratch;
            const ListView view = lists.view(ids[r], v, inclusive, scratch);
            ASSERT_NO_FATAL_FAILURE(
                check_view(view, expected(graph, data, query_relations[r], v, pass, anchor, inclusive), random))
                << "query relation " << r << " vertex " << v << " anchor " << anchor.tail << " " << anchor.head;
          }
        }
      }
    }
  }
}

TEST(ListView, SeesWhatTheRankAdmitsInDirectedData) {
  for (unsigned seed = 0; seed < 4; ++seed) ASSERT_NO_FATAL_FAILURE(run(true, seed)) << "seed " << seed;
}

TEST(ListView, SeesWhatTheRankAdmitsInUndirectedData) {
  for (unsigned seed = 0; seed < 4; ++seed) ASSERT_NO_FATAL_FAILURE(run(false, seed)) << "seed " << seed;
}

}  // namespace
}  // namespace deltamatch::match
