// The sliding window: which entries it collects, and that they can be collected again after undoing.
#include "graph/window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace deltamatch::graph {
namespace {

class WindowTest : public testing::Test {
 protected:
  WindowTest() {
    for (std::int64_t id = 0; id < 200; ++id) graph_.dictionary.create(id, empty_label);
  }
  void insert(VertexId tail, VertexId head, Timestamp time) {
    NetBatch batch;
    batch.inserted.push_back({tail, head, empty_label});
    batch.inserted_times.push_back(time);
    graph_.stage(batch);
    graph_.settle(workers_);
    window_.note({tail, head, empty_label}, time);
  }
  std::vector<Edge> collect(Timestamp watermark) {
    std::vector<Expired> expired;
    window_.collect(graph_, watermark, expired);
    std::vector<Edge> edges;
    for (const Expired& each : expired) edges.push_back(each.edge);
    return edges;
  }

  DataGraph graph_{true, true};
  Window window_{100};
  Workers workers_{1};
};

TEST_F(WindowTest, AnEdgeLivesWhileTimePlusSpanIsBeyondTheWatermark) {
  EXPECT_FALSE(window_.dead(0, 99));
  EXPECT_TRUE(window_.dead(0, 100));
  EXPECT_FALSE(window_.dead(INT64_MIN, INT64_MIN + 99));
  EXPECT_FALSE(window_.dead(INT64_MIN, INT64_MIN + 5));
  EXPECT_TRUE(window_.dead(INT64_MIN, INT64_MIN + 100));
  EXPECT_FALSE(window_.dead(INT64_MAX, INT64_MAX));
}

TEST_F(WindowTest, CollectsByRankAndAgainAfterUndo) {
  insert(5, 6, 10);
  insert(1, 2, 20);
  insert(3, 4, 21);
  insert(0, 9, -1000);
  const std::vector<Edge> dead = {{0, 9, empty_label}, {1, 2, empty_label}, {5, 6, empty_label}};
  EXPECT_EQ(collect(120), dead);
  EXPECT_TRUE(collect(120).empty());
  window_.undo();
  EXPECT_EQ(collect(120), dead);
  window_.commit();
  window_.undo();
  EXPECT_TRUE(collect(120).empty());
}

TEST_F(WindowTest, ARefreshedEdgeIsPutOffAndADeletedOneForgotten) {
  insert(1, 2, 10);
  insert(3, 4, 10);
  graph_.set_time({1, 2, empty_label}, 50);
  NetBatch removal;
  removal.removed.push_back({3, 4, empty_label});
  graph_.stage(removal);
  graph_.settle(workers_);
  EXPECT_TRUE(collect(149).empty());
  EXPECT_EQ(collect(150), (std::vector<Edge>{{1, 2, empty_label}}));
}

TEST_F(WindowTest, AnEdgeNotedTwiceIsCollectedOnce) {
  insert(1, 2, 10);
  window_.note({1, 2, empty_label}, 10);
  EXPECT_EQ(collect(500).size(), 1U);
}

// Entries that are noted between collect and undo must not take the room that undo needs.
TEST_F(WindowTest, UndoNeedsNoMemory) {
  for (VertexId v = 0; v < 100; ++v) insert(v, v + 1, 10);
  EXPECT_EQ(collect(110).size(), 100U);
  const std::size_t before = window_.bytes();
  for (VertexId v = 100; v < 180; ++v) window_.note({v, v + 1, empty_label}, 10);
  const std::size_t noted = window_.bytes();
  EXPECT_GE(noted, before);
  window_.undo();
  EXPECT_EQ(window_.bytes(), noted);
  EXPECT_EQ(collect(110).size(), 100U);
}

}  // namespace
}  // namespace deltamatch::graph
