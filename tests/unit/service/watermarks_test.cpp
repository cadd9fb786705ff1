#include "ingest/service/watermarks.hpp"

#include <gtest/gtest.h>

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

constexpr Watermarks::Clock::time_point start{};

TEST(Watermarks, OfOnePartitionIsTheLargestTimeSeen) {
  Watermarks marks(10s);
  marks.open(start);
  EXPECT_EQ(marks.advance(start), std::nullopt);
  marks.see(0, 5, start);
  EXPECT_EQ(marks.advance(start), 5);
  marks.see(0, 3, start);
  EXPECT_EQ(marks.advance(start), 5);
  marks.see(0, std::nullopt, start);
  EXPECT_EQ(marks.advance(start + 1h), 5);
}

TEST(Watermarks, WaitForTheSlowestPartition) {
  Watermarks marks(10s);
  marks.open(start);
  marks.open(start);
  marks.see(0, 100, start);
  EXPECT_EQ(marks.advance(start), std::nullopt);  // the other may still bring anything
  marks.see(1, 40, start);
  EXPECT_EQ(marks.advance(start), 40);
  marks.see(1, 130, start);
  EXPECT_EQ(marks.advance(start), 100);
}

TEST(Watermarks, DoNotWaitForIdlePartitions) {
  Watermarks marks(10s);
  marks.open(start);
  marks.open(start);
  marks.see(1, 40, start + 5s);
  marks.see(0, 100, start + 5s);
  EXPECT_EQ(marks.advance(start + 14s), 40);
  marks.see(0, 110, start + 14s);
  EXPECT_EQ(marks.advance(start + 15s), 110);
  marks.see(1, 60, start + 16s);  // back, and behind: nothing goes back
  EXPECT_EQ(marks.advance(start + 16s), 110);
}

TEST(Watermarks, PartitionsThatNeverSpokeAreIdleInTheEnd) {
  Watermarks marks(10s);
  marks.open(start);
  marks.open(start);
  marks.see(0, 7, start + 9s);
  EXPECT_EQ(marks.advance(start + 9s), std::nullopt);
  EXPECT_EQ(marks.advance(start + 10s), 7);
}

TEST(Watermarks, WhereAllAreIdleNothingIsWaitedFor) {
  Watermarks marks(10s);
  marks.open(start);
  marks.open(start);
  marks.see(0, 100, start);
  marks.see(1, 40, start);
  EXPECT_EQ(marks.advance(start), 40);
  EXPECT_EQ(marks.advance(start + 10s), 100);
}

TEST(Watermarks, GoOnFromWhereTheyWere) {
  Watermarks marks(10s, 50);
  marks.open(start);
  marks.see(0, 20, start);
  EXPECT_EQ(marks.advance(start), 50);
}

}  // namespace
}  // namespace deltamatch::ingest
