// The lists on a device never exceed their budget, for any growth of a graph and any reads. All memory that is held there is
// reported.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "deltamatch/query.hpp"
#include "filter/filtering.hpp"
#include "gpu/cuda/check.hpp"
#include "gpu/mirror/device_graph.hpp"
#include "host_ops.hpp"
#include "random_graph.hpp"

namespace deltamatch::gpu {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t beside = 4 * mib;  // rows, batches and staging; old and new at once while they grow

struct Budget {
  Storage storage;
  std::size_t bytes;
};

class MemoryBudget : public testing::TestWithParam<Budget> {
 protected:
  MemoryBudget() : graph_(true, false, 21) {
    mirror_ =
        std::make_unique<DeviceGraph>(std::make_unique<HostOps>(figures_),
                                      DeviceGraphOptions{GetParam().storage, GetParam().bytes, std::size_t{1} << 16}, workers_);
  }

  // Returns false if there is no room.
  bool begin(const Reads* reads = nullptr) {
    try {
      if (reads == nullptr) {
        mirror_->begin(graph_.graph(), graph_.graph().resolved());
      } else {
        mirror_->begin(graph_.graph(), graph_.graph().resolved(), *reads);
      }
      mirror_->select(graph_.hot(60));
      return true;
    } catch (const DeviceOutOfMemory&) {
      return false;
    }
  }

  void expect_kept(const std::string& when) {
    const DeviceGraphStatistics told = mirror_->statistics();
    ASSERT_EQ(told.device_bytes, figures_.used) << when;
    ASSERT_LE(told.cached_bytes, told.cache_bytes) << when;
    ASSERT_LE(told.cache_bytes, GetParam().bytes) << when;
    ASSERT_LE(told.device_bytes - told.cache_bytes, beside) << when;
    ASSERT_LE(figures_.peak, GetParam().bytes + beside) << when;
  }

  RandomGraph graph_;
  Workers workers_{2};
  HostOps::Figures figures_;
  std::unique_ptr<DeviceGraph> mirror_;
};

TEST_P(MemoryBudget, IsKeptWhileTheGraphGrows) {
  bool out_of_room = false;
  for (int round = 0; round < 30; ++round) {
    graph_.grow(200);
    graph_.stage(10000, 90);
    out_of_room = !begin() || out_of_room;
    ASSERT_NO_FATAL_FAILURE(expect_kept("round " + std::to_string(round)));
    graph_.settle();
  }
  EXPECT_EQ(out_of_room, GetParam().storage == Storage::resident && GetParam().bytes < 4 * mib);
  EXPECT_GT(figures_.peak, GetParam().bytes / 2) << "nothing was put to the test";
}

// Nothing is staged. One query after the other reads other lists, and some of these are lent.
TEST_P(MemoryBudget, IsKeptWhileWholeGraphsAreMatched) {
  graph_.grow(3000);
  graph_.stage(60000, 100);
  graph_.settle();
  const std::vector<graph::Resolved> resolved = graph_.graph().resolved();
  std::size_t held = 0;
  for (int round = 0; round < 12; ++round) {
    const std::string when = "round " + std::to_string(round);
    const Reads reads = all_reads(std::span(resolved).subspan(round % resolved.size(), 1));
    if (begin(&reads)) ++held;
    ASSERT_NO_FATAL_FAILURE(expect_kept(when + ", some query relations"));
    plan::BoundQuery query(parse_pattern("(a:X)-[:A|B]-(b:Y)--(c)--(a)", "q"), MatchMode::isomorphism, CountMode::subgraphs,
                           graph_.graph());
    graph_.graph().resolve_all();
    filter::Filtering filtering;
    const std::atomic<bool> stop = false;
    filtering.run(query, graph_.graph(), Filter::refine, filter::Numbering::of_graph, workers_, stop);
    if (begin()) ++held;
    ASSERT_NO_FATAL_FAILURE(expect_kept(when + ", lent"));
  }
  EXPECT_GT(held, 0U);
}

INSTANTIATE_TEST_SUITE_P(Budgets, MemoryBudget,
                         testing::Values(Budget{Storage::cached, mib}, Budget{Storage::cached, 3 * mib},
                                         Budget{Storage::resident, mib}, Budget{Storage::resident, 2 * mib},
                                         Budget{Storage::resident, 8 * mib}),
                         [](const auto& setting) {
                           return std::string(setting.param.storage == Storage::cached ? "cached_" : "resident_") +
                                  std::to_string(setting.param.bytes / mib);
                         });

}  // namespace
}  // namespace deltamatch::gpu
