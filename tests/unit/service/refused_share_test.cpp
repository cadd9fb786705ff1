#include "ingest/service/loop/refused_share.hpp"

#include <gtest/gtest.h>

namespace deltamatch::ingest {
namespace {

TEST(RefusedShare, OfFewRecordsAllCount) {
  RefusedShare share;
  EXPECT_EQ(share.share(), 0);
  share.add(0, 0);
  share.add(1, 1);
  EXPECT_EQ(share.share(), 1);
  share.add(3, 0);
  EXPECT_EQ(share.share(), 0.25);
  EXPECT_EQ(share.records(), 4u);
  EXPECT_EQ(share.refused(), 1u);
}

TEST(RefusedShare, OfFewRecordsNoShareIsTooLarge) {
  RefusedShare share;
  share.add(RefusedShare::least - 1, RefusedShare::least - 1);
  EXPECT_FALSE(share.exceeds(0.5));
  share.add(1, 0);
  EXPECT_TRUE(share.exceeds(0.5));
  EXPECT_FALSE(share.exceeds(1));
}

TEST(RefusedShare, BatchesThatLieBackAreForgotten) {
  RefusedShare share;
  share.add(5'000, 5'000);
  share.add(9'999, 0);
  EXPECT_EQ(share.records(), 14'999u);  // without the first one there would be too few
  share.add(1, 0);
  EXPECT_EQ(share.records(), 10'000u);
  EXPECT_EQ(share.refused(), 0u);
}

TEST(RefusedShare, ABatchThatIsLargerThanTheHorizonStandsForItself) {
  RefusedShare share;
  share.add(10, 10);
  share.add(50'000, 20'000);
  EXPECT_EQ(share.share(), 0.4);
  for (int i = 0; i < 10'000; ++i) share.add(1, 1);
  EXPECT_EQ(share.share(), 1);
}

}  // namespace
}  // namespace deltamatch::ingest
