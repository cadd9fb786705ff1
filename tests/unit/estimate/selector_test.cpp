// What is cached in one batch after the other, and when that is chosen.
#include "estimate/selector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "estimate/choice_schedule.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::estimate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr StoredVertex at(VertexId vertex) { return {vertex, graph::StoreKind::base}; }

// Lists of 72 bytes. Each look-up of a list that is not cached reads 200 bytes over the bus, so moving a list costs as much as
// 20.84 look-ups. All look-ups are counted.
class Selecting : public testing::Test {
 protected:
  static constexpr std::size_t one = 72;
  static std::size_t bytes(const StoredVertex&) { return one; }
  static Expected found(VertexId vertex, double times, double usual = 0) {
    return {at(vertex), one, {.certain = times}, usual};
  }
  std::vector<StoredVertex> select(const std::vector<Expected>& lists, std::size_t budget, double batches = 1) {
    return selector_.select({lists, {.certain = 1}, {}}, bytes, budget, {.batches = batches}).hot;
  }

  Workers workers_{1};
  Selector selector_{workers_};
};

TEST_F(Selecting, WhatIsThereStaysUnlessAnotherSavesMoreThanMovingItCosts) {
  EXPECT_THAT(select({found(1, 100), found(2, 101)}, one), ElementsAre(at(2)));
  EXPECT_THAT(select({found(1, 110), found(2, 90)}, one), ElementsAre(at(2))) << "110 - 20.84 against 90";
  EXPECT_THAT(select({found(1, 111), found(2, 90)}, one), ElementsAre(at(1)));
}

// Without findings, a batch is expected to look up the usual. For a selected list these are its earlier look-ups. For others it
// is what their length suggests.
TEST_F(Selecting, RemembersWhatIsUsual) {
  EXPECT_THAT(select({found(1, 1000)}, one), ElementsAre(at(1)));
  // Nothing was counted, and the few visits that were drawn tell nothing.
  const Findings few{.drawn = {0, 1}};
  const std::array<double, drawn_kinds> noise{0, 1e9};
  const std::vector<Expected> none{{at(1), one, {}, 1}, {at(2), one, {}, 100}};
  // 1 + (1000 - 1) / 4 is not more than what the other's length suggests. What was found before counts.
  EXPECT_THAT(selector_.select({none, few, noise}, bytes, one).hot, ElementsAre(at(1)));
  const std::vector<Expected> more{{at(1), one, {}, 1}, {at(2), one, {}, 300}};
  EXPECT_THAT(selector_.select({more, few, noise}, bytes, one).hot, ElementsAre(at(2)));
}

TEST_F(Selecting, FillsRoomWithWhatIsUsedOverSomeBatchesAndMovesNothingElse) {
  EXPECT_THAT(select({found(1, 0, 0.4), found(2, 0, 0.5), found(3, 30)}, 1000), ElementsAre(at(2), at(3)))
      << "in 63 batches 0.4 are less than a move, 0.5 less a quarter are more, and 30 are more at once";
  EXPECT_THAT(select({found(1, 0, 0.4), found(2, 0.1), found(3, 0.1)}, 1000), ElementsAre(at(2), at(3))) << "they are there";
  EXPECT_THAT(select({found(1, 2), found(2, 0.1), found(3, 0.1)}, 3 * one), ElementsAre(at(1), at(2), at(3)));
  EXPECT_THAT(select({found(1, 2), found(2, 0.1), found(3, 0.1), found(4, 19)}, 3 * one), ElementsAre(at(1), at(2), at(3)))
      << "there is no room, and it is not worth a move by this batch alone";
}

// A choice that holds for long goes by what is usual. What this batch looks up counts for little more than one batch.
TEST_F(Selecting, AChoiceThatHoldsIsMadeForTheBatchesToCome) {
  const std::vector<Expected> lists{found(1, 100, 0), found(2, 30, 60)};
  Selector fresh(workers_);
  EXPECT_THAT(fresh.select({lists, {.certain = 1}, {}}, bytes, one, {.batches = 1}).hot, ElementsAre(at(1)));
  EXPECT_THAT(select(lists, one, 64), ElementsAre(at(2)));
}

TEST_F(Selecting, ForgetsWhatIsNotLookedUpAnyMoreAndWhatTakesNothing) {
  EXPECT_EQ(select({found(1, 100), found(7, 100)}, 1000).size(), 2);
  const auto gone = [](const StoredVertex& v) -> std::size_t { return v.vertex == 1 ? 0 : one; };
  EXPECT_THAT(selector_.select({}, gone, 1000).hot, ElementsAre(at(7)));
  for (int batch = 0; batch < 7; ++batch) EXPECT_THAT(select({}, 1000), ElementsAre(at(7)));
  EXPECT_THAT(select({}, 1000), IsEmpty());
}

// The lists have gaps, in which a vertex occurs again.
TEST_F(Selecting, KnowsWhatIsThereWhereTheMergeIsParted) {
  std::vector<Expected> lists;
  for (VertexId v = 0; v < 20'000; ++v) {
    lists.push_back(found(v, 100));
    for (VertexId gap = 0; gap < v % 4; ++gap) lists.push_back({at(v), 0, {.certain = 100}, 1});
  }
  std::vector<StoredVertex> lesser;
  for (VertexId v = 0; v < 10'000; ++v) lesser.push_back(at(v));
  EXPECT_EQ(select(lists, 10'000 * one), lesser) << "all are worth the same";
  for (Expected& list : lists) list.found.certain = list.at.vertex < 10'000 ? 100 : 110;
  EXPECT_EQ(select(lists, 10'000 * one), lesser) << "none is worth a move";
}

// Many lists, found, long, and selected before, in all combinations. Any number of threads gives the result of one.
TEST(Selector, MergesAllThatIsKnownWhateverTheThreads) {
  WorldOptions options;
  options.vertices = 90'000;
  options.edges = options.inserted = options.removed = 0;
  World world(options, 1);
  world.make_star(0, 1);
  world.add(parse_pattern("(a)--(b)--(c)", "test"));
  world.stage();
  std::mt19937 random(3);
  std::vector<std::size_t> sizes;
  std::size_t sum = 0;
  for (VertexId v = 0; v < 90'000; ++v) {
    sizes.push_back(random() % 16 == 0 ? 0 : 16 * (1 + random() % 60));
    sum += sizes.back();
  }
  const auto bytes = [&](const StoredVertex& v) -> std::size_t {
    return v.store == graph::StoreKind::base ? sizes[v.vertex] : 0;
  };
  Workers single(1);
  Workers several(3);
  AccessPrior priors[] = {AccessPrior(single), AccessPrior(several)};
  Selector selectors[] = {Selector(single), Selector(several)};
  for (unsigned batch = 0; batch < 4; ++batch) {
    Accesses accesses;
    accesses.noise = {0, 25};
    std::vector<Access>& found = accesses.lists;
    for (VertexId v = batch; v < 90'000; v += 1 + random() % (batch == 3 ? 4000 : 6)) {
      const auto times = static_cast<double>(1 + random() % 50);
      found.push_back({at(v), times, {0, times}});
    }
    Selection selections[2];
    std::map<VertexId, Expected> expected[2];
    for (unsigned w = 0; w < 2; ++w) {
      const Posterior tempered = priors[w].posterior_of(world.graph, accesses, bytes, sum / 4);
      VertexId last = 0;
      for (const Expected& one : tempered.lists) {
        EXPECT_LE(last, one.at.vertex);
        last = one.at.vertex;
        if (one.bytes == 0) continue;
        EXPECT_EQ(one.bytes, sizes[one.at.vertex]);
        EXPECT_TRUE(expected[w].emplace(one.at.vertex, one).second) << "vertex " << one.at.vertex << " stands there twice";
      }
      selections[w] = selectors[w].select(tempered, bytes, sum / 4);
    }
    ASSERT_EQ(expected[0].size(), expected[1].size());
    for (const auto& [vertex, one] : expected[0]) {
      const Expected& other = expected[1].at(vertex);
      ASSERT_EQ(one.found.times(), other.found.times());
      ASSERT_EQ(one.usual, other.usual);
    }
    for (const Access& access : found) {
      const auto one = expected[0].find(access.at.vertex);
      const double told = one == expected[0].end() ? 0 : one->second.found.times();
      EXPECT_EQ(told, sizes[access.at.vertex] == 0 ? 0 : access.times) << "vertex " << access.at.vertex;
    }
    EXPECT_EQ(selections[0].hot, selections[1].hot);
    EXPECT_EQ(selections[0].bytes, selections[1].bytes);
    EXPECT_LE(selections[0].bytes, sum / 4);
    EXPECT_GT(selections[0].bytes, sum / 4 - sum / 400) << "there is enough that is worth moving";
    EXPECT_TRUE(std::is_sorted(selections[0].hot.begin(), selections[0].hot.end()));
  }
}

TEST(ChoiceSchedule, AChoiceHoldsUntilMatchingHasMadeUpForIt) {
  ChoiceSchedule pace(0.1);
  EXPECT_TRUE(pace.due()) << "the first";
  pace.matched(100);
  pace.chose(0.2);
  pace.chose(0.3);
  EXPECT_FALSE(pace.due()) << "what earlier matching took is no credit";
  pace.matched(4);
  EXPECT_FALSE(pace.due());
  pace.matched(1.001);
  EXPECT_TRUE(pace.due());
  pace.chose(50);
  pace.restart();
  EXPECT_TRUE(pace.due());
}

TEST(ChoiceSchedule, TellsForHowLongAChoiceProbablyHolds) {
  ChoiceSchedule pace(0.1);
  EXPECT_EQ(pace.held(), ChoiceSchedule::most_batches) << "nothing shows yet";
  pace.chose(2);
  pace.chose(1);
  pace.matched(5);
  EXPECT_EQ(pace.held(), 6);
  pace.matched(50);
  EXPECT_EQ(pace.held(), 6);
  pace.chose(1);
  pace.matched(100);
  EXPECT_EQ(pace.held(), 1);
  pace.chose(1);
  pace.matched(0);
  EXPECT_EQ(pace.held(), ChoiceSchedule::most_batches);
}

TEST(ChoiceSchedule, NoChoiceHoldsForEver) {
  ChoiceSchedule pace(0.1);
  for (unsigned choice = 0; choice < 2; ++choice) {
    ASSERT_TRUE(pace.due());
    pace.chose(1e9);
    for (unsigned batch = 0; batch < ChoiceSchedule::most_batches; ++batch) {
      ASSERT_FALSE(pace.due()) << batch;
      pace.matched(0.5);
    }
  }
  EXPECT_TRUE(pace.due());
  pace.chose(0.1);
  pace.matched(2);
  EXPECT_TRUE(pace.due()) << "what no batch made up for in time is forgotten";
}

TEST(ChoiceSchedule, TakesNoMoreThanItsShareOverManyBatches) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> seconds(0.001, 1);
  ChoiceSchedule pace(0.1);
  double choosing = 0;
  double matching = 0;
  double longest = 0;
  for (unsigned batch = 0; batch < 10'000; ++batch) {
    if (pace.due()) {
      const double cost = seconds(random);
      longest = std::max(longest, cost);
      choosing += cost;
      pace.chose(cost);
    }
    const double took = seconds(random);
    matching += took;
    pace.matched(took);
    ASSERT_LE(choosing, 0.1 * matching + longest) << batch;
  }
  EXPECT_GT(choosing, 0.08 * matching) << "and not much less";
}

}  // namespace
}  // namespace deltamatch::estimate
