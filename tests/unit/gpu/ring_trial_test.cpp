// Whether kernels fill the ring is decided by the time that batches take with it and without it.
#include "gpu/mirror/ring_trial.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace deltamatch::gpu {
namespace {

// Runs batches that take so long with and without the ring. Returns how many of them filled it.
unsigned run(RingTrial& trial, unsigned batches, double with, double without, std::uint64_t anchors = 100) {
  unsigned filled = 0;
  for (unsigned b = 0; b < batches; ++b) {
    const bool fills = trial.fills();
    filled += fills ? 1 : 0;
    trial.matched((fills ? with : without) * static_cast<double>(anchors), anchors);
  }
  return filled;
}

constexpr unsigned tried = RingTrial::first_batches + RingTrial::trial_batches;
constexpr unsigned filled_in_trial = RingTrial::first_batches + RingTrial::trial_batches / 2;

TEST(RingTrial, TheFasterWayHolds) {
  RingTrial pays;
  EXPECT_EQ(run(pays, tried, 1, 2), filled_in_trial);
  EXPECT_EQ(run(pays, RingTrial::held_batches, 1, 2), RingTrial::held_batches);
  RingTrial costs;
  EXPECT_EQ(run(costs, tried, 2, 1), filled_in_trial);
  EXPECT_EQ(run(costs, RingTrial::held_batches, 2, 1), 0U);
}

TEST(RingTrial, IsRepeated) {
  RingTrial trial;
  run(trial, tried + RingTrial::held_batches, 2, 1);
  EXPECT_EQ(run(trial, RingTrial::trial_batches, 1, 2), RingTrial::trial_batches / 2);
  EXPECT_EQ(run(trial, RingTrial::held_batches, 1, 2), RingTrial::held_batches);
}

TEST(RingTrial, ComparesByAnchors) {
  RingTrial trial;
  run(trial, RingTrial::first_batches, 1, 1);
  for (unsigned b = 0; b < RingTrial::trial_batches; ++b) {
    // Batches with the ring have ten times the work, and take five times as long.
    trial.fills() ? trial.matched(5, 1000) : trial.matched(1, 100);
  }
  EXPECT_EQ(run(trial, 10, 1, 1), 10U);
}

TEST(RingTrial, ADifferenceInTheNoiseChangesNothing) {
  RingTrial trial;
  run(trial, tried, 1, 0.97);
  EXPECT_TRUE(trial.fills());
}

TEST(RingTrial, EmptyBatchesTellNothing) {
  RingTrial trial;
  for (int i = 0; i < 50; ++i) trial.matched(1, 0);
  EXPECT_EQ(run(trial, tried, 2, 1), filled_in_trial);
  EXPECT_FALSE(trial.fills());
  trial.restart();
  EXPECT_TRUE(trial.fills());
  EXPECT_EQ(run(trial, tried, 2, 1), filled_in_trial);
}

}  // namespace
}  // namespace deltamatch::gpu
