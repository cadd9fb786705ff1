// Every part of every batch is published once, in order and with the right alerts, whatever fails between any two steps.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "unit/workers/simulation.hpp"

namespace deltamatch::ingest::workers {
namespace {

/// DELTAMATCH_SCHEDULES multiplies the number of schedules.
std::uint64_t schedules(std::uint64_t usual) {
  const char* factor = std::getenv("DELTAMATCH_SCHEDULES");
  return factor == nullptr ? usual : usual * std::strtoull(factor, nullptr, 10);
}

/// Runs schedules and sums up what happened in them.
Outcome run(const Setting& setting, std::uint64_t first, std::uint64_t count) {
  Outcome sum;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome one = simulate(setting, seed);
    sum.cuts += one.cuts;
    sum.moves += one.moves;
    sum.take_overs += one.take_overs;
    sum.restarts += one.restarts;
    sum.fenced += one.fenced;
    sum.lost_answers += one.lost_answers;
    sum.digests += one.digests;
    sum.elections += one.elections;
    if (!one.fault.empty()) {
      sum.fault = fmt::format("schedule {}: {}", seed, one.fault);
      sum.trace = one.trace;
      break;
    }
  }
  return sum;
}

void expect_well(const Outcome& sum) { EXPECT_EQ(sum.fault, "") << fmt::format("{}", fmt::join(sum.trace, "\n")); }

TEST(Workers, PublishEachPartOnceInOrder) {
  const std::uint64_t count = schedules(3000);
  const Outcome sum = run({}, 1, count);
  expect_well(sum);
  // Everything that the rules are for must have happened.
  EXPECT_GT(sum.cuts, 3 * count);
  for (const std::size_t happened :
       {sum.moves, sum.take_overs, sum.restarts, sum.fenced, sum.lost_answers, sum.digests, sum.elections}) {
    EXPECT_GT(happened, count / 20);
  }
}

TEST(Workers, TwoWithManySlots) { expect_well(run({.workers = 2, .slots = 8, .records = 20}, 1, schedules(500))); }

TEST(Workers, FourWithFewSlotsSoThatSomeAreSpares) { expect_well(run({.workers = 4, .slots = 2}, 1, schedules(1500))); }

/// A leader's reading ended before a cut of another one, which its worker had read already. So it waited for ever.
TEST(Workers, AScheduleThatOnceStoodStill) { expect_well(run({.workers = 4, .slots = 2}, 248'944, 1)); }

TEST(Workers, WithoutFaults) {
  const Outcome sum = run({.faults = 0}, 1, schedules(300));
  expect_well(sum);
  EXPECT_EQ(sum.digests, 0U);
}

TEST(Workers, AmongManyFaults) { expect_well(run({.steps = 1500, .faults = 250}, 1, schedules(500))); }

}  // namespace
}  // namespace deltamatch::ingest::workers
