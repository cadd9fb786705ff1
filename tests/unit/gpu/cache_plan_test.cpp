#include "gpu/mirror/cache_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace deltamatch::gpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

BlockShape shape(std::uint32_t entries) { return {entries, entries == 0 ? 0U : 1U, 1, false}; }

class CachePlanTest : public testing::Test {
 protected:
  // A selection has room for eight blocks of 16 words.
  CachePlanTest() : plan_(144) { plan_.reserve_vertices(0, 100); }
  void select(const std::vector<VertexId>& vertices, std::uint32_t entries = 14) {
    std::vector<HotVertex> hot;
    for (const VertexId vertex : vertices) hot.push_back({vertex, 0});
    const std::vector<BlockShape> shapes(hot.size(), shape(entries));
    plan_.select(hot, shapes, selection_);
  }
  static std::vector<VertexId> vertices(const std::vector<HotVertex>& all) {
    std::vector<VertexId> found;
    for (const HotVertex& hot : all) found.push_back(hot.vertex);
    return found;
  }
  static std::vector<VertexId> vertices(const std::vector<CacheSlot>& all) {
    std::vector<VertexId> found;
    for (const CacheSlot& slot : all) found.push_back(slot.owner.vertex);
    return found;
  }

  CachePlan plan_;
  CachePlan::Selection selection_;
};

TEST(BlockShape, CountsDirectoryIdsAndTags) {
  EXPECT_EQ(BlockShape{}.words(), 0U);
  EXPECT_EQ((BlockShape{1, 1, 0, false}.words()), 4U);
  EXPECT_EQ((BlockShape{3, 1, 0, false}.words()), 8U);
  EXPECT_EQ((BlockShape{3, 1, 0, true}.words()), 8U);
  EXPECT_EQ((BlockShape{5, 3, 0, false}.words()), 16U);  // directory for 4
  EXPECT_EQ((BlockShape{5, 3, 0, false}.directory_log()), 2U);
}

TEST_F(CachePlanTest, KeepsWhatIsWantedAgainAndMovesTheRest) {
  select({1, 2, 3});
  EXPECT_THAT(vertices(selection_.moved), ElementsAre(1, 2, 3));
  EXPECT_EQ(selection_.kept, 0U);
  select({3, 4});
  EXPECT_THAT(vertices(selection_.moved), ElementsAre(4));
  EXPECT_THAT(selection_.evicted, IsEmpty());
  EXPECT_EQ(selection_.kept, 1U);
  EXPECT_EQ(plan_.vertices(), 4U);  // there is room for unwanted ones
}

TEST_F(CachePlanTest, EvictsTheLeastRecentlyWantedWhereRoomIsNeeded) {
  select({1, 2, 3, 4});
  select({5, 6, 7, 8});
  EXPECT_THAT(selection_.evicted, IsEmpty());
  select({1, 10, 11});
  EXPECT_THAT(vertices(selection_.evicted), ElementsAre(2, 3));
  EXPECT_THAT(vertices(selection_.moved), ElementsAre(10, 11));
  EXPECT_EQ(selection_.kept, 1U);
  EXPECT_NE(plan_.find({1, 0}), nullptr);
  EXPECT_EQ(plan_.find({2, 0}), nullptr);
}

TEST_F(CachePlanTest, PassesOverWhatDoesNotFitBesideTheMoreValuable) {
  select({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_THAT(vertices(selection_.moved), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  select({20}, 10000);
  EXPECT_THAT(selection_.moved, IsEmpty());
  EXPECT_EQ(plan_.vertices(), 8U);
}

TEST_F(CachePlanTest, AVertexWithoutListsTakesNoRoom) {
  select({1, 2}, 0);
  EXPECT_EQ(plan_.used_words(), 0U);
  ASSERT_NE(plan_.find({2, 0}), nullptr);
  EXPECT_EQ(plan_.find({2, 0})->shape.entries, 0U);
}

TEST_F(CachePlanTest, AReplacedBlockIsFree) {
  select({1});
  ASSERT_TRUE(plan_.replace({1, 0}, shape(30)));
  EXPECT_EQ(plan_.used_words(), 32U);
  EXPECT_EQ(plan_.find({1, 0})->shape.entries, 30U);
  EXPECT_FALSE(plan_.replace({1, 0}, shape(1000)));
  EXPECT_EQ(plan_.find({1, 0}), nullptr);
  EXPECT_EQ(plan_.used_words(), 0U);
}

TEST_F(CachePlanTest, WhatFitsItsPlaceMayKeepIt) {
  select({1}, 100);
  const CacheSlot before = *plan_.find({1, 0});
  const std::uint64_t room = plan_.words_of(before.shape);
  const auto keeps = [&](const BlockShape& other) {
    const BlockShape had = plan_.find({1, 0})->shape;
    const bool kept = plan_.reshape({1, 0}, other);
    EXPECT_EQ(plan_.find({1, 0})->shape.entries, kept ? other.entries : had.entries);
    EXPECT_EQ(plan_.find({1, 0})->offset, before.offset);
    EXPECT_EQ(plan_.used_words(), room);
    return kept;
  };
  const auto full = static_cast<std::uint32_t>(room - 2);  // one list that fills the room, less its directory
  EXPECT_TRUE(keeps(shape(full)));
  EXPECT_FALSE(keeps(shape(full + 1)));
  EXPECT_TRUE(keeps(shape(90)));
  EXPECT_FALSE(keeps(shape(80))) << "more than an eighth would be of no use";
  EXPECT_FALSE(keeps(shape(0)));
  BlockShape two = shape(90);
  two.slices = 2;
  EXPECT_TRUE(keeps(two));
  EXPECT_EQ(plan_.lists(), 2U);
}

TEST_F(CachePlanTest, AShortListMayLeaveAGranule) {
  select({1}, 6);
  EXPECT_TRUE(plan_.reshape({1, 0}, shape(2)));
  select({2}, 14);
  EXPECT_FALSE(plan_.reshape({2, 0}, shape(6)));
}

// The pool has room for one block, so the freed place is the only one.
TEST(CachePlan, AReplacementMayTakeWhatItHad) {
  CachePlan plan(16);
  plan.reserve_vertices(0, 2);
  ASSERT_TRUE(plan.add({1, 0}, shape(14)));
  ASSERT_TRUE(plan.replace({1, 0}, shape(5)));
  ASSERT_TRUE(plan.replace({1, 0}, shape(13)));
  EXPECT_EQ(plan.find({1, 0})->offset, 0U);
}

// What is kept counts with the size of its place.
TEST(CachePlan, ASelectionOfListsThatShrankFits) {
  CachePlan plan(16000);
  plan.reserve_vertices(0, 100);
  CachePlan::Selection selection;
  std::vector<HotVertex> hot;
  for (VertexId vertex = 0; vertex < 14; ++vertex) hot.push_back({vertex, 0});
  plan.select(hot, std::vector<BlockShape>(hot.size(), shape(1000)), selection);
  ASSERT_EQ(selection.moved.size(), 14U);
  std::vector<BlockShape> shapes;
  for (const HotVertex vertex : hot) {
    ASSERT_TRUE(plan.reshape(vertex, shape(900)));
    shapes.push_back(shape(900));
  }
  for (VertexId vertex = 20; vertex < 26; ++vertex) {
    hot.push_back({vertex, 0});
    shapes.push_back(shape(300));
  }
  plan.select(hot, shapes, selection);
  EXPECT_EQ(selection.kept, 14U);
  EXPECT_EQ(selection.moved.size(), 2U) << "beside places of 1008 words, in 15000";
  EXPECT_THAT(selection.unplaced, IsEmpty());
  EXPECT_LE(plan.used_words(), plan.selectable_words());
}

TEST_F(CachePlanTest, WithoutListsThereIsNoPlaceToKeep) {
  select({1}, 0);
  EXPECT_FALSE(plan_.reshape({1, 0}, shape(1)));
  EXPECT_TRUE(plan_.reshape({1, 0}, shape(0)));
  ASSERT_TRUE(plan_.replace({1, 0}, shape(1)));
  EXPECT_GT(plan_.used_words(), 0U);
  ASSERT_TRUE(plan_.replace({1, 0}, shape(0)));
  EXPECT_EQ(plan_.used_words(), 0U);
}

TEST_F(CachePlanTest, WhatIsNotWantedMakesRoomAndNothingElse) {
  select({1, 2, 3, 4, 5, 6, 7, 8});
  select({4});
  std::vector<HotVertex> evicted;
  plan_.make_room(shape(14), evicted);
  EXPECT_THAT(evicted, IsEmpty());
  plan_.make_room(shape(30), evicted);
  EXPECT_THAT(vertices(evicted), ElementsAre(1, 2));
  EXPECT_TRUE(plan_.has_room(shape(30)));
  plan_.make_room(shape(1000), evicted);
  EXPECT_THAT(vertices(evicted), ElementsAre(1, 2, 3, 5, 6, 7, 8));
  EXPECT_NE(plan_.find({4, 0}), nullptr);
}

TEST_F(CachePlanTest, ASelectionLeavesRoomForListsThatGrow) {
  select({1, 2, 3, 4});
  select({5, 6, 7, 8, 9});
  EXPECT_THAT(vertices(selection_.evicted), ElementsAre(1)) << "all nine fit the pool, and leave no room";
  EXPECT_LE(plan_.used_words(), plan_.selectable_words());
}

TEST_F(CachePlanTest, WhatIsAddedIsWantedAsIfSelected) {
  select({1});
  ASSERT_TRUE(plan_.add({2, 0}, shape(14)));
  std::vector<HotVertex> evicted;
  plan_.make_room(shape(100000), evicted);
  EXPECT_TRUE(evicted.empty());
  select({3});
  plan_.make_room(shape(100000), evicted);
  EXPECT_EQ(evicted.size(), 2U);
  EXPECT_EQ(plan_.find({2, 0}), nullptr);
}

TEST(CachePlan, BlocksThatGrowKeepTheirSizeForAWhile) {
  const auto sizes = [](CachePlan::Blocks blocks) {
    const CachePlan plan(std::uint64_t{1} << 20, blocks);
    std::set<std::uint64_t> found;
    for (std::uint32_t entries = 1000; entries < 2000; ++entries) {
      const BlockShape one = shape(entries);
      const std::uint64_t words = plan.words_of(one);
      EXPECT_GE(words, one.words());
      EXPECT_LE(words, one.words() + one.words() / 16);
      EXPECT_EQ(words % DeviceArena::granule, 0U);
      found.insert(words);
    }
    return found.size();
  };
  EXPECT_EQ(sizes(CachePlan::Blocks::exact), 251U);
  EXPECT_LE(sizes(CachePlan::Blocks::rounded), 18U);
}

TEST(CachePlan, RoomyBlocksKeepTheirPlaceWhileTheyGrowByAnEighth) {
  CachePlan plan(std::uint64_t{1} << 20, CachePlan::Blocks::roomy);
  plan.reserve_vertices(0, 2);
  ASSERT_TRUE(plan.add({1, 0}, shape(1000)));
  const std::uint64_t offset = plan.find({1, 0})->offset;
  for (std::uint32_t entries = 1001; entries <= 1120; ++entries) ASSERT_TRUE(plan.reshape({1, 0}, shape(entries))) << entries;
  EXPECT_EQ(plan.find({1, 0})->offset, offset);
  EXPECT_FALSE(plan.reshape({1, 0}, shape(1300)));
  ASSERT_TRUE(plan.replace({1, 0}, shape(1300)));
  EXPECT_TRUE(plan.reshape({1, 0}, shape(1450))) << "it has room again";
  EXPECT_TRUE(plan.reshape({1, 0}, shape(1150)));
  EXPECT_FALSE(plan.reshape({1, 0}, shape(1000))) << "more than a quarter would be of no use";
}

TEST(CachePlan, RoomyBlocksDoWithoutRoomIfThereIsNone) {
  CachePlan plan(112, CachePlan::Blocks::roomy);
  plan.reserve_vertices(0, 2);
  ASSERT_TRUE(plan.add({1, 0}, shape(108)));
  EXPECT_EQ(plan.used_words(), 112U);
}

TEST(CachePlan, BookkeepingHoldsOverRandomSelections) {
  std::mt19937_64 random(7);
  CachePlan plan(std::uint64_t{1} << 16);
  const auto any_shape = [&] { return shape(static_cast<std::uint32_t>(random() % (random() % 4 == 0 ? 5000 : 90))); };
  constexpr std::uint32_t count = 300;
  plan.reserve_vertices(0, count);
  plan.reserve_vertices(1, count);
  std::map<std::pair<std::uint32_t, VertexId>, BlockShape> truth;  // what must be cached
  CachePlan::Selection selection;
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < 10; ++i) {  // some vertices change
      const HotVertex vertex{static_cast<VertexId>(random() % count), static_cast<std::uint32_t>(random() % 2)};
      if (random() % 2 == 0) {
        plan.drop(vertex);
        truth.erase({vertex.store, vertex.vertex});
      } else if (plan.find(vertex) != nullptr) {
        BlockShape larger = any_shape();
        std::vector<HotVertex> evicted;
        if (random() % 4 == 0) plan.make_room(larger, evicted);
        for (const HotVertex& gone : evicted) ASSERT_EQ(truth.erase({gone.store, gone.vertex}), 1U);
        if (plan.find(vertex) == nullptr) continue;
        if ((random() % 2 == 0 && plan.reshape(vertex, larger)) || plan.replace(vertex, larger) ||
            (random() % 2 == 0 && plan.add(vertex, larger = any_shape()))) {
          truth[{vertex.store, vertex.vertex}] = larger;
        } else {
          truth.erase({vertex.store, vertex.vertex});
        }
      }
    }
    std::vector<HotVertex> hot;
    std::vector<BlockShape> shapes;
    std::uint64_t wanted_words = 0;
    for (VertexId vertex = 0; vertex < count; ++vertex) {
      if (random() % 5 != 0) continue;
      hot.push_back({vertex, static_cast<std::uint32_t>(random() % 2)});
      const auto known = truth.find({hot.back().store, vertex});
      shapes.push_back(known != truth.end() ? known->second : any_shape());
      wanted_words += plan.words_of(shapes.back());
    }
    plan.select(hot, shapes, selection);
    for (const HotVertex& vertex : selection.evicted) ASSERT_EQ(truth.erase({vertex.store, vertex.vertex}), 1U);
    for (const CacheSlot& slot : selection.moved) {
      for (std::size_t i = 0; i < hot.size(); ++i) {
        if (hot[i] != slot.owner) continue;
        ASSERT_EQ(slot.shape.entries, shapes[i].entries);
        ASSERT_EQ(slot.offset, plan.find(hot[i])->offset);
        ASSERT_TRUE(truth.emplace(std::pair(slot.owner.store, slot.owner.vertex), shapes[i]).second);
      }
    }
    ASSERT_LE(selection.moved.size() + selection.kept + selection.unplaced.size(), hot.size());
    ASSERT_LE(plan.used_words(), plan.selectable_words());
    ASSERT_EQ(plan.vertices(), truth.size());
    std::uint64_t words = 0;
    std::map<std::uint64_t, std::uint64_t> places;
    std::size_t met = 0;
    for (const std::uint32_t store : {0U, 1U}) {
      plan.for_each(store, [&](const CacheSlot& slot) {
        ++met;
        ASSERT_EQ(slot.owner.store, store);
        const auto known = truth.find({store, slot.owner.vertex});
        ASSERT_TRUE(known != truth.end());
        ASSERT_EQ(slot.shape.entries, known->second.entries);
        words += plan.words_of(slot.shape);
        if (slot.shape.entries == 0) return;
        ASSERT_TRUE(places.emplace(slot.offset, slot.shape.words()).second);
      });
    }
    ASSERT_EQ(met, truth.size());
    ASSERT_LE(words, plan.used_words());
    ASSERT_LE(plan.used_words(), words + words / 7 + DeviceArena::granule * met) << "lists leave little of their places";
    std::uint64_t end = 0;
    for (const auto& [offset, size] : places) {
      ASSERT_GE(offset, end);
      end = offset + size;
    }
    ASSERT_LE(end, plan.pool_words());
    if (wanted_words < plan.selectable_words() / 2) {
      for (const HotVertex& vertex : hot) ASSERT_NE(plan.find(vertex), nullptr);
    }
  }
  plan.drop_store(0);
  plan.drop_store(1);
  EXPECT_EQ(plan.used_words(), 0U);
  EXPECT_EQ(plan.vertices(), 0U);
  EXPECT_EQ(plan.lists(), 0U);
}

}  // namespace
}  // namespace deltamatch::gpu
