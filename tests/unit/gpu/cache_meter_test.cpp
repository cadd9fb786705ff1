// Tests what is reported about the cache over several batches and devices.
#include "gpu/mirror/cache_meter.hpp"

#include <gtest/gtest.h>

namespace deltamatch::gpu {
namespace {

TEST(CacheMeter, AveragesOverBatches) {
  CacheMeter meter;
  CacheStatistics figures;
  meter.write(figures);
  EXPECT_TRUE(figures.top.empty());
  EXPECT_EQ(figures.coverage, 0);
  meter.add({});  // a device without anchors
  // 100 lists: the first is looked up 10 times and cached, the others once.
  std::vector<estimate::Accessed> truth(100, {1, false, 12});
  truth[0] = {10, true, 1000};
  meter.add(truth);
  truth[0].cached = false;
  meter.add(truth);
  meter.write(figures);
  ASSERT_EQ(figures.top.size(), 7U);
  EXPECT_EQ(figures.top[0].share, 0.01);
  EXPECT_EQ(figures.top[0].accesses, 10.0 / 109);
  EXPECT_EQ(figures.top[0].coverage, 0.5);
  EXPECT_EQ(figures.top[4].share, 0.05);
  EXPECT_EQ(figures.top[4].accesses, 14.0 / 109);
  EXPECT_EQ(figures.top[4].coverage, 0.1);
  EXPECT_EQ(figures.top[4].bytes, 1000 + 4 * 12);
  EXPECT_EQ(figures.coverage, 0.1);
  EXPECT_EQ(figures.top[6].share, 0.2);
  meter.write(figures);
  EXPECT_EQ(figures.top.size(), 7U) << "not added to what stands there";
}

}  // namespace
}  // namespace deltamatch::gpu
