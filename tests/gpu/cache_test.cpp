// Tests what is reported about the cache, and how its content is chosen.
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "gpu/side_by_side.hpp"
#include "gpu/support.hpp"

namespace deltamatch {
namespace {

using test::Stream;

constexpr test::Shape skewed{40000, 600000, 0, 0, false, 1.5, 0};
constexpr std::size_t budget = std::size_t{2} << 20;  // less than half of the lists
// If walks are given, a cache is chosen for every batch.
constexpr double every_batch = 0x1p11;

// Kernels fill nothing by themselves, so the cache holds what walks choose.
constexpr GpuTesting walks_only{.ring_share = -1};

// Runs batches with a cache that holds a part of the graph. The results must equal the CPU's.
gpu::CacheStatistics follow(const GpuOptions& options, const test::Shape& shape = skewed, const GpuTesting& testing = {}) {
  test::SideBySide both(false, make_gpu_backend(options, testing),
                        {{"(a)--(b)--(c)--(a)", test::listed}, {"(a)--(b)--(c)--(d)--(a)", test::counted}});
  Stream stream(shape, 41);
  both.follow(stream, std::vector(6, test::times(500U, 16U)));
  return test::cache_of(both.gpu());
}

// The cache has room for 37 hundredths of the lists' bytes. Lists chosen at random would cover as much of the most looked-up
// twentieth. Ties in their favour could raise that to less than half.
// By the estimator's own account of these batches, its selections hold four fifths of that twentieth. That is so with 1,024
// walks, too, and if the first batch's choice holds for all.
TEST(GpuCache, EveryNumberOfWalksFindsWhatIsHot) {
  DELTAMATCH_NEEDS_GPU();
  constexpr test::Shape hubs{40000, 600000, 0, 0, false, 2, 0};
  for (const WalkCount count : {WalkCount::even, WalkCount::fixed, WalkCount::paper, WalkCount::formula}) {
    const gpu::CacheStatistics cache =
        follow({.policy = CachePolicy::random_walk, .memory = budget, .walk_count = count, .measure = true}, hubs, walks_only);
    ASSERT_EQ(cache.top.size(), 7U);
    // The lists that save the most bus traffic for their size need not be those with the most look-ups.
    EXPECT_GT(cache.coverage, test::times(0.62, 0.0)) << static_cast<int>(count);
    EXPECT_LE(cache.coverage, 1);
    for (std::size_t i = 1; i < cache.top.size(); ++i) EXPECT_GE(cache.top[i].accesses, cache.top[i - 1].accesses);
    EXPECT_GT(cache.top.back().accesses, 0.2) << "a fifth of the lists has more than a fifth of the look-ups";
    EXPECT_EQ(cache.notice, "");
  }
}

TEST(GpuCache, CoverageIsOfWhatLiesInDeviceMemory) {
  DELTAMATCH_NEEDS_GPU();
  EXPECT_EQ(follow({.policy = CachePolicy::resident, .measure = true}).coverage, 1);
  EXPECT_EQ(follow({.policy = CachePolicy::none, .measure = true}).coverage, 0);
  // Lists that an earlier batch wanted stay while there is room, whatever this batch selects.
  EXPECT_EQ(
      follow({.policy = CachePolicy::degree, .memory = std::size_t{64} << 20, .walks = every_batch, .measure = true}).coverage,
      1);
}

// The lists are looked up so often that moving them pays. The cache has room for one and a half times their most looked-up
// twentieth. The lists that save the most bus traffic for their size are not quite those.
TEST(GpuCache, HoldsTheMostLookedUpListsWhereThereIsRoom) {
  DELTAMATCH_NEEDS_GPU();
  const auto measure = [](CachePolicy policy, std::size_t memory, double walks) {
    Engine gpu(
        {.directed = false,
         .backend = make_gpu_backend({.policy = policy, .memory = memory, .walks = walks, .measure = true}, walks_only)});
    gpu.add_query(parse_pattern("(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)", "house"));
    Stream stream({20000, 500000, 0, 0, false, 2, 0}, 42);
    gpu.load(stream.start(), OnReject::skip);
    std::vector<Count> counts;
    for (int b = 0; b < 2; ++b) {
      const BatchResult result = gpu.process(stream.next(test::times(1500U, 64U)), OnReject::skip);
      counts.push_back(result.queries[0].added);
      counts.push_back(result.queries[0].removed);
    }
    return std::pair(test::cache_of(gpu), counts);
  };
  const auto [all, expected] = measure(CachePolicy::degree, std::size_t{64} << 20, every_batch);
  ASSERT_EQ(all.top.size(), 7U);
  const estimate::TopLists top = all.top[4];
  ASSERT_EQ(top.share, 0.05);
  const auto room = static_cast<std::size_t>(1.6 * top.bytes);  // lists get fifteen sixteenths of it
  ASSERT_LT(2 * room, all.cached_bytes) << "it must not hold all";
  const auto [cache, counts] = measure(CachePolicy::random_walk, room, 0x1p16);
  EXPECT_TRUE(counts == expected);
  EXPECT_EQ(cache.notice, "");
  EXPECT_GT(cache.misses, 0U);
  if (test::brief()) return;  // too few look-ups for shares
  EXPECT_GT(top.accesses, 0.1) << "few lists are looked up often";
  EXPECT_GT(cache.coverage, 0.85);
}

// The budgets of all other tests must be enough for something, and not for everything.
TEST(GpuCache, SmallBudgetsHoldSomeOfTheLists) {
  DELTAMATCH_NEEDS_GPU();
  for (const test::Setting& setting : test::settings()) {
    const bool caches = setting.policy == CachePolicy::random_walk || setting.policy == CachePolicy::degree ||
                        setting.policy == CachePolicy::k_hop;
    if (!caches || setting.testing.tables == GpuTables::always) continue;
    SCOPED_TRACE(setting.name);
    test::SideBySide both(false, test::backend_of(setting), {{"(a)--(b)--(c)--(a)", test::listed}});
    Stream stream({4000, 60000, 0, 0, false, 1.5, 0}, 43);
    both.follow(stream, {200, 200, 200});
    const gpu::CacheStatistics cache = test::cache_of(both.gpu());
    EXPECT_GT(cache.cached_lists, 0U);
    EXPECT_GT(cache.hits, 0U);
    EXPECT_GT(cache.misses, 0U);
    EXPECT_GE(cache.choices, 1U);
    EXPECT_EQ(cache.notice, "");
  }
}

// A choice holds for the queries that it was made for. That is so even if another query takes the place of a removed one.
TEST(GpuCache, OtherQueriesHaveAChoiceOfTheirOwn) {
  DELTAMATCH_NEEDS_GPU();
  Engine gpu({.directed = false, .backend = make_gpu_backend({.policy = CachePolicy::random_walk, .memory = budget})});
  Stream stream(skewed, 44);
  gpu.load(stream.start(), OnReject::skip);
  const auto choices_of = [&](const auto& action) {
    const std::uint64_t before = test::cache_of(gpu).choices;
    action();
    return test::cache_of(gpu).choices - before;
  };
  const Query triangle = parse_pattern("(a)--(b)--(c)--(a)", "triangle");
  const Query square = parse_pattern("(a)--(b)--(c)--(d)--(a)", "square");
  for (const Query* query : {&triangle, &square, &triangle}) {
    const QueryId id = gpu.add_query(*query);
    EXPECT_EQ(choices_of([&] { gpu.process(stream.next(100), OnReject::skip); }), 1U) << query->name;
    gpu.remove_query(id);
  }
  if (test::brief()) return;
  for (const Query* query : {&triangle, &square}) {
    EXPECT_GE(choices_of([&] { (void)gpu.match(*query, {}); }), 1U) << query->name;
  }
}

TEST(GpuCache, WhatIsForgottenIsSentAgain) {
  DELTAMATCH_NEEDS_GPU();
  const gpu::CacheStatistics lasting = follow({.policy = CachePolicy::degree, .memory = budget});
  const gpu::CacheStatistics forgotten = follow({.policy = CachePolicy::degree, .memory = budget}, skewed, {.forgets = true});
  EXPECT_GT(forgotten.copied_bytes, lasting.copied_bytes + 4 * (budget / 2)) << "five batches more";
}

// The graph fits the budget when it is loaded, and not after some batches. Then the engine goes on with a cache and reports it.
TEST(GpuCache, AGraphThatOutgrowsTheDeviceIsCached) {
  DELTAMATCH_NEEDS_GPU();
  constexpr std::uint32_t vertices = 20000;
  test::SideBySide both(false, make_gpu_backend({.memory = std::size_t{4} << 20}), {{"(a)--(b)--(c)--(a)", test::listed}});
  both.load(Stream({vertices, 30000, 0, 0, false, 1, 0}, 12).start());
  for (std::uint32_t b = 0; b < 5; ++b) {
    both.process(Stream({vertices, b == 0 ? 100U : 200000U, 0, 0, false, 1, 0}, 13 + b).start(), "batch " + std::to_string(b));
    if (HasFailure()) return;
    if (b > 0) continue;
    EXPECT_EQ(test::cache_of(both.gpu()).misses, 0) << "it fits";
    EXPECT_EQ(test::cache_of(both.gpu()).notice, "");
  }
  EXPECT_GT(test::cache_of(both.gpu()).misses, 0);
  EXPECT_EQ(test::cache_of(both.gpu()).notice, "the graph exceeds device memory; the lists that are read most are cached");
}

TEST(GpuCache, ABudgetBeyondTheDeviceIsCutAndSaysSo) {
  DELTAMATCH_NEEDS_GPU();
  const gpu::CacheStatistics cache =
      follow({.policy = CachePolicy::degree, .memory = std::size_t{1} << 42, .walks = every_batch});
  EXPECT_TRUE(cache.notice.starts_with("device memory is short, so the cache takes ")) << cache.notice;
  EXPECT_EQ(cache.misses, 0U);
}

TEST(GpuCache, WalksOutOfRangeAreRefused) {
  DELTAMATCH_NEEDS_GPU();
  for (const double walks : {1.0, 1023.0, 0x1p22 + 1, -1.0}) {
    EXPECT_THROW(static_cast<void>(make_gpu_backend({.walks = walks})), Error) << walks;
  }
  EXPECT_THROW(static_cast<void>(make_gpu_backend({.walks = 2000, .walk_count = WalkCount::paper})), Error);
}

}  // namespace
}  // namespace deltamatch
