#include "ingest/service/loop/repeat_filter.hpp"

#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr RepeatFilter::Time begin{};

TEST(RepeatFilterTest, TheWaitDoublesUpToTenMinutes) {
  RepeatFilter filter;
  std::vector<long> told_at;
  std::size_t left_out = 0;
  for (auto at = 0ms; at < 2h; at += 500ms) {
    if (const auto count = filter.told(Level::warn, "failed", {{"why", "no answer"}}, begin + at)) {
      told_at.push_back(std::chrono::duration_cast<std::chrono::seconds>(at).count());
      EXPECT_EQ(*count, left_out) << told_at.back();
      left_out = 0;
    } else {
      ++left_out;
    }
  }
  EXPECT_THAT(told_at, ElementsAre(0, 10, 30, 70, 150, 310, 630, 1230, 1830, 2430, 3030, 3630, 4230, 4830, 5430, 6030, 6630));
}

TEST(RepeatFilterTest, WhatDiffersIsTold) {
  RepeatFilter filter;
  const auto told = [&](Level level, std::string_view event, std::initializer_list<Field> fields) {
    return filter.told(level, event, fields, begin) == std::optional<std::size_t>(0);
  };
  EXPECT_TRUE(told(Level::warn, "a", {{"k", "v"}}));
  EXPECT_FALSE(told(Level::warn, "a", {{"k", "v"}}));
  EXPECT_FALSE(told(Level::warn, "a", {{"k", "v"}, {"example", "x"}})) << "an example is not compared";
  EXPECT_TRUE(told(Level::error, "a", {{"k", "v"}})) << "it got worse";
  EXPECT_TRUE(told(Level::warn, "b", {{"k", "v"}}));
  EXPECT_TRUE(told(Level::warn, "a", {{"k", "w"}}));
  EXPECT_TRUE(told(Level::warn, "a", {{"l", "v"}}));
  EXPECT_TRUE(told(Level::warn, "a", {{"k", "v"}, {"l", ""}}));
  EXPECT_TRUE(told(Level::warn, "a", {})) << "fewer fields";
  EXPECT_TRUE(told(Level::warn, "", {{"a", "k"}, {"v", ""}})) << "the same letters, cut otherwise";
  EXPECT_TRUE(told(Level::warn, "", {{"ak", "v"}, {"", ""}}));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(told(Level::info, "news", {})) << "information is not left out";
}

TEST(RepeatFilterTest, NumbersOfTriesAndDurationsDoNotCount) {
  RepeatFilter filter;
  EXPECT_EQ(filter.told(Level::warn, "failed", {{"try", "1"}, {"next_try_ms", "100"}, {"why", "after 3ms"}}, begin), 0u);
  EXPECT_EQ(filter.told(Level::warn, "failed", {{"try", "2"}, {"next_try_ms", "200"}, {"why", "after 5ms"}}, begin),
            std::nullopt);
  EXPECT_EQ(filter.told(Level::warn, "failed", {{"tries", "2"}, {"why", "after 5ms"}}, begin), 0u);
  EXPECT_EQ(filter.told(Level::warn, "failed", {{"try", "2"}, {"why", "status 503"}}, begin), 0u);
  EXPECT_EQ(filter.told(Level::warn, "failed", {{"try", "2"}, {"why", "status 500"}}, begin), 0u);
}

TEST(RepeatFilterTest, WhatHasNotComeForAMinuteIsNewsAgain) {
  RepeatFilter filter;
  const std::initializer_list<Field> fields = {{"sink", "pager"}, {"try", "1"}};
  EXPECT_EQ(filter.told(Level::warn, "failed", fields, begin), 0u);
  EXPECT_EQ(filter.told(Level::warn, "failed", {{"sink", "pager"}, {"try", "2"}}, begin + 1s), std::nullopt);
  EXPECT_EQ(filter.told(Level::warn, "once", {}, begin + 1s), 0u);
  EXPECT_TRUE(filter.forget(begin + 60s).empty()) << "it may still come again";
  const auto rests = filter.forget(begin + 61s);
  ASSERT_EQ(rests.size(), 1u) << "nothing was left out of the other one";
  EXPECT_EQ(rests[0].event, "failed");
  EXPECT_EQ(rests[0].left_out, 1u);
  EXPECT_THAT(rests[0].fields, ElementsAre(Pair("sink", "pager"), Pair("try", "1")));
  EXPECT_EQ(filter.told(Level::warn, "failed", fields, begin + 62s), 0u);
  EXPECT_EQ(filter.told(Level::warn, "failed", fields, begin + 63s), std::nullopt);
  EXPECT_EQ(filter.forget_all().size(), 1u);
  EXPECT_EQ(filter.told(Level::warn, "failed", fields, begin + 64s), 0u);
}

TEST(RepeatFilterTest, MemoryIsBounded) {
  RepeatFilter filter;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(filter.told(Level::warn, "bad", {{"offset", std::to_string(i)}}, begin), 0u);
  EXPECT_EQ(filter.told(Level::warn, "bad", {{"offset", "255"}}, begin), std::nullopt);
  EXPECT_EQ(filter.told(Level::warn, "bad", {{"offset", "256"}}, begin), 0u) << "it is not remembered";
}

TEST(RepeatFilterTest, WhatLastsInMessagesOfTheKafkaClient) {
  EXPECT_EQ(compared("[thrd:127.0.0.1:9092/bootstrap]: 127.0.0.1:9092/1: Connect to ipv4#127.0.0.1:9092 failed: "
                     "Connection refused (after 12ms in state CONNECT, 93 identical error(s) suppressed)"),
            "127.0.0.1:9092/1: Connect to ipv4#127.0.0.1:9092 failed: Connection refused (after ms in state CONNECT)");
  EXPECT_EQ(compared("[thrd:[::1]:9092/bootstrap]: [::1]:9092/1: Disconnected (after 129ms in state UP)"),
            "[::1]:9092/1: Disconnected (after ms in state UP)");
  EXPECT_EQ(compared("session timed out after 10348 ms without an answer"), "session timed out after ms without an answer");
  EXPECT_EQ(compared("broker 3 has 12 topics"), "broker 3 has 12 topics");
}

}  // namespace
}  // namespace deltamatch::ingest
