// What goes into a cache under a budget.
#include "estimate/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <span>
#include <vector>

#include "unit/estimate/support.hpp"

namespace deltamatch::estimate {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

constexpr StoredVertex at(VertexId vertex, graph::StoreKind store = graph::StoreKind::base) { return {vertex, store}; }

TEST(Select, TakesWhatSavesMostForItsSizeAndSkipsWhatDoesNotFit) {
  const std::vector<Access> accesses{{at(0), 10}, {at(1), 90}, {at(1, graph::StoreKind::derived), 30},
                                     {at(2), 1},  {at(3), 30}, {at(4), 5}};
  const auto bytes = [](const StoredVertex& v) -> std::size_t {
    if (v.store == graph::StoreKind::derived) return 10;
    constexpr std::size_t sizes[] = {10, 100, 1, 10, 0};
    return sizes[v.vertex];
  };
  // Saved per byte: 138, 205, 414, 129, 414. The last list takes no memory and is left out.
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
      // At its turn it did not fit: the better lists that were chosen left too little memory.
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
