// The data graph: edges and times, and where query relations find their lists while labels come and go.
#include "graph/data_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace deltamatch::graph {
namespace {

using testing::ElementsAre;

class DataGraphTest : public testing::TestWithParam<bool> {
 protected:
  explicit DataGraphTest(bool timed = false) : graph_(GetParam(), timed) {
    a_ = graph_.edge_labels.intern("A");
    b_ = graph_.edge_labels.intern("B");
    for (std::int64_t id = 0; id < 6; ++id) graph_.dictionary.create(id, empty_label);
  }
  void stage(const std::vector<Edge>& inserted, const std::vector<Edge>& removed = {}) {
    NetBatch batch;
    batch.inserted = inserted;
    batch.removed = removed;
    if (graph_.timed()) batch.inserted_times.assign(inserted.size(), 7);
    graph_.stage(batch);
  }
  void apply(const std::vector<Edge>& inserted, const std::vector<Edge>& removed = {}) {
    stage(inserted, removed);
    graph_.settle(workers_);
  }
  std::vector<std::uint32_t> ids(QueryRelationId query_relation, VertexId vertex) {
    const Resolved& where = graph_.resolve(query_relation);
    if (where.store == nullptr) return {};
    const auto found = where.store->ids(vertex, where.relation);
    return {found.begin(), found.end()};
  }
  [[nodiscard]] Direction out() const { return graph_.directed() ? Direction::out : Direction::both; }

  DataGraph graph_;
  LabelId a_ = 0;
  LabelId b_ = 0;
  Workers workers_{1};
};

class TimedGraphTest : public DataGraphTest {
 protected:
  TimedGraphTest() : DataGraphTest(true) {}
};

/// Two words for a list and one for an entry, at both ends. With times, two more for an entry.
TEST_P(DataGraphTest, TellsWhatEachEdgeLabelTakes) {
  apply({{0, 1, a_}, {0, 2, a_}, {0, 3, a_}, {1, 2, b_}});
  const auto figures = graph_.edge_label_figures();
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_EQ(figures[empty_label].bytes, 0U);
  EXPECT_EQ(figures[a_].edges, 3U);
  EXPECT_EQ(figures[a_].bytes, 4U * (2 * 4 + 6));
  EXPECT_EQ(figures[b_].edges, 1U);
  EXPECT_EQ(figures[b_].bytes, 4U * (2 * 2 + 2));
  apply({}, {{0, 3, a_}, {1, 2, b_}});
  EXPECT_EQ(graph_.edge_label_figures()[a_].bytes, 4U * (2 * 3 + 4));
  EXPECT_EQ(graph_.edge_label_figures()[b_].edges, 0U);
  EXPECT_EQ(graph_.edge_label_figures()[b_].bytes, 0U);
}

TEST_P(TimedGraphTest, TellsWhatTimesTake) {
  apply({{0, 1, a_}, {0, 2, a_}});
  EXPECT_EQ(graph_.edge_label_figures()[a_].bytes, 4U * (2 * 3 + 4 * 3));
}

TEST_P(DataGraphTest, ContainsWhatIsSettledOnly) {
  stage({{0, 1, a_}, {1, 2, b_}});
  EXPECT_FALSE(graph_.contains({0, 1, a_}));
  EXPECT_EQ(graph_.degree_after(1), 2U);
  graph_.unstage();
  EXPECT_EQ(graph_.degree_after(1), 0U);
  apply({{0, 1, a_}, {1, 2, b_}});
  EXPECT_TRUE(graph_.contains({0, 1, a_}));
  EXPECT_FALSE(graph_.contains({0, 1, b_}));
  EXPECT_FALSE(graph_.contains({3, 4, a_}));
  EXPECT_EQ(graph_.contains({1, 0, a_}), !graph_.directed());
  EXPECT_EQ(graph_.edges(), 2U);
  apply({}, {{0, 1, a_}});
  EXPECT_FALSE(graph_.contains({0, 1, a_}));
  EXPECT_EQ(graph_.edges(), 1U);
}

TEST_P(DataGraphTest, TellsWhichVerticesLoseTheirLastEdge) {
  apply({{0, 1, a_}, {1, 2, b_}});
  EXPECT_THAT(graph_.emptied(), ElementsAre());
  stage({}, {{0, 1, a_}});
  EXPECT_THAT(graph_.emptied(), ElementsAre(0));
  graph_.unstage();
  EXPECT_THAT(graph_.emptied(), ElementsAre());
  apply({{0, 3, a_}}, {{0, 1, a_}, {1, 2, b_}});
  EXPECT_THAT(graph_.emptied(), ElementsAre(1, 2));
}

/// The graph has few labels and many, hubs, and vertices without edges or row.
TEST_P(TimedGraphTest, FindsManyEdgesAsItFindsOne) {
  std::mt19937 random(11);
  std::vector<LabelId> labels = {empty_label, a_, b_};
  for (unsigned i = 0; i < 40; ++i) labels.push_back(graph_.edge_labels.intern("L" + std::to_string(i)));
  for (unsigned i = 0; i < 100; ++i)
    graph_.dictionary.create(Id(1000 + i), i % 3 == 0 ? 0 : graph_.vertex_labels.intern("V" + std::to_string(i)));
  const auto vertices = graph_.dictionary.capacity();
  const auto draw = [&] {
    const auto vertex = [&] { return static_cast<VertexId>(random() % (random() % 3 == 0 ? 4 : vertices)); };
    for (;;) {
      const Edge edge = graph_.ranked(vertex(), vertex(), labels[random() % labels.size()]);
      if (edge.tail != edge.head) return edge;
    }
  };
  std::map<Edge, Timestamp> edges;
  for (unsigned i = 0; i < 4000; ++i) edges.emplace(draw(), i);
  NetBatch batch;
  for (const auto& [edge, time] : edges) {
    batch.inserted.push_back(edge);
    batch.inserted_times.push_back(time);
  }
  graph_.stage(batch);
  graph_.settle(workers_);
  graph_.dictionary.create("without a row", empty_label);
  for (const std::size_t count : {0, 1, 31, 32, 33, 127, 128, 129, 1000}) {
    std::vector<Edge> wanted;
    for (std::size_t i = 0; i < count; ++i) wanted.push_back(draw());
    if (count > 1) wanted.back() = {0, vertices, a_};
    std::size_t next = 0;
    graph_.find_edges(
        count, [&](std::size_t i) -> const Edge& { return wanted[i]; },
        [&](std::size_t i, std::optional<Timestamp> time) {
          EXPECT_EQ(i, next++);
          const auto at = edges.find(wanted[i]);
          EXPECT_EQ(time, at == edges.end() ? std::nullopt : std::optional(at->second));
          EXPECT_EQ(graph_.time(wanted[i]), time);
          EXPECT_EQ(graph_.contains(wanted[i]), time.has_value());
        });
    EXPECT_EQ(next, count);
  }
}

TEST_P(DataGraphTest, AQueryRelationBecomesDerivedWhenASecondLabelArrives) {
  const QueryRelationId any = graph_.add_query_relation({out(), {}, {}});
  EXPECT_EQ(graph_.add_query_relation({out(), {}, {}}), any);
  graph_.resolve_all();
  EXPECT_EQ(graph_.resolve(any).store, nullptr);
  apply({{0, 1, a_}, {0, 3, a_}});
  EXPECT_FALSE(graph_.resolve(any).derived);
  EXPECT_EQ(graph_.resolve(any).edge_label, a_);
  EXPECT_THAT(ids(any, 0), ElementsAre(1, 3));
  apply({{0, 2, b_}});
  EXPECT_TRUE(graph_.resolve(any).derived);
  EXPECT_FALSE(graph_.resolve(any).parallel);
  EXPECT_THAT(ids(any, 0), ElementsAre(1, 2, 3));
  EXPECT_EQ(graph_.figures(any).entries, graph_.directed() ? 3U : 6U);
  apply({{0, 1, b_}});
  EXPECT_TRUE(graph_.resolve(any).parallel);
  EXPECT_THAT(ids(any, 0), ElementsAre(1, 1, 2, 3));
  apply({}, {{0, 1, a_}, {0, 3, a_}});
  EXPECT_THAT(ids(any, 0), ElementsAre(1, 2));
}

TEST_P(DataGraphTest, ParallelEdgesThatWereThereBeforeAreNoted) {
  apply({{0, 1, a_}, {0, 1, b_}, {2, 3, a_}});
  const QueryRelationId any = graph_.add_query_relation({out(), {}, {}});
  graph_.resolve_all();
  EXPECT_TRUE(graph_.resolve(any).derived);
  EXPECT_TRUE(graph_.resolve(any).parallel);
  EXPECT_THAT(ids(any, 0), ElementsAre(1, 1));
}

TEST_P(DataGraphTest, DroppedQueryRelationsLeaveTheOthersInPlace) {
  apply({{0, 1, a_}, {0, 2, b_}});
  const QueryRelationId any = graph_.add_query_relation({out(), {}, {}});
  const QueryRelationId both = graph_.add_query_relation({out(), {a_, b_}, {}});
  graph_.resolve_all();
  EXPECT_THAT(ids(both, 0), ElementsAre(1, 2));
  graph_.drop_query_relation(any);
  EXPECT_THAT(ids(both, 0), ElementsAre(1, 2));
  apply({{0, 3, a_}});
  EXPECT_THAT(ids(both, 0), ElementsAre(1, 2, 3));
  const QueryRelationId again = graph_.add_query_relation({out(), {}, {}});
  graph_.resolve_all();
  EXPECT_THAT(ids(again, 0), ElementsAre(1, 2, 3));
  graph_.drop_query_relation(again);
  graph_.drop_query_relation(both);
  const QueryRelationId last = graph_.add_query_relation({out(), {}, {}});
  graph_.resolve_all();
  EXPECT_THAT(ids(last, 0), ElementsAre(1, 2, 3));
}

// Devices hold what is resolved.
TEST_P(DataGraphTest, DroppedQueryRelationsCoverNothing) {
  apply({{0, 1, a_}, {0, 2, b_}});
  const QueryRelationId one = graph_.add_query_relation({out(), {a_}, {}});
  const QueryRelationId other = graph_.add_query_relation({out(), {b_}, {}});
  const QueryRelationId any = graph_.add_query_relation({out(), {}, {}});
  graph_.resolve_all();
  EXPECT_THAT(graph_.resolved(), testing::Each(testing::Field(&Resolved::store, testing::NotNull())));
  graph_.drop_query_relation(one);
  graph_.drop_query_relation(any);
  EXPECT_EQ(graph_.resolved()[one].store, nullptr);
  EXPECT_EQ(graph_.resolved()[any].store, nullptr);
  EXPECT_THAT(ids(other, 0), ElementsAre(2));
  graph_.resolve_all();
  EXPECT_EQ(graph_.resolved()[any].store, nullptr);
}

TEST_P(TimedGraphTest, TimesAreKeptAtBothEnds) {
  apply({{0, 1, a_}});
  EXPECT_EQ(graph_.time({0, 1, a_}), 7);
  EXPECT_EQ(graph_.time({0, 2, a_}), std::nullopt);
  graph_.set_time({0, 1, a_}, INT64_MIN);
  EXPECT_EQ(graph_.time({0, 1, a_}), INT64_MIN);
  for (const VertexId end : {0U, 1U}) {
    graph_.for_each_edge(end, true, [&](const Edge& edge, Timestamp time) {
      EXPECT_EQ(edge, (Edge{0, 1, a_}));
      EXPECT_EQ(time, INT64_MIN);
    });
  }
}

const auto name = [](const auto& tested) { return tested.param ? "directed" : "undirected"; };
INSTANTIATE_TEST_SUITE_P(Directions, DataGraphTest, testing::Bool(), name);
INSTANTIATE_TEST_SUITE_P(Directions, TimedGraphTest, testing::Bool(), name);

}  // namespace
}  // namespace deltamatch::graph
