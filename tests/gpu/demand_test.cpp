// Kernels that keep the lists that they miss find the same as without. The ring is small, so it is emptied again and again
// while other warps read it.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "gpu/side_by_side.hpp"
#include "gpu/support.hpp"

namespace deltamatch {
namespace {

using test::Stream;

constexpr test::Shape skewed{40000, 600000, 0, 0, false, 1.5, 0};

gpu::CacheStatistics follow(std::size_t memory, double ring_share, GpuReuse reuse, const std::vector<test::Registered>& queries,
                            const std::vector<std::uint32_t>& sizes, const test::Shape& shape = skewed) {
  const GpuTesting testing{.tables = GpuTables::never, .reuse = reuse, .ring_share = ring_share};
  test::SideBySide both(false, make_gpu_backend({.policy = CachePolicy::random_walk, .memory = memory}, testing), queries);
  Stream stream(shape, 45);
  both.follow(stream, sizes);
  return test::cache_of(both.gpu());
}

const std::vector<test::Registered> counted{{"(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)", test::counted},
                                            {"(a)--(b)--(c)--(a), (a)--(d)--(b)", test::counted}};

TEST(GpuDemand, CountsThroughARingThatIsEmptiedManyTimes) {
  DELTAMATCH_NEEDS_GPU();
  for (const GpuReuse reuse : {GpuReuse::automatic, GpuReuse::always, GpuReuse::never}) {
    const auto batches = std::vector(test::times(6U, 2U), test::times(1000U, 32U));
    const gpu::CacheStatistics cache = follow(std::size_t{1} << 20, 0.9, reuse, counted, batches);
    EXPECT_EQ(cache.on_cpu, 0U);
    EXPECT_GT(cache.filled, test::times(15000U, 100U)) << "more than fit";
    EXPECT_GT(cache.misses, cache.filled);
  }
}

TEST(GpuDemand, ListsMatchesThroughIt) {
  DELTAMATCH_NEEDS_GPU();
  const gpu::CacheStatistics cache =
      follow(std::size_t{1} << 18, 0.9, GpuReuse::always,
             {{"(a)--(b)--(c)--(a), (a)--(d)--(b)", test::listed}, {"(a)--(b)--(c)--(d)--(a)", test::counted}},
             std::vector(test::times(4U, 2U), test::times(500U, 16U)));
  EXPECT_GT(cache.filled, 0U);
}

// Look-ups find what earlier ones have missed, even if no walk has chosen it.
TEST(GpuDemand, ServesLookUpsThatWalksDidNotExpect) {
  DELTAMATCH_NEEDS_GPU();
  const auto batches = std::vector(test::times(6U, 2U), test::times(500U, 32U));
  const auto share = [](const gpu::CacheStatistics& cache) {
    return static_cast<double>(cache.hits) / static_cast<double>(cache.hits + cache.misses);
  };
  // Both have as much room for what walks choose.
  constexpr std::size_t memory = std::size_t{1} << 20;
  const gpu::CacheStatistics without = follow(memory, -1, GpuReuse::automatic, counted, batches);
  const gpu::CacheStatistics with = follow(2 * memory, 0.5, GpuReuse::automatic, counted, batches);
  EXPECT_EQ(without.filled, 0U);
  EXPECT_GT(with.filled, 0U);
  if (test::brief()) return;  // too few look-ups for shares
  EXPECT_GT(share(with), share(without));
}

// Hubs have lists that are too long to be copied.
TEST(GpuDemand, LeavesLongListsWhereTheyAre) {
  DELTAMATCH_NEEDS_GPU();
  constexpr test::Shape hubs{20000, 300000, 0, 0, false, 3, 0};
  const gpu::CacheStatistics cache =
      follow(std::size_t{1} << 18, 0.9, GpuReuse::automatic, {{"(a)--(b)--(c)--(a), (a)--(d)--(b)", test::counted}},
             std::vector(test::times(4U, 2U), test::times(200U, 8U)), hubs);
  EXPECT_GT(cache.filled, 0U);
  EXPECT_GT(cache.misses, cache.filled);
}

}  // namespace
}  // namespace deltamatch
