#include "engine/whole/portions.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace deltamatch::engine {
namespace {

TEST(Portions, GrowWhileTheyTakeNoTimeUpToAMost) {
  Portions portions(4, 1);
  portions.begin(1'000'000);
  EXPECT_EQ(portions.next(), 4U);
  portions.tried(4, 0.001);
  EXPECT_EQ(portions.next(), 32U);
  portions.tried(32, 0.01);
  EXPECT_EQ(portions.next(), 64U);
  portions.tried(64, 0.1);
  EXPECT_EQ(portions.next(), 64U);
  for (int i = 0; i < 20; ++i) portions.tried(1, 0);
  EXPECT_EQ(portions.next(), std::size_t{1} << 16);
  EXPECT_EQ(portions.size(), portions.next());
}

TEST(Portions, ShrinkWhereTheyTakeLongDownToTheThreads) {
  Portions portions(4, 64);
  portions.begin(1000);
  EXPECT_EQ(portions.next(), 64U);
  portions.tried(64, 1);
  EXPECT_EQ(portions.next(), 32U);
  for (int i = 0; i < 20; ++i) portions.tried(1, 1);
  EXPECT_EQ(portions.next(), 4U);
}

TEST(Portions, HoldAQuarterOfWhatIsLeftAtMostWhileOneMayBeLost) {
  Portions portions(1, 1 << 10);
  portions.may_lose(0.1);
  portions.begin(10'000);
  EXPECT_EQ(portions.next(), 64U);  // too few to keep the matcher busy
  portions.tried(64, 0.01);         // long enough for such a patience
  EXPECT_EQ(portions.next(), 64U);
  for (int i = 0; i < 10; ++i) portions.tried(0, 0);
  EXPECT_EQ(portions.next(), (10'000U - 64U) / 4);
  portions.tried(9'900, 0.004);
  EXPECT_EQ(portions.next(), 64U);
  portions.lose_none();
  EXPECT_EQ(portions.next(), portions.size());
  EXPECT_GT(portions.next(), 10'000U);
}

TEST(Portions, TellWhatIsUntried) {
  Portions portions(1, 1);
  portions.begin(0);
  EXPECT_EQ(portions.untried(), 1);
  portions.begin(8);
  portions.tried(2, 0);
  portions.tried(0, 0);  // of others
  EXPECT_EQ(portions.untried(), 0.75);
  portions.begin(8);
  EXPECT_EQ(portions.untried(), 1);
}

}  // namespace
}  // namespace deltamatch::engine
