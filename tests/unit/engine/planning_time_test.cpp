// Queries whose sums take long to plan stop when asked to, and say so.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "deltamatch/engine.hpp"

namespace deltamatch {
namespace {

// A clique of all vertices except one, which hangs on it.
Query large_query() {
  std::string pattern = "(v0)--(p)";
  for (int v = 1; v < 31; ++v) {
    for (int u = 0; u < v; ++u) pattern += ", (v" + std::to_string(u) + ")--(v" + std::to_string(v) + ")";
  }
  return parse_pattern(pattern, "large");
}

Engine make_clique() {
  UpdateBatch batch;
  for (std::int64_t v = 0; v < 40; ++v) {
    for (std::int64_t u = 0; u < v; ++u) {
      Update update;
      update.source = Id(u);
      update.target = Id(v);
      batch.add(update);
    }
  }
  Engine engine({.directed = false, .threads = 1});
  engine.load(batch, OnReject::stop);
  return engine;
}

TEST(PlanningTime, EndsWithTheTimeout) {
  Engine engine = make_clique();
  const Query query = large_query();
  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(engine.explain(query, StaticOptions{}));
  const double planning = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  StaticOptions options;
  options.timeout = std::chrono::milliseconds(5);
  double least = planning;  // on a busy machine the thread that watches the time may wait once
  for (int turn = 0; turn < 10 && least >= planning / 2; ++turn) {
    const StaticResult part = engine.match(query, options);
    EXPECT_EQ(part.shortfall, Shortfall::timeout);
    EXPECT_TRUE(part.matches == Count{0});
    least = std::min(least, part.seconds);
  }
  EXPECT_LT(least, planning / 2);
}

TEST(PlanningTime, EndsWhenAskedTo) {
  Engine engine = make_clique();
  StaticOptions options;
  options.stop = [] { return true; };
  EXPECT_EQ(engine.match(large_query(), options).shortfall, Shortfall::stopped);
}

}  // namespace
}  // namespace deltamatch
