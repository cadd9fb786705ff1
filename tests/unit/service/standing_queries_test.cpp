#include "ingest/service/loop/standing_queries.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/service/loop/existing_matches.hpp"
#include "ingest/service/loop/pipeline.hpp"
#include "unit/alert/support.hpp"

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

class ExistingMatchesTest : public StandingQueriesTest {
 protected:
  ExistingMatchesTest() {
    sink_.rate_limit = 0;
    router_ = AlertRouter({&sink_, 1}, [this] { return now_; });
    standing_.replace({query("old", "(a)-->(b)-->(c)", {"file"})}, {});
    EXPECT_TRUE(process(edges(0, 100)).empty());
  }

  static ServiceQuery reporting(const char* name, const char* pattern) {
    ServiceQuery wanted = query(name, pattern, {"file"});
    wanted.report_existing = true;
    return wanted;
  }
  /// Makes these queries stand beside the old one. Returns what refused them, or nothing.
  std::string add(std::vector<ServiceQuery> queries) {
    queries.push_back(query("old", "(a)-->(b)-->(c)", {"file"}));
    try {
      const auto list = [&](std::span<const ServiceQuery> added) {
        if (!list_existing(engine_, router_, added, watch_)) throw PipelineEnds();
      };
      standing_.replace(std::move(queries), standing_.active(), list);
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }
  void expect_only_the_old_one() {
    EXPECT_THAT(*standing_.names(), ::testing::ElementsAre("old"));
    UpdateBatch behind_a_leaf;
    behind_a_leaf.add({.source = 1, .target = ++last_});
    EXPECT_EQ(process(behind_a_leaf).size(), 1U) << "of the old query alone, and of this batch";
    EXPECT_FALSE(monitor_.now());
  }

  int last_ = 1000;
  Metrics metrics_{"1"};
  testing::Notes notes_;
  BatchMonitor monitor_{std::chrono::seconds(60), metrics_, notes_};
  std::optional<ExistingWatch> watch_{ExistingWatch{{}, &monitor_}};
};

TEST_F(ExistingMatchesTest, AreAlertsOfTheNextBatchWithoutCauses) {
  EXPECT_EQ(add({reporting("new", "(a)-->(b)")}), "");
  const std::vector<std::string> alerts = process(edges(500, 1));
  ASSERT_EQ(alerts.size(), 101U);
  for (const std::string& alert : alerts) EXPECT_THAT(alert, ::testing::HasSubstr(R"("batch":2)"));
  EXPECT_THAT(alerts[0], ::testing::HasSubstr(R"("cause":[])"));
}

TEST_F(ExistingMatchesTest, BeyondTheBudgetTheyRefuseTheChange) {
  ServiceQuery wanted = reporting("new", "(a)-->(b)");
  wanted.budget.limits.matches = 99;
  EXPECT_EQ(
      add({wanted}),
      "service.yaml:7: the existing matches of 'new' are more than 99 (budget.matches); leave report_existing out, narrow "
      "the pattern, or raise budget.matches");
  expect_only_the_old_one();
  wanted.budget.limits.matches = 101;  // with the edge that has come since
  EXPECT_EQ(add({wanted}), "") << "as many as the limit";
}

TEST_F(ExistingMatchesTest, AllOfAChangeShareTheLimits) {
  watch_->limits.max_matches = 150;
  EXPECT_EQ(add({reporting("one", "(a)-->(b)")}), "");
  EXPECT_EQ(process({}).size(), 100U);
  standing_.replace({query("old", "(a)-->(b)-->(c)", {"file"})}, standing_.active());
  EXPECT_THAT(add({reporting("one", "(a)-->(b)"), reporting("two", "(a)<--(b)")}),
              ::testing::HasSubstr("'two' are more than 50 (existing.max_matches)"));
  expect_only_the_old_one();
}

TEST_F(ExistingMatchesTest, TheirSizeAndTheirTimeAreBounded) {
  watch_->limits.max_bytes = 1000;
  EXPECT_THAT(add({reporting("new", "(a)-->(b)")}), ::testing::HasSubstr("more than 1000 bytes (existing.max_size)"));
  expect_only_the_old_one();
  watch_->limits = {.max_time = std::chrono::milliseconds(100)};
  const auto begin = std::chrono::steady_clock::now();
  // 100 leaves are in 1,192,052,400 stars with six arms.
  ServiceQuery star = reporting("star", "(a)-->(b), (a)-->(c), (a)-->(d), (a)-->(e), (a)-->(f), (a)-->(g)");
  EXPECT_THAT(add({star}), ::testing::HasSubstr("take longer than 0.1 s to list (existing.max_time)"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  expect_only_the_old_one();
}

TEST_F(ExistingMatchesTest, AStopEndsThemAtOnce) {
  monitor_.give_up_at(std::chrono::steady_clock::now() + std::chrono::hours(1));
  ServiceQuery star = reporting("star", "(a)-->(b), (a)-->(c), (a)-->(d), (a)-->(e), (a)-->(f), (a)-->(g)");
  EXPECT_THAT(add({star}), ::testing::HasSubstr("the service is stopping"));
  expect_only_the_old_one();
}

TEST_F(ExistingMatchesTest, AQueryThatTheEngineRefusesLeavesNoAlerts) {
  ServiceQuery wrong = query("wrong", "(a)-[e]->(b) WHERE e.amount > 3", {"file"});
  EXPECT_NE(add({reporting("new", "(a)-->(b)"), wrong}), "");
  expect_only_the_old_one();
}

}  // namespace
}  // namespace deltamatch::ingest
