#include "ingest/service/loop/watermarks.hpp"

#include <gtest/gtest.h>

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

constexpr Watermarks::Clock::time_point start{};

/// A partition read to its end, according to answers from `since` to `last`.
IdleEvidence at_end(std::chrono::seconds since, std::chrono::seconds last) { return {start + since, start + last}; }

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
  EXPECT_EQ(marks.advance(start), std::nullopt);  // the other one may still bring anything
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
  marks.at_end(1, at_end(4s, 14s));
  EXPECT_EQ(marks.advance(start + 14s), 40);
  marks.see(0, 110, start + 14s);
  marks.at_end(1, at_end(4s, 15s));
  EXPECT_EQ(marks.advance(start + 15s), 110);
  marks.see(1, 60, start + 16s);  // back, and behind: nothing goes back
  EXPECT_EQ(marks.advance(start + 16s), 110);
}

TEST(Watermarks, WhatIsNotKnownToBeReadToItsEndIsNotIdle) {
  Watermarks marks(10s);
  marks.open(start);
  marks.open(start);
  marks.see(0, 100, start);
  marks.see(1, 40, start);
  EXPECT_EQ(marks.advance(start + 1h), 40);  // nobody has answered
  marks.at_end(1, at_end(0s, 9s));
  EXPECT_EQ(marks.advance(start + 1h), 40);  // not for long enough
  marks.at_end(1, at_end(0s, 20s));
  EXPECT_EQ(marks.advance(start + 1h), 40);  // not recently
  marks.at_end(1, at_end(3590s, 3600s));
  EXPECT_EQ(marks.advance(start + 1h), 100);
}

TEST(Watermarks, PartitionsThatNeverSpokeAreIdleInTheEnd) {
  Watermarks marks(10s);
  marks.open(start);
  marks.open(start);
  marks.see(0, 7, start + 9s);
  marks.at_end(1, at_end(0s, 9s));
  EXPECT_EQ(marks.advance(start + 9s), std::nullopt);
  marks.at_end(1, at_end(0s, 10s));
  EXPECT_EQ(marks.advance(start + 10s), 7);
}

TEST(Watermarks, RecordsWithoutTimesHoldThemUntilTheEndIsReached) {
  Watermarks marks(10s);
  marks.open(start);
  marks.open(start);
  marks.see(0, 7, start);
  marks.see(1, std::nullopt, start);
  EXPECT_EQ(marks.advance(start), std::nullopt);
  marks.at_end(1, at_end(1s, 1s));
  EXPECT_EQ(marks.advance(start + 1s), 7);
  marks.see(1, 3, start + 1s);
  marks.see(0, 9, start + 1s);
  EXPECT_EQ(marks.advance(start + 1s), 7);
}

TEST(Watermarks, PartitionsThatAreGoneHoldNothing) {
  Watermarks marks(10s);
  marks.open(start);
  marks.open(start);
  marks.see(0, 100, start);
  marks.see(1, 40, start);
  marks.leave(1);
  EXPECT_EQ(marks.advance(start), 100);
  marks.resume(1, start);
  marks.see(0, 200, start);
  EXPECT_EQ(marks.advance(start), 100);
}

TEST(Watermarks, WhereAllAreIdleNothingIsWaitedFor) {
  Watermarks marks(10s);
  marks.open(start);
  marks.open(start);
  marks.see(0, 100, start);
  marks.see(1, 40, start);
  EXPECT_EQ(marks.advance(start), 40);
  marks.at_end(0, at_end(0s, 10s));
  marks.at_end(1, at_end(0s, 10s));
  EXPECT_EQ(marks.advance(start + 10s), 100);
}

TEST(Watermarks, GoOnFromWhereTheyWere) {
  Watermarks marks(10s, 50);
  marks.open(start);
  marks.see(0, 20, start);
  EXPECT_EQ(marks.advance(start), 50);
}

TEST(Watermarks, TellWhichRecordBringsThemBeyondABound) {
  Watermarks marks(10s);
  for (int part = 0; part < 3; ++part) marks.open(start);
  marks.see(0, 100, start);
  marks.see(1, 40, start);
  marks.limit(std::nullopt, start);
  EXPECT_FALSE(marks.passes(0, 500));
  EXPECT_FALSE(marks.passes(2, std::nullopt));
  EXPECT_TRUE(marks.passes(2, 30));  // then there is one
  marks.see(2, 30, start);
  marks.limit(50, start);
  EXPECT_FALSE(marks.passes(1, 60));  // the third one holds it back
  marks.see(1, 60, start);
  EXPECT_FALSE(marks.passes(2, 50));
  EXPECT_TRUE(marks.passes(2, 51));
  EXPECT_FALSE(marks.passes(1, 1000));
  marks.see(2, 51, start);
  EXPECT_EQ(marks.advance(start), 51);
  // An idle partition holds nothing back until it has records.
  marks.at_end(2, at_end(0s, 10s));
  marks.limit(70, start + 10s);
  EXPECT_TRUE(marks.passes(1, 71));
  marks.see(2, 70, start + 10s);
  EXPECT_FALSE(marks.passes(1, 71));
}

}  // namespace
}  // namespace deltamatch::ingest
