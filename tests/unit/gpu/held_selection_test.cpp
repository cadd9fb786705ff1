// A selection that holds over many batches, which change most of its lists. The device's memory is the host's.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <tuple>
#include <vector>

#include "deltamatch/query.hpp"
#include "dump.hpp"
#include "estimate/selection.hpp"
#include "filter/filtering.hpp"
#include "gpu/mirror/device_graph.hpp"
#include "host_ops.hpp"
#include "random_graph.hpp"

namespace deltamatch::gpu {
namespace {

// A graph with hubs whose longest lists fill the cache. The longest is longer than the room that a selection leaves. Most lists
// change with every batch.
class DeviceGraphOfHubs : public testing::Test {
 protected:
  static constexpr unsigned batches = 30;

  struct Sizes {
    std::uint32_t vertices = 20000;
    std::uint32_t edges = 300000;
    double skew = 3;
    std::uint32_t changes = 1000;
    unsigned inserted = 50;  // percent
    std::size_t cache = std::size_t{1} << 20;
  };
  DeviceGraphOfHubs() : DeviceGraphOfHubs(Sizes()) {}
  explicit DeviceGraphOfHubs(const Sizes& sizes)
      : sizes_(sizes), mirror_(std::move(made_), {Storage::cached, sizes.cache, sizes.cache}, workers_) {
    graph_.grow(sizes.vertices);
    graph_.skew(sizes.skew);
    graph_.stage(sizes.edges, 100);
    graph_.settle();
  }
  void begin() { mirror_.begin(graph_.graph(), graph_.graph().resolved()); }
  std::vector<HotVertex> longest() {
    const auto stored = [](const estimate::StoredVertex& at) {
      return HotVertex{at.vertex, static_cast<std::uint32_t>(at.store)};
    };
    const auto bytes_of = [&](const estimate::StoredVertex& at) { return mirror_.packed_bytes(stored(at)); };
    std::vector<HotVertex> hot;
    for (const estimate::StoredVertex& at : estimate::select_by_degree(graph_.graph(), bytes_of, mirror_.cache_bytes()).hot) {
      hot.push_back(stored(at));
    }
    return hot;
  }
  // Selects what fills the cache, then only every second vertex of that. Returns the latter, which are wanted.
  std::vector<HotVertex> fill_and_halve() {
    begin();
    std::vector<HotVertex> hot = longest();
    mirror_.select(hot);
    for (std::size_t i = 0; 2 * i < hot.size(); ++i) hot[i] = hot[2 * i];
    hot.resize((hot.size() + 1) / 2);
    mirror_.select(hot);
    return hot;
  }
  // Runs batches without another selection. Returns the bytes of those lists that are not held, summed over all batches.
  std::size_t follow(const std::vector<HotVertex>& hot) {
    std::size_t all_lost = 0;
    for (unsigned batch = 0; batch < batches; ++batch) {
      graph_.stage(sizes_.changes, sizes_.inserted);
      begin();
      std::size_t lost = 0;
      for (const HotVertex vertex : hot) lost += mirror_.holds(vertex) ? 0 : mirror_.packed_bytes(vertex);
      EXPECT_LT(lost, mirror_.cache_bytes() / 16) << "batch " << batch;
      all_lost += lost;
      ops_->drain();
      if (batch < 4 || batch % 5 == 4) {
        EXPECT_TRUE(dump_on_host(mirror_.view(), graph_.graph().resolved().size()) == graph_.lists()) << "batch " << batch;
      }
      graph_.settle();
    }
    return all_lost;
  }

  const Sizes sizes_;
  RandomGraph graph_{false, false, 3};
  HostOps::Figures figures_;
  Workers workers_{1};
  std::unique_ptr<HostOps> made_ = std::make_unique<HostOps>(figures_);
  HostOps* ops_ = made_.get();
  DeviceGraph mirror_;
};

TEST_F(DeviceGraphOfHubs, HoldsASelectionOverManyBatches) {
  begin();
  const std::vector<HotVertex> hot = longest();
  mirror_.select(hot);
  const std::size_t first = mirror_.statistics().packed_bytes;
  const auto most = std::ranges::max_element(hot, {}, [&](const HotVertex& at) { return mirror_.packed_bytes(at); });
  ASSERT_GT(mirror_.packed_bytes(*most), (std::size_t{1} << 20) - mirror_.cache_bytes());
  EXPECT_LT(follow(hot), batches * mirror_.cache_bytes() / 100);
  const DeviceGraphStatistics then = mirror_.statistics();
  EXPECT_GT(then.merged, hot.size()) << "lists are merged on the device";
  EXPECT_GT(then.packed_bytes, first + mirror_.packed_bytes(*most))
      << "the longest outgrows its place, finds no other and is sent again";
  EXPECT_LT(then.packed_bytes - first, batches * first * 3 / 4) << "as few others are";
  EXPECT_LT(figures_.merges, 10 * batches) << "launches, which take longer than sending a few lists again";
}

// Lists that keep their size keep their places. Only a few outgrow them by chance.
TEST_F(DeviceGraphOfHubs, FewLeaveWhereListsDoNotGrow) {
  const std::vector<HotVertex> hot = fill_and_halve();
  const DeviceGraphStatistics before = mirror_.statistics();
  EXPECT_EQ(follow(hot), 0U);
  EXPECT_LT(mirror_.statistics().evicted, before.evicted + hot.size() / 10);
}

// Most updates are insertions.
class DeviceGraphOfGrowingHubs : public DeviceGraphOfHubs {
 protected:
  DeviceGraphOfGrowingHubs()
      : DeviceGraphOfHubs({.edges = 100000, .changes = 400, .inserted = 98, .cache = std::size_t{1} << 18}) {}
};

// Half of what fills the cache is not wanted any more when lists grow.
TEST_F(DeviceGraphOfGrowingHubs, WhatIsNotWantedLeavesForListsThatGrow) {
  const std::vector<HotVertex> hot = fill_and_halve();
  const DeviceGraphStatistics before = mirror_.statistics();
  ASSERT_GT(before.cached_vertices, hot.size() * 3 / 2) << "what is not wanted is there";
  EXPECT_EQ(follow(hot), 0U);
  const DeviceGraphStatistics then = mirror_.statistics();
  EXPECT_GT(then.evicted, before.evicted);
  EXPECT_LT(then.cached_vertices, before.cached_vertices);
  EXPECT_GE(then.cached_vertices, hot.size());
}

// Many short lists are merged in one launch. An evicted list may be one that the launch makes, and its place may already belong
// to another.
class DeviceGraphOfGrowingLists : public DeviceGraphOfHubs, public testing::WithParamInterface<std::tuple<unsigned, unsigned>> {
 protected:
  DeviceGraphOfGrowingLists()
      : DeviceGraphOfHubs({40000, 60000, 1.5, 900, std::get<0>(GetParam()), std::size_t{std::get<1>(GetParam())} << 10}) {}
};

TEST_P(DeviceGraphOfGrowingLists, NoTwoAreMergedToOnePlace) {
  const std::vector<HotVertex> hot = fill_and_halve();
  const DeviceGraphStatistics before = mirror_.statistics();
  follow(hot);
  const DeviceGraphStatistics then = mirror_.statistics();
  const bool grows = std::get<0>(GetParam()) > 80;
  EXPECT_TRUE(!grows || then.evicted > before.evicted);
  EXPECT_GT(then.merged, hot.size());
}
INSTANTIATE_TEST_SUITE_P(Shares, DeviceGraphOfGrowingLists,
                         testing::Combine(testing::Values(50, 85, 92, 99), testing::Values(512, 1024)));

// A short list is evicted for a long one, and comes up later in the same batch, when there is room again. By then only the host
// has it.
TEST_F(DeviceGraphOfGrowingHubs, WhatHasLeftIsNotMergedFromNothing) {
  begin();
  std::vector<HotVertex> hot = longest();
  std::ranges::sort(hot, {}, [&](const HotVertex& at) { return mirror_.packed_bytes(at); });
  const auto half = hot.begin() + static_cast<std::ptrdiff_t>(hot.size() * 3 / 4);
  mirror_.select(std::vector(hot.begin(), half));
  const std::vector<HotVertex> longer(half, hot.end());
  mirror_.select(longer);
  const DeviceGraphStatistics before = mirror_.statistics();
  ASSERT_EQ(before.cached_vertices, hot.size());
  follow(longer);
  EXPECT_GT(mirror_.statistics().evicted, before.evicted);
}

// Lent lists are waiting for room when they are taken back.
TEST_F(DeviceGraphOfHubs, NothingIsExpectedOfAStoreThatIsGone) {
  graph_.graph().resolve_all();
  {
    plan::BoundQuery query(parse_pattern("(a)--(b)--(c)--(a)", "q"), MatchMode::isomorphism, CountMode::subgraphs,
                           graph_.graph());
    const std::atomic<bool> stop = false;
    filter::Filtering filtering;
    filtering.run(query, graph_.graph(), Filter::label, filter::Numbering::of_graph, workers_, stop);
    begin();
    const std::size_t vertices = graph_.graph().lent()->vertices();
    std::vector<HotVertex> hot;
    std::size_t lost = 0;
    for (unsigned selection = 0; lost == 0; ++selection) {
      ASSERT_LT(selection, 200U);
      // Some stay, and the free memory lies between them.
      std::erase_if(hot, [&](const HotVertex&) { return graph_.below(4) == 0; });
      std::size_t room = mirror_.cache_bytes();
      for (const HotVertex& at : hot) room -= mirror_.packed_bytes(at);
      for (unsigned tries = 0; tries < 2000; ++tries) {
        const HotVertex at{graph_.below(static_cast<std::uint32_t>(vertices)), 2};
        if (mirror_.packed_bytes(at) == 0 || mirror_.packed_bytes(at) > room || std::ranges::count(hot, at) > 0) continue;
        room -= mirror_.packed_bytes(at);
        hot.push_back(at);
      }
      mirror_.select(hot);
      for (const HotVertex& at : hot) lost += mirror_.holds(at) ? 0 : 1;
    }
  }
  begin();
  EXPECT_EQ(mirror_.statistics().cached_vertices, 0U);
}

}  // namespace
}  // namespace deltamatch::gpu
