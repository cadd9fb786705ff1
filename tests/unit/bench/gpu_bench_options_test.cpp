// What gpu_bench is told reaches the GPU: each option changes what it stands for, and nothing else.
#include "bench/gpu_bench_options.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>

#include "deltamatch/error.hpp"

namespace deltamatch::bench {
namespace {

GpuOptions told(const std::string& words, const std::string& policy = "random-walk") {
  CLI::App app;
  BenchOptions options;
  add_options(app, options);
  app.parse("--queries none " + words);
  return gpu_options(options, policy, 4096);
}

TEST(GpuBenchOptions, TellHowWalksAreCounted) {
  EXPECT_EQ(told("").walk_count, WalkCount::even);
  EXPECT_EQ(told("--walk-count even").walk_count, WalkCount::even);
  EXPECT_EQ(told("--walk-count fixed --walks 2048").walk_count, WalkCount::fixed);
  EXPECT_EQ(told("--walk-count fixed --walks 2048").walks, 2048);
  EXPECT_EQ(told("--walk-count paper").walk_count, WalkCount::paper);
  EXPECT_EQ(told("--walk-count formula").walk_count, WalkCount::formula);
  EXPECT_THROW(told("--walk-count some"), CLI::ValidationError);
}

TEST(GpuBenchOptions, TellWhatTestsAreToldApart) {
  const GpuOptions plain = told("");
  EXPECT_FALSE(plain.measure || plain.testing.forgets);
  EXPECT_EQ(plain.testing.tables, GpuTables::automatic);
  EXPECT_TRUE(told("--measure").measure);
  EXPECT_TRUE(told("--fresh").testing.forgets);
  EXPECT_EQ(told("--tables never").testing.tables, GpuTables::never);
  EXPECT_EQ(told("--tables always").testing.tables, GpuTables::always);
  EXPECT_EQ(told("--idle-share 0.25").testing.idle_share, 0.25);
}

TEST(GpuBenchOptions, PoliciesTellDevicesAndWhatAMissCosts) {
  EXPECT_EQ(told("").devices, std::vector<int>{0});
  const GpuOptions both = told("", "2xrandom-walk@512");
  EXPECT_EQ(both.devices, (std::vector<int>{0, 1}));
  EXPECT_EQ(both.policy, CachePolicy::random_walk);
  EXPECT_EQ(both.memory, 4096U);
  EXPECT_EQ(both.testing.miss_bytes, 512);
  EXPECT_EQ(told("", "degree@64").testing.miss_bytes, 64);
  EXPECT_EQ(told("", "3xresident").devices, (std::vector<int>{0, 1, 2}));
  for (const char* policy : {"x", "2x", "2", "", "2xcheapest", "xresident"}) EXPECT_THROW(told("", policy), Error) << policy;
}

TEST(GpuBenchOptions, OnlyCachesTakeMemory) {
  for (const char* policy : {"automatic", "degree", "k-hop", "random-walk"})
    EXPECT_EQ(told("", policy).memory, 4096U) << policy;
  for (const char* policy : {"none", "managed", "resident"}) EXPECT_EQ(told("", policy).memory, 0U) << policy;
  EXPECT_EQ(told("", "k-hop").policy, CachePolicy::k_hop);
  EXPECT_THROW(told("", "cheapest"), Error);
}

}  // namespace
}  // namespace deltamatch::bench
