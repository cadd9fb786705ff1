// The options of gpu_bench reach the GPU: each option changes its own setting and nothing else.
#include "bench/harness/bench_options.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>

#include "deltamatch/error.hpp"

namespace deltamatch::bench {
namespace {

GpuSettings told(const std::string& words, const std::string& policy = "random-walk") {
  CLI::App app;
  BenchOptions options;
  add_options(app, options);
  app.parse("--queries none " + words);
  return gpu_settings(options, policy, 4096);
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
  const GpuSettings plain = told("");
  EXPECT_FALSE(plain.measure || plain.testing.forgets);
  EXPECT_EQ(plain.testing.tables, GpuTables::automatic);
  EXPECT_TRUE(told("--measure").measure);
  EXPECT_TRUE(told("--fresh").testing.forgets);
  EXPECT_EQ(told("--tables never").testing.tables, GpuTables::never);
  EXPECT_EQ(told("--tables always").testing.tables, GpuTables::always);
  EXPECT_EQ(told("--idle-share 0.25").testing.idle_share, 0.25);
}

TEST(GpuBenchOptions, PoliciesTellWhetherKernelsAreMadeForPlans) {
  EXPECT_EQ(told("", "resident").testing.made, GpuMade::never);
  EXPECT_EQ(told("", "resident+made").testing.made, GpuMade::always);
  EXPECT_EQ(told("", "resident+made").policy, CachePolicy::resident);
  EXPECT_EQ(told("", "2xnone+made").devices, (std::vector<int>{0, 1}));
  for (const char* policy : {"resident+", "resident+some", "cpu+made"}) EXPECT_THROW(told("", policy), Error) << policy;
}

TEST(GpuBenchOptions, PoliciesTellDevicesAndWhatAMissCosts) {
  EXPECT_EQ(told("").devices, std::vector<int>{0});
  const GpuSettings both = told("", "2xrandom-walk@512");
  EXPECT_EQ(both.devices, (std::vector<int>{0, 1}));
  EXPECT_EQ(both.policy, CachePolicy::random_walk);
  EXPECT_EQ(both.memory, 4096U);
  EXPECT_EQ(both.testing.miss_bytes, 512);
  EXPECT_EQ(both.testing.ring_share, 0);
  EXPECT_EQ(told("", "random-walk%75").testing.ring_share, 0.75);
  EXPECT_LT(told("", "random-walk%0").testing.ring_share, 0);
  EXPECT_EQ(told("", "random-walk%75@512").testing.miss_bytes, 512);
  EXPECT_EQ(told("", "3xresident").devices, (std::vector<int>{0, 1, 2}));
  for (const char* policy : {"x",
                             "2x",
                             "2",
                             "",
                             "2xcheapest",
                             "xresident",
                             "0xresident",
                             "65xresident",
                             "99999999999xresident",
                             "2xcpu",
                             "random-walk@",
                             "random-walk@x",
                             "random-walk@0",
                             "random-walk@5x",
                             "random-walk%",
                             "random-walk%101",
                             "random-walk@5%5",
                             "degree%5",
                             "degree@64",
                             "resident@5",
                             "cpu@5"}) {
    EXPECT_THROW(told("", policy), Error) << policy;
  }
}

TEST(GpuBenchOptions, AreCheckedBeforeAGraphIsMade) {
  const auto check = [](const std::string& words) {
    CLI::App app;
    BenchOptions options;
    add_options(app, options);
    app.parse("--queries none " + words);
    check_options(options);
  };
  EXPECT_NO_THROW(check("--policies cpu,cpu-1,2xresident,random-walk@512 --memory 3M --corrupt cpu-1"));
  for (const char* words : {"--policies cpu,cpu", "--policies cpu,dear", "--policies cpu --corrupt resident", "--memory x",
                            "--memory 1M5", "--memory -1", "--memory M", "--memory 99999999999999999G"}) {
    EXPECT_THROW(check(words), Error) << words;
  }
  for (const char* words : {"--walks -4", "--batch 0", "--batch 16,0"})
    EXPECT_THROW(check(words), CLI::ValidationError) << words;
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
