#include "gpu/mirror/device_arena.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <vector>

namespace deltamatch::gpu {
namespace {

TEST(DeviceArena, AnEmptyPoolHasNoPlace) {
  DeviceArena none;
  EXPECT_EQ(none.allocate(1), DeviceArena::none);
  DeviceArena small(3);
  EXPECT_EQ(small.words(), 0U);
  EXPECT_EQ(small.allocate(1), DeviceArena::none);
}

TEST(DeviceArena, HandsOutTheWholePoolAndTakesItBack) {
  for (const std::uint64_t words : {4U, 60U, 64U, 68U, 1000U, 123456U}) {
    DeviceArena arena(words);
    const DeviceArena::Id all = arena.allocate(words);
    ASSERT_NE(all, DeviceArena::none) << words;
    EXPECT_EQ(arena.used(), words);
    EXPECT_EQ(arena.allocate(1), DeviceArena::none);
    arena.free(all);
    EXPECT_EQ(arena.used(), 0U);
  }
}

TEST(DeviceArena, NeighbouringGapsMerge) {
  DeviceArena arena(64);
  std::vector<DeviceArena::Id> blocks;
  for (int i = 0; i < 16; ++i) blocks.push_back(arena.allocate(4));
  EXPECT_EQ(arena.allocate(4), DeviceArena::none);
  for (const std::size_t i : {3U, 5U, 4U, 6U}) arena.free(blocks[i]);
  const DeviceArena::Id joined = arena.allocate(16);
  ASSERT_NE(joined, DeviceArena::none);
  EXPECT_EQ(arena.offset(joined), 12U);
}

TEST(DeviceArena, ServesPoolsBeyondFourGiB) {
  const std::uint64_t words = std::uint64_t{1} << 36;
  DeviceArena arena(words);
  const DeviceArena::Id large = arena.allocate(words - 1024);
  ASSERT_NE(large, DeviceArena::none);
  const DeviceArena::Id rest = arena.allocate(512);
  ASSERT_NE(rest, DeviceArena::none);
  EXPECT_GE(arena.offset(rest), words - 1024);
}

TEST(DeviceArena, BlocksNeverOverlapAndNothingIsLost) {
  std::mt19937_64 random(1);
  constexpr std::uint64_t words = 1U << 16;
  DeviceArena arena(words);
  std::map<std::uint64_t, std::pair<std::uint64_t, DeviceArena::Id>> live;  // by offset: words, id
  std::uint64_t held = 0;
  std::size_t refused = 0;
  for (int step = 0; step < 60000; ++step) {
    if (live.empty() || random() % 100 < 52) {
      const std::uint64_t wanted = 1 + random() % (random() % 20 == 0 ? 4000 : 60);
      const DeviceArena::Id block = arena.allocate(wanted);
      if (block == DeviceArena::none) {
        ++refused;
        continue;
      }
      const std::uint64_t offset = arena.offset(block);
      ASSERT_EQ(offset % DeviceArena::granule, 0U);
      const std::uint64_t size = (wanted + 3) / 4 * 4;
      ASSERT_LE(offset + size, words);
      const auto after = live.lower_bound(offset);
      ASSERT_TRUE(after == live.end() || offset + size <= after->first);
      if (after != live.begin()) {
        const auto before = std::prev(after);
        ASSERT_LE(before->first + before->second.first, offset);
      }
      live[offset] = {size, block};
      held += size;
    } else {
      auto at = live.lower_bound(random() % words);
      if (at == live.end()) at = live.begin();
      held -= at->second.first;
      arena.free(at->second.second);
      live.erase(at);
    }
    ASSERT_EQ(arena.used(), held);
  }
  EXPECT_GT(refused, 0U);
  for (const auto& [offset, block] : live) arena.free(block.second);
  EXPECT_NE(arena.allocate(words), DeviceArena::none);
}

}  // namespace
}  // namespace deltamatch::gpu
