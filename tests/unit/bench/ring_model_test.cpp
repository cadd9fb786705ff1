// The order of a device's look-ups, and what a ring serves of them.
#include "bench/harness/ring_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace deltamatch::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(OrderOf, WarpsTakeTurnsAndThenTheNextPiece) {
  const estimate::Trace trace{{{1, 1}, {2, 1}, {3, 1}}, {}, {{11, 1}}, {{21, 1}, {22, 1}}};
  EXPECT_THAT(order_of(trace, 1), ElementsAre(1, 2, 3, 11, 21, 22));
  EXPECT_THAT(order_of(trace, 2), ElementsAre(1, 11, 2, 21, 3, 22));
  EXPECT_THAT(order_of(trace, 100), ElementsAre(1, 11, 21, 2, 22, 3));
  EXPECT_THAT(order_of({}, 3), IsEmpty());
}

// The first partial match makes a look-up for those that share it. Their parts add up to one.
TEST(OrderOf, SharedLookUpsAreMadeOnce) {
  std::vector<estimate::LookUp> piece(3, {1, 1.0 / 3});
  piece.push_back({2, 1});
  EXPECT_THAT(order_of({piece}, 1), ElementsAre(1, 2));
  EXPECT_THAT(order_of({std::vector<estimate::LookUp>(64, {1, 1.0 / 32})}, 1), ElementsAre(1, 1));
  EXPECT_THAT(order_of({std::vector<estimate::LookUp>(65, {1, 1.0 / 32})}, 1), ElementsAre(1, 1, 1));
  EXPECT_THAT(order_of({{{1, 0.5}}, {{1, 0.5}}}, 1), ElementsAre(1, 1)) << "other pieces share nothing";
  EXPECT_THAT(order_of({{{1, 3}, {2, 1}}}, 1), ElementsAre(1, 1, 1, 2)) << "several at a time";
}

constexpr std::size_t ring_bytes = std::size_t{1} << 20;
constexpr std::size_t list_bytes = 1024;

TEST(RingModel, KeepsWhatWasMissedFirstInFirstOut) {
  RingModel ring(ring_bytes);
  const std::uint64_t lists = ring_bytes / list_bytes;
  const std::uint64_t kept = lists / 4 * 3;  // the rest is emptied ahead
  const std::uint64_t segment = lists / gpu::RingShape(ring_bytes).segments;
  for (std::uint64_t key = 0; key < lists; ++key) EXPECT_FALSE(ring.look_up(key, list_bytes));
  EXPECT_EQ(ring.filled_lists(), lists);
  EXPECT_EQ(ring.filled_bytes(), ring_bytes);
  std::uint64_t there = 0;
  for (std::uint64_t key = lists - kept + segment; key < lists; ++key) there += ring.look_up(key, list_bytes) ? 1 : 0;
  EXPECT_EQ(there, kept - segment);
  EXPECT_EQ(ring.filled_lists(), lists) << "hits do not move anything";
  EXPECT_FALSE(ring.look_up(lists - kept - segment, list_bytes));
}

TEST(RingModel, ForgetsWhatHasChanged) {
  RingModel ring(ring_bytes);
  ring.drop(7);
  EXPECT_FALSE(ring.look_up(7, list_bytes));
  EXPECT_TRUE(ring.look_up(7, list_bytes));
  ring.drop(7);
  EXPECT_FALSE(ring.look_up(7, list_bytes));
  EXPECT_TRUE(ring.look_up(7, list_bytes));
}

// A list of 32 KiB is copied by about every fourth look-up that misses it. Longer ones than half a segment are never copied.
TEST(RingModel, PutsLongListsOff) {
  RingModel ring(std::size_t{64} << 20);
  std::uint64_t hits = 0;
  for (std::uint64_t key = 0; key < 1000; ++key) hits += (ring.look_up(key, 1U << 15), ring.look_up(key, 1U << 15)) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(hits), 250, 60);
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(ring.look_up(5000, (std::size_t{1} << 19) + 16));
  EXPECT_FALSE(ring.look_up(5001, 0)) << "an empty list takes no room";
  EXPECT_FALSE(ring.look_up(5001, 0));
}

}  // namespace
}  // namespace deltamatch::bench
