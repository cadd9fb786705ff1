#include "generate/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace deltamatch::generate {
namespace {

// The published first outputs of splitmix64 from state 0. They are the generator's state for seed 0.
TEST(Random, MixIsSplitmix64) {
  EXPECT_EQ(mix(0x9E3779B97F4A7C15), 0xE220A8397B1DCDAF);
  EXPECT_EQ(mix(2 * 0x9E3779B97F4A7C15), 0x6E789E6AA1B965F4);
}

TEST(Random, SequenceIsGolden) {
  Random random(42);
  EXPECT_THAT((std::vector<std::uint64_t>{random.next(), random.next(), random.next()}),
              testing::ElementsAre(1546998764402558742U, 6990951692964543102U, 12544586762248559009U));
}

TEST(Random, BelowStaysBelowAndIsUniform) {
  Random random(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
  std::vector<int> seen(7);
  for (int i = 0; i < 70'000; ++i) ++seen.at(random.below(7));
  for (const int count : seen) EXPECT_NEAR(count, 10'000, 500);
  for (int i = 0; i < 100; ++i) EXPECT_LT(random.below((std::uint64_t{1} << 63) + 1), (std::uint64_t{1} << 63) + 1);
}

TEST(Random, ChanceOfNothingAndOfCertainty) {
  Random random(1);
  int half = 0;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_FALSE(random.chance(0));
    EXPECT_TRUE(random.chance(1));
    half += random.chance(0.5) ? 1 : 0;
  }
  EXPECT_NEAR(half, 5'000, 300);
}

TEST(Random, ExponentialHasItsMeanAndMedian) {
  Random random(1);
  constexpr int draws = 100'000;
  double sum = 0;
  int beyond_median = 0;
  for (int i = 0; i < draws; ++i) {
    const std::uint64_t x = random.exponential(1'000'000);
    EXPECT_LT(x, 45'000'000U);
    sum += static_cast<double>(x);
    beyond_median += static_cast<double>(x) > 1e6 * std::log(2.0) ? 1 : 0;
  }
  EXPECT_NEAR(sum / draws, 1e6, 1e4);
  EXPECT_NEAR(beyond_median, draws / 2, 700);
}

TEST(Random, FixedPointAgreesWithTheMathLibrary) {
  for (const std::uint64_t x : {1ULL, 2ULL, 3ULL, 1000ULL, 65535ULL, 1ULL << 40, ~0ULL}) {
    EXPECT_NEAR(static_cast<double>(log2_fixed(x)) / 4294967296.0, std::log2(static_cast<double>(x)), 1e-8) << x;
  }
  for (const double y : {0.0, 0.25, 0.5, 0.999, 1.0, 3.7, 20.1, 31.9}) {
    EXPECT_NEAR(static_cast<double>(exp2_negative_fixed(static_cast<std::uint64_t>(y * 4294967296.0))), std::exp2(32 - y), 4)
        << y;
  }
  EXPECT_EQ(exp2_negative_fixed(std::uint64_t{40} << 32), 0U);
  EXPECT_EQ(exp2_negative_fixed(~std::uint64_t{0}), 0U);
}

TEST(Random, PowerLawWeightsFollowThePower) {
  const auto weights = power_law_weights(100'000, 7, 2.0 / 3);
  EXPECT_EQ(weights.front(), 0xFFFFFFFFU);
  for (const std::size_t rank : {1U, 10U, 999U, 99'999U}) {
    const double expected = std::pow((static_cast<double>(rank) + 7) / 7, -2.0 / 3);
    EXPECT_NEAR(weights[rank] / 4294967295.0 / expected, 1, 1e-5) << rank;
  }
  EXPECT_THAT(power_law_weights(1'000'000, 1, 16), testing::Each(testing::Gt(0U)));
  EXPECT_THAT(power_law_weights(3, 1, 0), testing::Each(0xFFFFFFFFU));
}

TEST(Random, DiscreteDrawsByWeight) {
  const std::vector<std::uint32_t> weights = {5, 0, 1, 10, 4};
  const AliasTable draw{std::span(weights)};
  Random random(3);
  std::vector<int> seen(weights.size());
  for (int i = 0; i < 200'000; ++i) ++seen.at(draw(random));
  for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(seen[i], 10'000.0 * weights[i], 700) << i;
  EXPECT_EQ(seen[1], 0);
  const std::vector<std::uint32_t> one = {3};
  EXPECT_EQ(AliasTable{std::span(one)}(random), 0U);
}

TEST(Random, ShuffleKeepsAllAndReachesEveryOrder) {
  std::vector<int> items = {0, 1, 2};
  std::vector<std::vector<int>> orders;
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    random.shuffle(std::span(items));
    orders.push_back(items);
  }
  std::ranges::sort(orders);
  const auto [first, last] = std::ranges::unique(orders);
  orders.erase(first, last);
  EXPECT_EQ(orders.size(), 6U);
  EXPECT_THAT(items, testing::UnorderedElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace deltamatch::generate
