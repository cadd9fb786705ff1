// Remembered deletions: which one an insertion meets, how a batch is undone, when they are forgotten.
#include "graph/deletions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deltamatch::graph {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

Update edge(Id source, Id target, std::string_view label, Timestamp time) {
  Update update;
  update.source = source;
  update.target = target;
  update.label = label;
  update.time = time;
  return update;
}

TEST(Deletions, TheNewestOfEachEdgeCounts) {
  Deletions deletions(EdgeModel::simple, true);
  deletions.note(edge(1, "b", "T", 5));
  deletions.note(edge(1, "b", "T", 9));
  deletions.note(edge(1, "b", "T", 7));
  EXPECT_EQ(deletions.newest(edge(1, "b", "T", 0)), 9);
  for (const Update& other : {edge("b", 1, "T", 0), edge(1, "b", "", 0), edge("1", "b", "T", 0), edge(1, "bT", "", 0)})
    EXPECT_EQ(deletions.newest(other), std::nullopt);
}

TEST(Deletions, AnUndirectedEdgeHasOneName) {
  Deletions deletions(EdgeModel::simple, false);
  deletions.note(edge("b", 1, "", 5));
  EXPECT_EQ(deletions.newest(edge(1, "b", "", 0)), 5);
}

TEST(Deletions, AKeyIsTheWholeName) {
  Deletions deletions(EdgeModel::keyed, true);
  const Properties properties{Id("k"), {}};
  Update update = edge(1, 2, "", 5);
  update.properties = &properties;
  deletions.note(update);
  update.target = 3;
  EXPECT_EQ(deletions.newest(update), 5);
}

TEST(Deletions, AnEventMeetsTheOldestThatIsNotOlderAndThatWaitsNoMore) {
  Deletions deletions(EdgeModel::events, true);
  for (const Timestamp time : {9, 5, 7}) deletions.wait(edge(1, 2, "", time));
  EXPECT_TRUE(deletions.meet(edge(1, 2, "", 7)));
  EXPECT_FALSE(deletions.meet(edge(1, 2, "", 10)));
  EXPECT_TRUE(deletions.meet(edge(1, 2, "", 7)));
  EXPECT_FALSE(deletions.meet(edge(1, 2, "", 7)));
  EXPECT_TRUE(deletions.meet(edge(1, 2, "", 1)));
  EXPECT_FALSE(deletions.meet(edge(1, 2, "", 1)));
}

TEST(Deletions, AnUndoneBatchLeavesNoTrace) {
  Deletions deletions(EdgeModel::events, true);
  const std::size_t nothing = deletions.bytes();
  deletions.wait(edge(1, 2, "", 5));
  deletions.undo();
  EXPECT_THAT(deletions.entries(nullptr, {}), SizeIs(0));
  EXPECT_LE(deletions.bytes() - nothing, 4096U);  // room in the table
  deletions.wait(edge(1, 2, "", 5));
  deletions.commit(nullptr, {});
  EXPECT_TRUE(deletions.meet(edge(1, 2, "", 4)));
  deletions.wait(edge(1, 2, "", 8));
  const std::size_t record = deletions.changes();
  EXPECT_TRUE(deletions.meet(edge(1, 2, "", 4)));
  deletions.take_back(record);
  ASSERT_THAT(deletions.entries(nullptr, {}), SizeIs(1));
  EXPECT_THAT(deletions.entries(nullptr, {})[0].times, ElementsAre(8));
  deletions.undo();
  ASSERT_THAT(deletions.entries(nullptr, {}), SizeIs(1));
  EXPECT_THAT(deletions.entries(nullptr, {})[0].times, ElementsAre(5));
}

TEST(Deletions, ARecordThatIsTakenBackLeavesItsEdgeUndeleted) {
  Deletions deletions(EdgeModel::simple, true);
  deletions.note(edge(1, 2, "", 5));
  deletions.take_back(0);
  EXPECT_EQ(deletions.newest(edge(1, 2, "", 0)), std::nullopt);
  deletions.note(edge(1, 2, "", 3));
  EXPECT_EQ(deletions.newest(edge(1, 2, "", 0)), 3);
}

TEST(Deletions, WhatTheWindowHasPassedIsForgotten) {
  const Window window(80);
  Deletions deletions(EdgeModel::simple, true);
  const std::size_t nothing = deletions.bytes();
  for (int i = 0; i < 1000; ++i) {
    deletions.note(edge(i, "some longer name of a vertex", "", i));
    deletions.commit(&window, i);
  }
  EXPECT_THAT(deletions.entries(&window, 999), SizeIs(80));
  EXPECT_THAT(deletions.entries(nullptr, 999), SizeIs(testing::Le(90U)));
  EXPECT_LE(deletions.bytes() - nothing, 40'000U);
  deletions.commit(&window, 2000);
  EXPECT_THAT(deletions.entries(nullptr, {}), SizeIs(0));
}

TEST(Deletions, WhatWasStoredIsRestored) {
  Deletions deletions(EdgeModel::events, true);
  for (const Timestamp time : {9, 5, 5}) deletions.wait(edge(1, "b", "T", time));
  deletions.commit(nullptr, {});
  const Deletions::Entry stored = deletions.entries(nullptr, {}).at(0);
  Deletions restored(EdgeModel::events, true);
  EXPECT_TRUE(restored.restore(stored.name, {stored.times.begin(), stored.times.end()}));
  EXPECT_FALSE(restored.restore(stored.name, {1}));
  EXPECT_FALSE(restored.restore("x", {}));
  EXPECT_FALSE(restored.restore("x", {2, 1}));
  EXPECT_TRUE(restored.meet(edge(1, "b", "T", 6)));
  EXPECT_FALSE(restored.meet(edge(1, "b", "T", 6)));
  EXPECT_FALSE(Deletions(EdgeModel::simple, true).restore("x", {1, 2}));
}

}  // namespace
}  // namespace deltamatch::graph
