#include "ingest/service/loop/standing_queries.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

ServiceQuery query(const char* name, const char* pattern, std::vector<std::string> sinks) {
  ServiceQuery wanted;
  wanted.query = parse_pattern(pattern, name);
  wanted.where = "service.yaml:7";
  wanted.sinks = std::move(sinks);
  return wanted;
}

/// Edges from `source` to `count` new vertices.
UpdateBatch edges(std::int64_t source, int count) {
  UpdateBatch batch;
  for (int i = 1; i <= count; ++i) batch.add({.source = source, .target = source + i});
  return batch;
}

/// A sink that takes one alert of a query in a second.
SinkOptions limited_sink() {
  SinkOptions sink;
  sink.name = "file";
  sink.rate_limit = 1;
  sink.rate_interval = std::chrono::milliseconds(1000);
  return sink;
}

class StandingQueriesTest : public ::testing::Test {
 protected:
  /// The alerts of a batch.
  std::vector<std::string> process(const UpdateBatch& batch) {
    EXPECT_TRUE(standing_.process(batch, {}).has_value());
    std::vector<std::string> alerts;
    router_.take()[0].for_each([&](std::string_view alert) { alerts.emplace_back(alert); });
    return alerts;
  }

  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
  SinkOptions sink_ = limited_sink();
  Engine engine_{EngineOptions{.threads = 1}};
  AlertRouter router_{{&sink_, 1}, [this] { return now_; }};
  StandingQueries standing_{engine_, router_};
};

TEST_F(StandingQueriesTest, AQueryIsReplacedByAnotherOfItsName) {
  standing_.replace({query("pay", "(a)-->(b)", {"file"}), query("stays", "(a)-->(b)", {})}, {});
  const std::vector<ActiveQuery> before = standing_.active();
  const QueryChange change =
      standing_.replace({query("pay", "(a)-->(b)-->(c)", {"file"}), query("stays", "(a)-->(b)", {})}, before);
  ASSERT_EQ(change.added.size(), 1U);
  EXPECT_EQ(change.added[0].query.name, "pay");
  EXPECT_THAT(change.removed, ::testing::ElementsAre("pay"));
  EXPECT_THAT(*standing_.names(), ::testing::ElementsAre("stays", "pay"));
  EXPECT_TRUE(process(edges(0, 3)).empty()) << "the old query is gone";
}

TEST_F(StandingQueriesTest, AQueryWithPathsIsOneQueryThatStaysOrIsReplaced) {
  sink_.rate_limit = 0;
  const char* pattern = "(a)-[t]->{1,2}(b)";
  standing_.replace({query("pay", pattern, {"file"})}, {});
  const std::vector<ActiveQuery> before = standing_.active();
  ASSERT_EQ(before.size(), 1U);
  EXPECT_TRUE(standing_.replace({query("pay", "(a)-[t*1..2]->(b)", {"file"})}, before).added.empty()) << "it is the same";
  EXPECT_EQ(standing_.replace({query("pay", "(a)-[t]->{1,3}(b)", {"file"})}, before).added.size(), 1U);
}

TEST_F(StandingQueriesTest, AReplacementThatFailsChangesNothing) {
  standing_.replace({query("pay", "(a)-->(b)", {"file"})}, {});
  const std::vector<ActiveQuery> before = standing_.active();
  EXPECT_THROW(standing_.replace({query("pay", "(a)-->(b)-->(c)", {"file"}), query("new", "(a)-->(b)", {"none"})}, before),
               Error);
  EXPECT_EQ(standing_.active(), before);
  EXPECT_EQ(process(edges(0, 1)).size(), 1U);
}

TEST_F(StandingQueriesTest, SuppressedAlertsAreReportedIfNoQueryListsAnyMore) {
  standing_.replace({query("pay", "(a)-->(b)", {"file"}), query("counted", "(a)-->(b)", {})}, {});
  EXPECT_EQ(process(edges(0, 3)).size(), 1U);
  standing_.suspend(std::vector{standing_.standing()[0].id});
  now_ += std::chrono::seconds(2);
  const std::vector<std::string> alerts = process(edges(10, 1));
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_THAT(alerts[0], ::testing::HasSubstr("\"suppressed\":2"));
  EXPECT_FALSE(router_.due());
}

}  // namespace
}  // namespace deltamatch::ingest
