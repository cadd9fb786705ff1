#include "ingest/service/loop/recent_times.hpp"

#include <gtest/gtest.h>

namespace deltamatch::ingest {
namespace {

TEST(RecentTimes, SumsUpTheLatestBatches) {
  RecentTimes times;
  EXPECT_FALSE(times.summary());
  times.add(2);
  EXPECT_EQ(times.summary()->of, 1u);
  EXPECT_EQ(times.summary()->median, 2);
  EXPECT_EQ(times.summary()->p99, 2);
  for (int i = 1; i <= 1000; ++i) times.add(i);
  const RecentTimes::Summary summary = *times.summary();
  EXPECT_EQ(summary.of, 256u);
  EXPECT_EQ(summary.last, 1000);
  EXPECT_EQ(summary.longest, 1000);
  EXPECT_EQ(summary.median, 872) << "of 745 to 1000";
  EXPECT_EQ(summary.p99, 998) << "254 of 256 took at most this long";
}

}  // namespace
}  // namespace deltamatch::ingest
