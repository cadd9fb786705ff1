#include "ingest/service/loop/hang_watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

TEST(HangJudge, CountsTheTimeOfOneTurn) {
  HangJudge judge(10s);
  auto now = HangJudge::Clock::now();
  const auto look = [&](std::uint64_t turns, std::chrono::milliseconds later) { return judge.look(turns, now += later); };
  EXPECT_FALSE(look(0, 0ms));
  for (int i = 0; i < 19; ++i) EXPECT_FALSE(look(0, 500ms));
  EXPECT_TRUE(look(0, 500ms)) << "10 s in the first turn";
  EXPECT_FALSE(look(1, 500ms)) << "it goes on";
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(look(2 + i, 500ms)) << "it goes on and on";
  for (int i = 0; i < 19; ++i) EXPECT_FALSE(look(101, 500ms));
  EXPECT_TRUE(look(101, 500ms));
}

TEST(HangJudge, DoesNotCountThePauseOfTheWholeProcess) {
  HangJudge judge(10s);
  auto now = HangJudge::Clock::now();
  EXPECT_FALSE(judge.look(0, now));
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(judge.look(0, now += 1h));
  EXPECT_TRUE(judge.look(0, now += 1h)) << "each look counts for a second at most";
}

TEST(HangJudge, WithoutATimeNothingHangs) {
  HangJudge judge(0s);
  auto now = HangJudge::Clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(judge.look(0, now += 1s));
}

TEST(HangWatch, TellsOnceWhatTheLoopWasDoing) {
  std::atomic<int> told = 0;
  std::string doing;
  std::uint64_t batch = 0;
  {
    HangWatch watch(300ms, [&](const HangWatch::Turn& turn) {
      doing = turn.doing;
      batch = turn.batch;
      ++told;
    });
    for (int i = 0; i < 50; ++i) {
      watch.turn({"matching", 5});
      std::this_thread::sleep_for(20ms);
    }
    EXPECT_EQ(told, 0);
    watch.turn({"saving a snapshot", 7});
    for (int i = 0; i < 500 && told == 0; ++i) std::this_thread::sleep_for(20ms);
    std::this_thread::sleep_for(500ms);
  }
  EXPECT_EQ(told, 1);
  EXPECT_EQ(doing, "saving a snapshot");
  EXPECT_EQ(batch, 7U);
}

TEST(HangWatch, NeverTellsIfItIsOff) {
  std::atomic<int> told = 0;
  {
    const HangWatch watch(0ms, [&](const HangWatch::Turn&) { ++told; });
    std::this_thread::sleep_for(300ms);
  }
  EXPECT_EQ(told, 0);
}

TEST(HangWatch, DoesNotJudgeATurnThatMayTakeLong) {
  std::atomic<int> told = 0;
  HangWatch watch(50ms, [&](HangWatch::Turn) { ++told; });
  watch.turn({.doing = "beginning", .batch = 0, .may_take_long = true});
  std::this_thread::sleep_for(600ms);  // several looks
  EXPECT_EQ(told, 0);
  watch.turn({.doing = "matching", .batch = 1});
  for (int look = 0; look < 200 && told == 0; ++look) std::this_thread::sleep_for(50ms);
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace deltamatch::ingest
