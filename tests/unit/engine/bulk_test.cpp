// A graph loaded in bulk equals the graph that the same updates build.
#include "engine/storage/bulk_loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>

#include "deltamatch/error.hpp"

namespace deltamatch::engine {
namespace {

using graph::VertexPair;
using Told = std::tuple<UpdateKind, std::int64_t, std::int64_t, std::string>;

std::vector<Told> tell(const Engine& engine) {
  std::vector<Told> all;
  engine.for_each([&](const Update& update) {
    const bool edge = update.kind == UpdateKind::insert_edge;
    all.emplace_back(update.kind, update.source.number(), edge ? update.target.number() : 0,
                     std::string(edge ? update.label : *update.source_label));
  });
  return all;
}

struct Shape {
  bool directed;
  unsigned labels;  // 0: none
  unsigned vertices;
  unsigned edges;  // drawn edges, with repetitions
};

class Bulk : public testing::TestWithParam<Shape> {
 protected:
  void draw(unsigned seed) {
    const Shape& shape = GetParam();
    std::mt19937 random(seed);
    names_.clear();
    labels_.clear();
    edges_.clear();
    for (unsigned label = 0; label < shape.labels; ++label) names_.push_back("l" + std::to_string(label));
    if (shape.labels > 0) {
      for (unsigned v = 0; v < shape.vertices; ++v) labels_.push_back(static_cast<std::uint8_t>(random() % shape.labels));
    }
    while (edges_.size() < shape.edges) {
      const VertexPair edge{static_cast<VertexId>(random() % shape.vertices), static_cast<VertexId>(random() % shape.vertices)};
      if (edge.first != edge.second) edges_.push_back(edge);
    }
  }

  [[nodiscard]] Engine in_bulk(unsigned threads) const {
    return BulkLoader::load({.directed = GetParam().directed, .threads = threads},
                            {GetParam().vertices, edges_, labels_, names_});
  }

  [[nodiscard]] Update insertion(const VertexPair& edge) const {
    Update update;
    update.source = std::int64_t{edge.first};
    update.target = std::int64_t{edge.second};
    if (!names_.empty()) {
      update.source_label = names_[labels_[edge.first]];
      update.target_label = names_[labels_[edge.second]];
    }
    return update;
  }

  [[nodiscard]] Engine by_updates() const {
    UpdateBatch batch;
    for (const VertexPair& edge : edges_) batch.add(insertion(edge));
    Engine engine({.directed = GetParam().directed, .threads = 1});
    engine.load(batch);
    return engine;
  }

  std::vector<std::string> names_;
  std::vector<std::uint8_t> labels_;
  std::vector<VertexPair> edges_;
};

TEST_P(Bulk, GivesTheGraphThatUpdatesGive) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    draw(seed);
    const Engine bulk = in_bulk(1 + seed % 3);
    const Engine slow = by_updates();
    EXPECT_EQ(tell(bulk), tell(slow));
    EXPECT_EQ(bulk.graph().edges, slow.graph().edges);
    EXPECT_EQ(bulk.graph().vertices, slow.graph().vertices);
  }
}

TEST_P(Bulk, FiguresLeadToTheSamePlans) {
  draw(11);
  Engine bulk = in_bulk(3);
  Engine slow = by_updates();
  const Query query = parse_pattern("(a)-->(b)-->(c), (a)-->(c), (c)-->(d)", "q");
  Query undirected = query;
  for (QueryEdge& edge : undirected.edges) edge.directed = false;
  const Query& fitting = GetParam().directed ? query : undirected;
  EXPECT_EQ(bulk.explain(fitting), slow.explain(fitting));
}

TEST_P(Bulk, GoesOnAsAnyGraphDoes) {
  draw(21);
  Engine bulk = in_bulk(2);
  Engine slow = by_updates();
  Query query = parse_pattern("(a)-->(b)-->(c), (a)-->(c)", "triangle");
  for (QueryEdge& edge : query.edges) edge.directed = GetParam().directed;
  bulk.add_query(query);
  slow.add_query(query);
  std::mt19937 random(5);
  std::set<VertexPair> live(edges_.begin(), edges_.end());
  for (int b = 0; b < 4; ++b) {
    UpdateBatch batch;
    for (int i = 0; i < 40; ++i) {
      const auto [a, c] = VertexPair{random() % GetParam().vertices, random() % GetParam().vertices};
      if (a == c) continue;
      Update update = insertion({a, c});
      if (random() % 2 == 0) update.kind = UpdateKind::delete_edge;
      batch.add(update);
    }
    for (std::size_t i = 0; i < 20; ++i) {
      Update update = insertion(edges_[random() % edges_.size()]);
      update.kind = UpdateKind::delete_edge;
      batch.add(update);
    }
    const BatchResult left = bulk.process(batch, OnReject::skip);
    const BatchResult right = slow.process(batch, OnReject::skip);
    EXPECT_EQ(left.inserted, right.inserted);
    EXPECT_EQ(left.deleted, right.deleted);
    EXPECT_EQ(left.queries[0].added, right.queries[0].added);
    EXPECT_EQ(left.queries[0].removed, right.queries[0].removed);
  }
  EXPECT_EQ(tell(bulk), tell(slow));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Bulk,
                         testing::Values(Shape{false, 0, 40, 150}, Shape{false, 3, 60, 400}, Shape{true, 0, 40, 300},
                                         Shape{true, 40, 80, 700}, Shape{false, 1, 3, 10}, Shape{true, 2, 5000, 20'000}),
                         [](const auto& shape_of) {
                           const Shape& shape = shape_of.param;
                           return std::string(shape.directed ? "directed" : "undirected") + "_" + std::to_string(shape.labels) +
                                  "_labels_" + std::to_string(shape.vertices);
                         });

TEST(BulkLoad, IsEmptyWithoutEdges) {
  const Engine engine = BulkLoader::load({}, {10, {}, {}, {}});
  EXPECT_EQ(engine.graph().edges, 0U);
  EXPECT_EQ(engine.graph().vertices, 0U);
}

TEST(BulkLoad, RefusesWhatCannotBe) {
  const std::vector<VertexPair> loop{{0, 1}, {2, 2}};
  const std::vector<VertexPair> far{{0, 3}};
  const std::vector<VertexPair> good{{0, 1}};
  const std::vector<std::uint8_t> few{0};
  EXPECT_THROW((void)BulkLoader::load({}, {3, loop, {}, {}}), Error);
  EXPECT_THROW((void)BulkLoader::load({}, {3, far, {}, {}}), Error);
  EXPECT_THROW((void)BulkLoader::load({}, {3, good, few, {"a"}}), Error);
  EXPECT_THROW((void)BulkLoader::load({.window = 5}, {3, good, {}, {}}), Error);
}

}  // namespace
}  // namespace deltamatch::engine
