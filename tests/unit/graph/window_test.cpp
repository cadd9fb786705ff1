// The sliding window: which entries it collects, and that they can be collected again after undoing.
#include "graph/window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

// An edge that is refreshed for ever, in a stream whose batches are cut again and again.
TEST_F(WindowTest, UndoingDoesNotMultiplyWhatIsPutOff) {
  insert(1, 2, 0);
  std::size_t bytes = 0;
  for (Timestamp round = 1; round <= 16; ++round) {
    graph_.set_time({1, 2, empty_label}, 100 * round);
    EXPECT_TRUE(collect(100 * round).empty());
    window_.undo();
    EXPECT_TRUE(collect(100 * round).empty());
    window_.commit();
    if (round == 4) bytes = window_.bytes();
  }
  EXPECT_LE(window_.bytes(), 2 * bytes);
  EXPECT_EQ(collect(1700), std::vector<Edge>({{1, 2, empty_label}})) << "it is put off, and not forgotten";
}

TEST_F(WindowTest, UndoingKeepsWhatTheBatchBeforePutOff) {
  insert(1, 2, 0);
  graph_.set_time({1, 2, empty_label}, 50);
  EXPECT_TRUE(collect(100).empty());
  window_.commit();
  window_.undo();  // of a batch that failed before it collected
  EXPECT_EQ(collect(150), std::vector<Edge>({{1, 2, empty_label}}));
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
  insert(198, 199, 5000);  // what follows is out of order
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

// A simple list of what was noted tells what must be collected.
TEST_F(WindowTest, CollectsWhatIsDueWhateverTheOrderOfTimes) {
  std::mt19937 random(7);
  for (const unsigned disorder : {1U, 20U, 400U}) {
    DataGraph graph{true, true};
    for (std::int64_t id = 0; id < 200; ++id) graph.dictionary.create(id, empty_label);
    Window window{100};
    std::vector<Expired> waiting;
    Timestamp watermark = 0;
    for (int round = 0; round < 400; ++round) {
      const Edge edge{static_cast<VertexId>(random() % 100), static_cast<VertexId>(100 + random() % 100), empty_label};
      const auto known = std::ranges::find(waiting, edge, &Expired::edge);
      const Timestamp time = watermark - 20 + static_cast<Timestamp>(random() % disorder);
      if (known == waiting.end()) {
        NetBatch batch;
        batch.inserted.push_back(edge);
        batch.inserted_times.push_back(time);
        graph.stage(batch);
        graph.settle(workers_);
        window.note(edge, time);
        waiting.push_back({edge, time});
      }
      watermark += static_cast<Timestamp>(random() % 9);
      std::vector<Expired> expected;
      for (const Expired& each : waiting) {
        if (window.dead(each.time, watermark)) expected.push_back(each);
      }
      std::ranges::sort(expected);
      std::vector<Expired> expired;
      window.collect(graph, watermark, expired);
      ASSERT_EQ(expired, expected) << disorder << ' ' << round;
      if (random() % 4 == 0) {
        window.undo();
        continue;
      }
      window.commit();
      if (expired.empty()) continue;
      NetBatch removal;
      for (const Expired& each : expired) {
        removal.removed.push_back(each.edge);
        std::erase(waiting, each);
      }
      graph.stage(removal);
      graph.settle(workers_);
    }
    EXPECT_GT(watermark, 1000);
  }
}

}  // namespace
}  // namespace deltamatch::graph
