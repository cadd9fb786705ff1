// Which share of a cache kernels fill is decided by the time that batches take with each share.
#include "gpu/mirror/ring_trial.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <set>

namespace deltamatch::gpu {
namespace {

constexpr unsigned measurement = RingTrial::settling_batches + RingTrial::measured_batches;
using Cost = std::function<double(double)>;  // seconds for an anchor, by the share of the ring

// Runs batches. Returns the shares that they had.
std::set<double> run(RingTrial& trial, unsigned batches, const Cost& cost, std::uint64_t anchors = 100) {
  std::set<double> shares;
  for (unsigned b = 0; b < batches; ++b) {
    shares.insert(trial.share());
    trial.matched(cost(trial.share()) * static_cast<double>(anchors), anchors);
  }
  return shares;
}

// The share that holds after a trial, which has measured so many shares.
double found(RingTrial& trial, unsigned measurements, const Cost& cost) {
  run(trial, measurements * measurement, cost);
  const double share = trial.share();
  EXPECT_EQ(run(trial, RingTrial::held_batches - 1, cost), std::set{share});
  return share;
}

TEST(RingTrial, TheFastestShareHolds) {
  RingTrial half;
  EXPECT_EQ(half.share(), 0.5);
  EXPECT_EQ(found(half, 3, [](double share) { return share == 0.5 ? 1 : 2; }), 0.5);
  RingTrial none;
  EXPECT_EQ(found(none, 3, [](double share) { return 1 + share; }), 0);
  RingTrial quarter;
  EXPECT_EQ(found(quarter, 3, [](double share) { return share == 0.25 ? 1 : 2; }), 0.25);
  RingTrial most;
  EXPECT_EQ(found(most, 3, [](double share) { return 2 - share; }), 0.875);
}

TEST(RingTrial, IsRepeatedBesideTheShareThatHolds) {
  RingTrial trial;
  EXPECT_EQ(found(trial, 3, [](double share) { return 1 + share; }), 0);
  run(trial, 1, [](double) { return 1; });
  const Cost other = [](double share) { return share == 0.25 ? 1 : 2; };
  EXPECT_EQ(run(trial, 3 * measurement, other), (std::set{0.0, 0.25, 0.5}));
  EXPECT_EQ(trial.share(), 0.25);
}

TEST(RingTrial, ComparesByAnchors) {
  RingTrial trial;
  for (unsigned b = 0; b < 3 * measurement; ++b) {
    // Batches with half a ring have ten times the work, and take five times as long.
    trial.share() == 0.5 ? trial.matched(5, 1000) : trial.matched(1, 100);
  }
  EXPECT_EQ(trial.share(), 0.5);
}

TEST(RingTrial, ADifferenceInTheNoiseChangesNothing) {
  RingTrial trial;
  EXPECT_EQ(found(trial, 3, [](double share) { return share == 0.5 ? 1 : 0.98; }), 0.5);
}

TEST(RingTrial, FirstBatchesFillTheRingAndDoNotCount) {
  RingTrial trial;
  for (unsigned b = 0; b < 3 * measurement; ++b) {
    const bool first = b % measurement < RingTrial::settling_batches;
    trial.matched(first ? 1000 * trial.share() : 2 - trial.share(), 1);
  }
  EXPECT_EQ(trial.share(), 0.875);
}

TEST(RingTrial, EmptyBatchesTellNothing) {
  RingTrial trial;
  for (int i = 0; i < 50; ++i) trial.matched(1, 0);
  EXPECT_EQ(trial.share(), 0.5);
  EXPECT_EQ(found(trial, 3, [](double share) { return 1 + share; }), 0);
}

TEST(RingTrial, OtherQueriesBeginATrialWithThePresentShare) {
  RingTrial trial;
  EXPECT_EQ(found(trial, 3, [](double share) { return 1 + share; }), 0);
  trial.restart();
  EXPECT_EQ(run(trial, 2 * measurement, [](double share) { return 1 - share; }), (std::set{0.0, 0.25}));
  EXPECT_EQ(trial.share(), 0.5);
}

// A cache that takes long to fill is divided seldom.
TEST(RingTrial, WaitsUntilFillingIsASmallPartOfTheTime) {
  const Cost flat = [](double) { return 0.01; };  // a second for a batch
  RingTrial trial;
  trial.divided(10);
  run(trial, 3 * measurement, flat);
  const auto batches = static_cast<unsigned>(10 / RingTrial::most_filling);
  ASSERT_GT(batches, RingTrial::held_batches);
  EXPECT_EQ(run(trial, batches, flat), std::set{0.5});
  EXPECT_GT(run(trial, 3 * measurement, flat).size(), 1U);
}

}  // namespace
}  // namespace deltamatch::gpu
