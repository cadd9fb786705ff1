// What goes into a cache under a budget.
#include "estimate/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <span>
#include <vector>

#include "estimate/pace.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::estimate {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

constexpr StoredVertex at(VertexId vertex, graph::StoreKind store = graph::StoreKind::base) { return {vertex, store}; }

// What a prior makes expect, of vertices that take something.
std::vector<Access> expect(Prior& prior, const World& world, std::span<const Access> accesses, const BytesOf& bytes,
                           std::size_t budget) {
  const Outlook outlook = prior.temper(world.graph, accesses, bytes, budget);
  std::vector<Access> all;
  for (const Expected& one : outlook.lists) {
    if (one.bytes > 0) all.push_back({one.at, outlook.times(one.usual, one.found)});
  }
  return all;
}

TEST(Select, TakesWhatSavesMostForItsSizeAndSkipsWhatDoesNotFit) {
  const std::vector<Access> accesses{{at(0), 10}, {at(1), 90}, {at(1, graph::StoreKind::derived), 30},
                                     {at(2), 1},  {at(3), 30}, {at(4), 5}};
  const auto bytes = [](const StoredVertex& v) -> std::size_t {
    if (v.store == graph::StoreKind::derived) return 10;
    constexpr std::size_t sizes[] = {10, 100, 1, 10, 0};
    return sizes[v.vertex];
  };
  // Saved per byte: 138, 205, 414, 129, 414; the last takes nothing and is left out.
  const Selection all = select(accesses, bytes, 131);
  EXPECT_THAT(all.hot, ElementsAre(at(0), at(1), at(1, graph::StoreKind::derived), at(2), at(3)));
  EXPECT_EQ(all.bytes, 131);
  const Selection some = select(accesses, bytes, 125);
  EXPECT_THAT(some.hot, ElementsAre(at(1), at(1, graph::StoreKind::derived), at(2), at(3)));
  EXPECT_EQ(some.bytes, 121);
  const Selection few = select(accesses, bytes, 15);
  EXPECT_THAT(few.hot, ElementsAre(at(1, graph::StoreKind::derived), at(2)))
      << "the second list of ten does not fit, the one of one does";
  EXPECT_THAT(select(accesses, bytes, 0).hot, IsEmpty());
  EXPECT_THAT(select({}, bytes, 100).hot, IsEmpty());
}

TEST(Select, AMissOnALongListCostsManyReads) {
  const std::vector<Access> accesses{{at(0), 8}, {at(1), 100}};
  const auto bytes = [](const StoredVertex& v) -> std::size_t { return v.vertex == 0 ? 128 : 12800; };
  EXPECT_THAT(select(accesses, bytes, 12900).hot, ElementsAre(at(1))) << "8 x 256 bytes for 128, 100 x 12928 for 12800";
}

TEST(Select, NeverExceedsTheBudgetAndLeavesOnlyWhatDoesNotFit) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 200; ++round) {
    std::vector<Access> accesses;
    std::vector<std::size_t> sizes;
    for (VertexId v = 0; v < 40; ++v) {
      accesses.push_back({at(v), static_cast<double>(1 + random() % 100)});
      sizes.push_back(1 + random() % 50);
    }
    const auto bytes = [&](const StoredVertex& v) { return sizes[v.vertex]; };
    const std::size_t budget = random() % 1200;
    const Selection selection = select(accesses, bytes, budget);
    std::size_t sum = 0;
    std::vector<bool> taken(40);
    for (const StoredVertex& v : selection.hot) {
      EXPECT_FALSE(taken[v.vertex]);
      taken[v.vertex] = true;
      sum += sizes[v.vertex];
    }
    EXPECT_EQ(sum, selection.bytes);
    EXPECT_LE(sum, budget);
    for (VertexId v = 0; v < 40; ++v) {
      if (taken[v]) continue;
      EXPECT_GT(sizes[v], budget - sum) << "vertex " << v << " would have fitted";
      // At its turn it did not fit: the better ones that were taken left too little.
      std::size_t better = 0;
      for (VertexId u = 0; u < 40; ++u) {
        const double of_u = accesses[u].times * (1 + miss_bytes / static_cast<double>(sizes[u]));
        const double of_v = accesses[v].times * (1 + miss_bytes / static_cast<double>(sizes[v]));
        if (taken[u] && (of_u > of_v || (of_u == of_v && u < v))) better += sizes[u];
      }
      EXPECT_GT(sizes[v], budget - better);
    }
  }
}

TEST(Select, DoesNotDependOnThreads) {
  std::mt19937 random(2);
  std::vector<Access> accesses;
  std::vector<std::size_t> sizes;
  std::size_t sum = 0;
  for (VertexId v = 0; v < 50000; ++v) {
    accesses.push_back({at(v), static_cast<double>(1 + random() % 30)});
    sizes.push_back(random() % 8 == 0 ? 0 : 4 + 4 * (random() % 100));
    sum += sizes.back();
  }
  const auto bytes = [&](const StoredVertex& v) { return sizes[v.vertex]; };
  Workers workers(3);
  for (const std::size_t budget : {sum / 50, sum / 3, sum - 1, sum}) {
    const Selection serial = select(accesses, bytes, budget);
    const Selection parallel = select(accesses, bytes, budget, &workers);
    EXPECT_EQ(serial.hot, parallel.hot);
    EXPECT_TRUE(std::is_sorted(serial.hot.begin(), serial.hot.end()));
    EXPECT_EQ(serial.bytes, parallel.bytes);
    EXPECT_GE(serial.bytes, budget - budget / 1000);
    EXPECT_LE(serial.bytes, budget);
  }
}

// Ten lists of a star's leaves and the long one of its centre: walks found one leaf once, which stands for all look-ups there
// are.
TEST(Prior, LongListsAreExpectedAndSingleFindingsDoubted) {
  WorldOptions options;
  options.vertices = 102;
  options.edges = options.inserted = options.removed = 0;
  World world(options, 1);
  world.make_star(0, 101);
  world.add(parse_pattern("(a)--(b)--(c)", "test"));
  world.stage();
  Workers workers(1);
  Prior prior(workers);
  const auto bytes = [](const StoredVertex& v) -> std::size_t {
    return v.store != graph::StoreKind::base ? 0 : v.vertex == 0 ? 900 : 1;
  };
  // The findings stand for 500 look-ups each. Of 900 + 101 bytes, all are first expected by length, then each around its
  // length's.
  const auto given = [](double mean, double found) { return (1 + found) / (1 / mean + 1.0 / 500); };
  const double of_long = given(1000 * 900 / 1001.0, 0);
  const double of_short = given(1000 * 101 / 1001.0, 2) / 101;
  const auto expected = expect(prior, world, std::vector<Access>{{at(3), 500}, {at(7), 500}}, bytes, 900);
  ASSERT_EQ(expected.size(), 3);
  EXPECT_EQ(expected[0].at, at(0));
  EXPECT_NEAR(expected[0].times, given(of_long, 0), 1e-6) << "never found, but long";
  for (const std::size_t i : {1, 2}) {
    EXPECT_EQ(expected[i].at, at(i == 1 ? 3 : 7));
    EXPECT_NEAR(expected[i].times, given(of_short, 1), 1e-6) << "found once, but short";
  }
  EXPECT_THAT(expect(prior, world, {}, bytes, 900), IsEmpty()) << "nothing to look up";
}

// Middling lists are found again and again, long ones never: what their length makes expect gives way to that.
TEST(Prior, LearnsWhichLengthsAreLookedUp) {
  WorldOptions options;
  options.vertices = 100;
  options.edges = options.inserted = options.removed = 0;
  World world(options, 1);
  world.make_star(0, 99);
  world.add(parse_pattern("(a)--(b)--(c)", "test"));
  world.stage();
  Workers workers(1);
  Prior prior(workers);
  const auto bytes = [](const StoredVertex& v) -> std::size_t {
    return v.store != graph::StoreKind::base ? 0 : v.vertex < 50 ? 1000 : 300;
  };
  std::vector<Access> found;
  for (VertexId v = 50; v < 100; v += 2) found.push_back({at(v), 10});
  std::map<VertexId, double> times;
  for (const Access& one : expect(prior, world, found, bytes, 100 * 1000)) times[one.at.vertex] = one.times;
  ASSERT_EQ(times.size(), 100);
  EXPECT_GT(times[51], 5 * times[1]) << "neither was found, but one is of a length that is";
  EXPECT_GT(times[50], times[51]) << "that was found";
}

// What was counted of the graph is some batches old: lists that are longer now than any was then are expected all the same.
TEST(Prior, ExpectsListsThatHaveOutgrownWhatWasCounted) {
  WorldOptions options;
  options.vertices = 102;
  options.edges = options.inserted = options.removed = 0;
  World world(options, 1);
  world.make_star(0, 101);
  world.add(parse_pattern("(a)--(b)--(c)", "test"));
  world.stage();
  Workers workers(1);
  Prior prior(workers);
  std::size_t hub = 900;
  const auto bytes = [&](const StoredVertex& v) -> std::size_t {
    return v.store != graph::StoreKind::base ? 0 : v.vertex == 0 ? hub : 1;
  };
  const std::vector<Access> leaves{{at(3), 500}, {at(7), 500}};
  const std::vector<Access> with_hub{{at(0), 500}, {at(3), 500}};
  ASSERT_EQ(expect(prior, world, leaves, bytes, 900).size(), 3);
  hub = 90'000;
  const auto given = [](double mean, double found) { return (1 + found) / (1 / mean + 1.0 / 500); };
  const auto unfound = expect(prior, world, leaves, bytes, 900);
  ASSERT_EQ(unfound.size(), 3) << "the hub is the longest as it was";
  EXPECT_EQ(unfound[0].at, at(0));
  EXPECT_NEAR(unfound[0].times, given(given(1000 * 90'000 / 91'001.0, 0), 0), 1e-6) << "by its share of all bytes";
  const auto found = expect(prior, world, with_hub, bytes, 900);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].at, at(0));
  EXPECT_NEAR(found[0].times, given(given(1000 * 90'000 / 91'001.0, 1), 1), 1e-6);
  EXPECT_GT(found[0].times, found[1].times);
}

// A class that had one list and now has many does not expect of each what it expects of all.
TEST(Prior, SharesWhatALengthMakesExpectAmongAllListsThatAreFound) {
  WorldOptions options;
  options.vertices = 102;
  options.edges = options.inserted = options.removed = 0;
  World world(options, 1);
  world.make_star(0, 101);
  world.add(parse_pattern("(a)--(b)--(c)", "test"));
  world.stage();
  Workers workers(1);
  Prior prior(workers);
  VertexId grown = 1;  // vertices below have long lists
  const auto bytes = [&](const StoredVertex& v) -> std::size_t {
    return v.store != graph::StoreKind::base ? 0 : v.vertex < grown ? 1000 : 1;
  };
  std::vector<Access> found;
  for (VertexId v = 0; v < 50; ++v) found.push_back({at(v), 10});
  expect(prior, world, found, bytes, 1000);
  grown = 50;
  const auto expected = expect(prior, world, found, bytes, 1000);
  ASSERT_EQ(expected.size(), 50);
  double all = 0;
  for (const Access& one : expected) all += one.times;
  EXPECT_NEAR(all, 500, 10);
}

TEST(Prior, FollowsAGraphThatGrowsFromNothing) {
  WorldOptions options;
  options.vertices = 102;
  options.edges = options.inserted = options.removed = 0;
  World world(options, 1);
  world.add(parse_pattern("(a)--(b)--(c)", "test"));
  world.graph.resolve_all();
  Workers workers(1);
  Prior prior(workers);
  const auto bytes = [&](const StoredVertex& v) -> std::size_t {
    return v.store != graph::StoreKind::base ? 0 : 4 * std::size_t{world.graph.degree(v.vertex)};
  };
  EXPECT_THAT(expect(prior, world, std::vector<Access>{{at(3), 10}}, bytes, 400), IsEmpty());
  world.make_star(0, 101);
  world.stage();
  const auto expected = expect(prior, world, std::vector<Access>{{at(3), 10}, {at(7), 10}}, bytes, 400);
  ASSERT_EQ(expected.size(), 3);
  EXPECT_EQ(expected[0].at, at(0)) << "never found, but by now the longest";
  EXPECT_GT(expected[0].times, expected[1].times);
  EXPECT_EQ(expected[1].at, at(3));
  EXPECT_EQ(expected[2].at, at(7));
}

// Of lists of 72 bytes, of which each look-up reads 200 over the bus where they are not cached: a move costs what 20.5 look-ups
// do. So many walks that they say all.
class Selecting : public testing::Test {
 protected:
  static constexpr std::size_t one = 72;
  static constexpr double sure = 1e-9;
  static std::size_t bytes(const StoredVertex&) { return one; }
  static Expected found(VertexId vertex, double times) { return {at(vertex), one, times, 1}; }
  std::vector<StoredVertex> select(const std::vector<Expected>& lists, std::size_t budget) {
    return selector_.select({lists, sure}, bytes, budget).hot;
  }

  Workers workers_{1};
  Selector selector_{workers_};
};

TEST_F(Selecting, WhatIsThereStaysUnlessAnotherSavesMoreThanMovingItCosts) {
  EXPECT_THAT(select({found(1, 100), found(2, 101)}, one), ElementsAre(at(2)));
  EXPECT_THAT(select({found(1, 110), found(2, 90)}, one), ElementsAre(at(2))) << "110 - 20.5 against 90";
  EXPECT_THAT(select({found(1, 111), found(2, 90)}, one), ElementsAre(at(1)));
}

// Without findings a batch looks up what is usual: of what was selected, what it looked up before; of others, what their length
// makes expect.
TEST_F(Selecting, RemembersWhatIsUsual) {
  EXPECT_THAT(select({found(1, 1000)}, one), ElementsAre(at(1)));
  const std::vector<Expected> none{{at(1), one, 0, 1}, {at(2), one, 0, 100}};
  // 1 + (1000 - 1) / 4 are not more than what the length of the other makes expect; what was found before counts.
  EXPECT_THAT(selector_.select({none, 1e9}, bytes, one).hot, ElementsAre(at(1)));
  const std::vector<Expected> more{{at(1), one, 0, 1}, {at(2), one, 0, 300}};
  EXPECT_THAT(selector_.select({more, 1e9}, bytes, one).hot, ElementsAre(at(2)));
}

TEST_F(Selecting, FillsRoomWithWhatIsUsedOverSomeBatchesAndMovesNothingElse) {
  EXPECT_THAT(select({found(1, 1), found(2, 2), found(3, 30)}, 1000), ElementsAre(at(2), at(3)))
      << "200 bytes are less than its share of a move, 400 more, and 6000 more than all of it";
  EXPECT_THAT(select({found(1, 1), found(2, 0.1), found(3, 0.1)}, 1000), ElementsAre(at(2), at(3))) << "they are there";
  EXPECT_THAT(select({found(1, 2), found(2, 0.1), found(3, 0.1)}, 3 * one), ElementsAre(at(1), at(2), at(3)));
  EXPECT_THAT(select({found(1, 2), found(2, 0.1), found(3, 0.1), found(4, 19)}, 3 * one), ElementsAre(at(1), at(2), at(3)))
      << "there is no room, and it is not worth a move by this batch alone";
}

TEST_F(Selecting, ForgetsWhatIsNotLookedUpAnyMoreAndWhatTakesNothing) {
  EXPECT_EQ(select({found(1, 100), found(7, 100)}, 1000).size(), 2);
  const auto gone = [](const StoredVertex& v) -> std::size_t { return v.vertex == 1 ? 0 : one; };
  EXPECT_THAT(selector_.select({}, gone, 1000).hot, ElementsAre(at(7)));
  for (int batch = 0; batch < 7; ++batch) EXPECT_THAT(select({}, 1000), ElementsAre(at(7)));
  EXPECT_THAT(select({}, 1000), IsEmpty());
}

// Many lists, found, long, and selected before, in all combinations: whatever the threads, as one after the other.
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
  Prior priors[] = {Prior(single), Prior(several)};
  Selector selectors[] = {Selector(single), Selector(several)};
  for (unsigned batch = 0; batch < 4; ++batch) {
    std::vector<Access> found;
    for (VertexId v = batch; v < 90'000; v += 1 + random() % (batch == 3 ? 4000 : 6)) {
      found.push_back({at(v), static_cast<double>(1 + random() % 50)});
    }
    Selection selections[2];
    std::map<VertexId, Expected> expected[2];
    for (unsigned w = 0; w < 2; ++w) {
      const Outlook tempered = priors[w].temper(world.graph, found, bytes, sum / 4);
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
      ASSERT_EQ(one.found, other.found);
      ASSERT_EQ(one.usual, other.usual);
    }
    for (const Access& access : found) {
      const auto one = expected[0].find(access.at.vertex);
      const double told = one == expected[0].end() ? 0 : one->second.found;
      EXPECT_EQ(told, sizes[access.at.vertex] == 0 ? 0 : access.times) << "vertex " << access.at.vertex;
    }
    EXPECT_EQ(selections[0].hot, selections[1].hot);
    EXPECT_EQ(selections[0].bytes, selections[1].bytes);
    EXPECT_LE(selections[0].bytes, sum / 4);
    EXPECT_GT(selections[0].bytes, sum / 4 - sum / 400) << "there is enough that is worth moving";
    EXPECT_TRUE(std::is_sorted(selections[0].hot.begin(), selections[0].hot.end()));
  }
}

TEST(Pace, AChoiceHoldsUntilMatchingHasMadeUpForIt) {
  Pace pace(0.1);
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

TEST(Pace, TakesNoMoreThanItsShareOverManyBatches) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> seconds(0.001, 1);
  Pace pace(0.1);
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
    ASSERT_LE(choosing, 0.1 * matching + longest);
  }
  EXPECT_GT(choosing, 0.08 * matching) << "and not much less";
}

class Policies : public testing::Test {
 protected:
  void SetUp() override {
    world_.add(parse_pattern("(a)--(b)--(c)--(d)", "test"));
    world_.stage();
  }
  std::size_t bytes(const StoredVertex& v) const { return 4 * std::size_t{world_.graph.degree(v.vertex)}; }
  BytesOf bytes_of() const {
    return [this](const StoredVertex& v) { return bytes(v); };
  }
  static constexpr std::size_t everything = SIZE_MAX;

  World world_{WorldOptions{false, 60, 70, 2, 1}, 7};
};

TEST_F(Policies, DegreeTakesTheLongestListsFirst) {
  const Selection all = select_by_degree(world_.graph, bytes_of(), everything);
  std::size_t with_edges = 0;
  for (VertexId v = 0; v < 60; ++v) with_edges += world_.graph.degree(v) > 0 ? 1 : 0;
  EXPECT_EQ(all.hot.size(), with_edges);
  const Selection half = select_by_degree(world_.graph, bytes_of(), all.bytes / 2);
  EXPECT_LE(half.bytes, all.bytes / 2);
  ASSERT_FALSE(half.hot.empty());
  std::uint32_t least = UINT32_MAX;
  for (const StoredVertex& v : half.hot) least = std::min(least, world_.graph.degree(v.vertex));
  for (VertexId v = 0; v < 60; ++v) {
    if (std::count(half.hot.begin(), half.hot.end(), at(v)) == 0) {
      EXPECT_TRUE(world_.graph.degree(v) <= least || bytes(at(v)) > all.bytes / 2 - half.bytes);
    }
  }
}

TEST_F(Policies, HopsAreThoseOfABreadthFirstSearch) {
  std::vector<unsigned> distance(60, 99);
  for (const match::PassWork& pass : world_.passes) {
    for (const graph::Edge& edge : pass.anchors) distance[edge.tail] = distance[edge.head] = 0;
  }
  for (unsigned round = 0; round < 60; ++round) {
    for (VertexId v = 0; v < 60; ++v) {
      world_.graph.for_each_edge(v, true, [&](const graph::Edge& edge, Timestamp) {
        distance[edge.tail] = std::min(distance[edge.tail], distance[edge.head] + 1);
        distance[edge.head] = std::min(distance[edge.head], distance[edge.tail] + 1);
      });
    }
  }
  Workers workers(2);
  for (unsigned hops = 0; hops < 4; ++hops) {
    const Selection selection = select_within(world_.graph, world_.passes, hops, bytes_of(), everything);
    std::vector<StoredVertex> expected;
    for (unsigned hop = 0; hop <= hops; ++hop) {
      for (VertexId v = 0; v < 60; ++v) {
        if (distance[v] == hop && world_.graph.degree(v) > 0) expected.push_back(at(v));
      }
    }
    EXPECT_THAT(selection.hot, ElementsAreArray(expected));
    EXPECT_EQ(select_within(world_.graph, world_.passes, hops, bytes_of(), everything, &workers).hot, selection.hot);
    const Selection cut = select_within(world_.graph, world_.passes, hops, bytes_of(), selection.bytes - 1);
    expected.pop_back();
    EXPECT_THAT(cut.hot, ElementsAreArray(expected));
  }
}

TEST_F(Policies, KHopHoldsEveryListThatMatchingReads) {
  EXPECT_EQ(hops_of(world_.tasks), 2) << "from an end of the path to the other";
  const Selection within = select_within(world_.graph, world_.passes, hops_of(world_.tasks), bytes_of(), everything);
  Workers workers(1);
  Estimator estimator(workers);
  const Accesses& truth = estimator.count(world_.graph, world_.passes, world_.tasks, world_.programs);
  for (const Access& access : truth.lists) {
    EXPECT_TRUE(std::count(within.hot.begin(), within.hot.end(), access.at) == 1 || bytes(access.at) == 0);
  }
}

TEST(KHop, HoldsEveryListThatIsReadFromRoots) {
  World world({.vertices = 400, .edges = 500}, 9);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(a)--(e)--(b)", "house"));
  world.take_whole(CountFrom::vertices);
  world.passes[0].roots = world.passes[0].roots.first(20);
  EXPECT_EQ(hops_of(world.tasks), 2);
  const auto bytes = [&](const StoredVertex& at) -> std::size_t {
    return at.store != graph::StoreKind::base ? 0 : world.graph.degree(at.vertex);
  };
  const Selection within = select_within(world.graph, world.passes, hops_of(world.tasks), bytes, 1 << 20);
  Workers workers(1);
  Estimator estimator(workers);
  const Accesses& truth = estimator.count(world.graph, world.passes, world.tasks, world.programs);
  EXPECT_FALSE(truth.lists.empty());
  for (const Access& access : truth.lists) EXPECT_EQ(std::count(within.hot.begin(), within.hot.end(), access.at), 1);
}

TEST(TopLists, AreTheMostAccessed) {
  std::vector<Accessed> truth;
  for (int v = 0; v < 100; ++v) truth.push_back({100.0 - v, v == 0 || v == 1 || v == 3 || v == 50, v < 4 ? 100U : 7U});
  std::shuffle(truth.begin(), truth.end(), std::mt19937(1));
  const double all = 100 * 101 / 2.0;
  const std::vector<TopLists> found = top_lists(truth, std::vector{0.0, 0.01, 0.05, 1.0});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].coverage, 1) << "at least one";
  EXPECT_EQ(found[1].coverage, 1);
  EXPECT_EQ(found[1].accesses, 100 / all);
  EXPECT_EQ(found[2].share, 0.05);
  EXPECT_EQ(found[2].coverage, 3.0 / 5);
  EXPECT_EQ(found[2].bytes, 407);
  EXPECT_EQ(found[2].accesses, (100 + 99 + 98 + 97 + 96) / all);
  EXPECT_EQ(found[3].coverage, 4.0 / 100);
  EXPECT_EQ(found[3].accesses, 1);
}

TEST(TopLists, PreferCachedOnesAmongEqual) {
  std::vector<Accessed> ties{{5, false}, {5, false}, {5, true}};
  EXPECT_EQ(top_lists(ties, std::vector{0.3}).front().coverage, 1);
  std::vector<Accessed> none;
  EXPECT_EQ(top_lists(none, std::vector{0.3}).front().coverage, 1);
}

}  // namespace
}  // namespace deltamatch::estimate
