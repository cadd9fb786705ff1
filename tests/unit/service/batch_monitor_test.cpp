#include "ingest/service/loop/batch_monitor.hpp"

#include "ingest/service/loop/pipeline.hpp"
#include "unit/alert/support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class BatchMonitorTest : public ::testing::Test {
 protected:
  static deltamatch::BatchProgress at(double seconds, std::optional<QueryId> query = {}, std::uint64_t matches = 0) {
    return {seconds, query, matches};
  }

  Metrics metrics_{"1"};
  testing::Notes notes_;
  BatchMonitor monitor_{2s, metrics_, notes_};
};

TEST_F(BatchMonitorTest, ABatchThatTakesTooLongIsOverdueUntilItEnds) {
  monitor_.begin(7, {{QueryId{3}, "ring"}, {QueryId{4}, "hub"}});
  EXPECT_FALSE(monitor_.now());
  monitor_.progress(at(1.9, QueryId{4}, 10));
  EXPECT_EQ(monitor_.now()->batch, 7U);
  EXPECT_EQ(monitor_.overdue(), "");
  EXPECT_THAT(notes_.lines(), IsEmpty());
  monitor_.progress(at(2.1, QueryId{4}, 12));
  EXPECT_EQ(monitor_.overdue(), "batch 7 has been matching for 2 s, mostly query 'hub'");
  EXPECT_THAT(metrics_.text(), HasSubstr("deltamatch_batch_under_way_seconds 2.1"));
  monitor_.end();
  EXPECT_EQ(monitor_.overdue(), "");
  EXPECT_FALSE(monitor_.now());
  EXPECT_THAT(metrics_.text(), HasSubstr("deltamatch_batch_under_way_seconds 0\n"));
  EXPECT_THAT(notes_.lines(),
              ElementsAre("warn a batch takes long to match batch=7 seconds=2.1 query=hub matches_so_far=12 remedy=give the "
                          "query a budget, or remove it from the configuration, then reload (SIGHUP)",
                          "info the batch that took long is matched batch=7 seconds=2.1"));
}

TEST_F(BatchMonitorTest, AListingOfExistingMatchesIsShownAtOnceAndOverdueAfterAWhile) {
  BatchMonitor monitor(60s, metrics_, notes_);
  monitor.begin(8, {{QueryId{}, "hub"}}, BatchMonitor::Work::existing);
  monitor.progress(at(1, QueryId{}, 12));
  EXPECT_EQ(monitor.now()->work, BatchMonitor::Work::existing);
  EXPECT_THAT(monitor.listing(), HasSubstr("the existing matches of query 'hub' have been listed for 1 s, 12 so far"));
  EXPECT_EQ(monitor.overdue(), "");
  monitor.progress(at(11, QueryId{}, 500));
  EXPECT_EQ(monitor.overdue(), monitor.listing());
  monitor.end();
  EXPECT_EQ(monitor.listing(), "");
  monitor.begin(8, {});
  monitor.progress(at(11));
  EXPECT_EQ(monitor.listing(), "");
  EXPECT_EQ(monitor.overdue(), "") << "a batch has its own limit";
}

TEST_F(BatchMonitorTest, IsToldAgainTwiceAsLateEachTime) {
  monitor_.begin(1, {});
  for (int tenth = 1; tenth <= 170; ++tenth) monitor_.progress(at(tenth / 10.0));
  EXPECT_EQ(notes_.lines().size(), 4U);  // at 2, 4, 8 and 16 seconds
  monitor_.end();
  monitor_.begin(2, {});
  monitor_.progress(at(1));
  monitor_.end();
  EXPECT_EQ(notes_.lines().size(), 5U);
}

TEST_F(BatchMonitorTest, WithoutALimitNoBatchIsOverdue) {
  BatchMonitor monitor(0ms, metrics_, notes_);
  monitor.begin(1, {});
  monitor.progress(at(1e6));
  EXPECT_EQ(monitor.overdue(), "");
  EXPECT_EQ(monitor.now()->seconds, 1e6);
  monitor.end();
  EXPECT_THAT(notes_.lines(), IsEmpty());
}

TEST_F(BatchMonitorTest, GivesUpOnceTheTimeHasCome) {
  EXPECT_FALSE(monitor_.gives_up());
  monitor_.give_up_at(BatchMonitor::Clock::now() + 1h);
  EXPECT_FALSE(monitor_.gives_up());
  monitor_.give_up_at(BatchMonitor::Clock::now());
  EXPECT_TRUE(monitor_.gives_up());
}

TEST(LagTest, CountsWhatIsInNoCommittedBatch) {
  const Offsets committed{{{"t", 0}, 40}};
  kafka::Progress progress{{"t", 0}, 90, 90, 100};
  EXPECT_EQ(lag_of(progress, committed), 60);  // read or not
  progress.taken = 40;                         // the offsets read since are no records
  EXPECT_EQ(lag_of(progress, committed), 10);
  progress.seen = 30;
  EXPECT_EQ(lag_of(progress, committed), 60);
  progress.end = 40;
  EXPECT_EQ(lag_of(progress, committed), 0);
  progress.end = 30;  // the brokers' answer is older than the commit
  EXPECT_EQ(lag_of(progress, committed), 0);
  progress.end = -1;
  EXPECT_EQ(lag_of(progress, committed), std::nullopt);
  progress = {{"t", 1}, 0, 0, 10};
  EXPECT_EQ(lag_of(progress, committed), std::nullopt);
}

}  // namespace
}  // namespace deltamatch::ingest
