// Vertices get other numbers. By the ids outside, the graph stays the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "deltamatch/engine.hpp"
#include "graph/data_graph.hpp"
#include "graph/permute.hpp"

namespace deltamatch::graph {
namespace {

using External = std::tuple<std::string, std::string, LabelId>;

std::string name_of(const DataGraph& graph, VertexId vertex) {
  const Id id = graph.dictionary.external(vertex);
  return id.is_text() ? std::string(id.text()) : std::to_string(id.number());
}

std::set<External> edges_of(const DataGraph& graph) {
  std::set<External> edges;
  for (VertexId v = 0; v < graph.dictionary.capacity(); ++v) {
    graph.for_each_edge(v, true, [&](const Edge& edge, Timestamp) {
      std::string tail = name_of(graph, edge.tail);
      std::string head = name_of(graph, edge.head);
      if (!graph.directed() && head < tail) std::swap(tail, head);
      edges.emplace(std::move(tail), std::move(head), edge.which);
    });
  }
  return edges;
}

class RenumberTest : public testing::TestWithParam<bool> {
 protected:
  RenumberTest() {
    for (const char* label : {"A", "B"}) labels_.push_back(graph_.edge_labels.intern(label));
    for (const char* label : {"X", "Y", "Z"}) kinds_.push_back(graph_.vertex_labels.intern(label));
    for (std::int64_t v = 0; v < vertices; ++v) {
      const std::string text = "v" + std::to_string(v);
      graph_.dictionary.create(v % 2 == 0 ? Id(v) : Id(text), kinds_[draw(3)]);
    }
    // Some numbers are free.
    for (const VertexId v : {3U, 17U, 59U}) graph_.dictionary.release(v);
  }
  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  // Draws low numbers more often, so that degrees differ.
  VertexId draw_vertex() {
    for (;;) {
      const VertexId vertex = draw(1 + draw(graph_.dictionary.capacity()));
      if (graph_.dictionary.alive(vertex)) return vertex;
    }
  }
  void insert(int count) {
    NetBatch batch;
    for (int i = 0; i < count; ++i) {
      const Edge edge = graph_.ranked(draw_vertex(), draw_vertex(), labels_[draw(2)]);
      if (edge.tail != edge.head && !graph_.contains(edge)) batch.inserted.push_back(edge);
    }
    std::sort(batch.inserted.begin(), batch.inserted.end());
    batch.inserted.erase(std::unique(batch.inserted.begin(), batch.inserted.end()), batch.inserted.end());
    graph_.stage(batch);
    graph_.settle(workers_);
  }

  static constexpr std::int64_t vertices = 60;
  std::mt19937_64 random_{7};
  DataGraph graph_{GetParam(), false};
  std::vector<LabelId> labels_;
  std::vector<LabelId> kinds_;
  Workers workers_{2};
};

TEST_P(RenumberTest, KeepsTheGraphAndOrdersItByDegree) {
  insert(500);
  const QueryRelationId wildcard = graph_.add_query_relation({GetParam() ? Direction::out : Direction::both, {}, {}});
  graph_.resolve_all();
  for (int round = 0; round < 3; ++round) {
    const std::set<External> before = edges_of(graph_);
    std::set<std::pair<std::string, LabelId>> known;
    for (VertexId v = 0; v < graph_.dictionary.capacity(); ++v) {
      if (graph_.dictionary.alive(v)) known.emplace(name_of(graph_, v), graph_.dictionary.label(v));
    }
    const RelationFigures figures = graph_.figures(wildcard);
    graph_.renumber_by_degree(workers_);
    graph_.resolve_all();
    EXPECT_TRUE(graph_.numbered_by_degree());
    EXPECT_EQ(edges_of(graph_), before);
    EXPECT_EQ(graph_.figures(wildcard).entries, figures.entries);
    std::uint32_t last = 0;
    for (VertexId v = 0; v < graph_.dictionary.capacity(); ++v) {
      EXPECT_GE(graph_.degree(v), last);
      last = graph_.degree(v);
      if (!graph_.dictionary.alive(v)) continue;
      EXPECT_EQ(graph_.dictionary.find(graph_.dictionary.external(v)), v);
      EXPECT_EQ(known.erase({name_of(graph_, v), graph_.dictionary.label(v)}), 1U);
      graph_.for_each_edge(v, false, [&](const Edge& edge, Timestamp) { EXPECT_TRUE(graph_.contains(edge)); });
    }
    EXPECT_TRUE(known.empty());
    // The graph can still be changed.
    const VertexId fresh = graph_.dictionary.create(Id(std::int64_t{1000} + round), kinds_[0]);
    EXPECT_EQ(graph_.degree(fresh), 0U);
    insert(50);
    EXPECT_FALSE(graph_.numbered_by_degree());
  }
}

INSTANTIATE_TEST_SUITE_P(Directions, RenumberTest, testing::Bool(),
                         [](const auto& directed) { return directed.param ? "Directed" : "Undirected"; });

TEST(Permute, MovesEveryEntry) {
  const std::vector<VertexId> to{2, 0, 1, 3, 5, 4};
  std::vector<int> numbers{10, 11, 12, 13, 14, 15};
  std::vector<char> letters{'a', 'b', 'c', 'd', 'e', 'f'};
  std::vector<bool> done(to.size(), true);
  permute(to, done, numbers, letters);
  EXPECT_EQ(numbers, (std::vector<int>{11, 12, 10, 13, 15, 14}));
  EXPECT_EQ(letters, (std::vector<char>{'b', 'c', 'a', 'd', 'f', 'e'}));
}

// A long count renumbers the vertices, unless there is a standing query. Later batches work as before.
TEST(Renumber, StaticCountsStayTheSame) {
  std::mt19937_64 random(5);
  const auto edge = [](UpdateKind kind, std::uint64_t source, std::uint64_t target) {
    Update update;
    update.kind = kind;
    update.source = static_cast<std::int64_t>(source);
    update.target = static_cast<std::int64_t>(target);
    return update;
  };
  std::vector<Update> edges;
  UpdateBatch start;
  for (int i = 0; i < 6000; ++i) {
    const std::uint64_t below = 1 + random() % 400;
    const std::uint64_t source = random() % 400;
    edges.push_back(edge(UpdateKind::insert_edge, source, random() % below));
    start.add(edges.back());
  }
  Engine free({.directed = false, .threads = 2});
  Engine bound({.directed = false, .threads = 2});
  const QueryId ring = bound.add_query(parse_pattern("(a)--(b)--(c)--(a)", "ring"));
  (void)free.load(start, OnReject::skip);
  (void)bound.load(start, OnReject::skip);
  for (const char* pattern : {"(a)--(b)--(c)--(d)--(e)--(a)", "(a)--(b)--(c)--(d)--(a)", "(a)--(b)--(c)--(a), (c)--(d)"}) {
    const Query query = parse_pattern(pattern, "q");
    EXPECT_TRUE(free.match(query).matches == bound.match(query).matches) << pattern;
    StaticOptions listed;
    listed.query.list = true;
    if (query.vertices.size() == 4) {
      EXPECT_TRUE(free.match(query, listed).digest == bound.match(query, listed).digest);
    }
  }
  EXPECT_EQ(bound.digest(), RunningDigest{});
  EXPECT_NE(free.digest().begin, Hash128{}) << "other numbers are not compared";
  EXPECT_FALSE(free.digest().contradicts(bound.digest()));
  bound.remove_query(ring);
  for (Engine* engine : {&free, &bound}) engine->add_query(parse_pattern("(a)--(b)--(c)--(d)--(a)", "square"), {.list = true});
  UpdateBatch batch;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t source = random() % 500;
    batch.add(edge(UpdateKind::insert_edge, source, random() % 500));
    Update gone = edges[random() % edges.size()];
    gone.kind = UpdateKind::delete_edge;
    batch.add(gone);
  }
  const BatchResult expected = bound.process(batch, OnReject::skip);
  const BatchResult got = free.process(batch, OnReject::skip);
  EXPECT_TRUE(got.queries[0].added_digest == expected.queries[0].added_digest);
  EXPECT_TRUE(got.queries[0].removed_digest == expected.queries[0].removed_digest);
  EXPECT_NE(free.digest().now, free.digest().begin);
  EXPECT_FALSE(free.digest().contradicts(bound.digest()));
}

}  // namespace
}  // namespace deltamatch::graph
