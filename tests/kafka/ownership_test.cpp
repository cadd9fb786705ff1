// Which instance owns the one partition of the commit topic.
#include "ingest/service/kafka/ownership.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "ingest/service/kafka/topics.hpp"
#include "kafka/support.hpp"

namespace deltamatch::ingest::kafka::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class OwnershipTest : public KafkaTest {
 protected:
  /// Whether it becomes the owner within this time.
  static bool owns_within(Ownership& ownership, std::chrono::milliseconds time) {
    std::stop_source stop;
    std::jthread timer([&](const std::stop_token& over) {
      for (const auto end = Clock::now() + time; Clock::now() < end && !over.stop_requested();)
        std::this_thread::sleep_for(10ms);
      stop.request_stop();
    });
    return ownership.wait_until_owned(stop.get_token());
  }
};

TEST_F(OwnershipTest, AStandbyTakesOverWhenTheOwnerLeavesAndANewcomerTakesNothing) {
  std::atomic<int> losses = 0;
  Ownership first(cluster, in(20), [&] { ++losses; });
  ASSERT_TRUE(owns_within(first, 20s));
  EXPECT_EQ(first.term(), 1U);
  Ownership standby(cluster, in(20));
  EXPECT_FALSE(owns_within(standby, 3s));
  EXPECT_TRUE(first.owned());
  EXPECT_EQ(first.term(), 1U);
  const auto start = Clock::now();
  EXPECT_TRUE(first.release(in(5)));
  EXPECT_FALSE(first.owned());
  EXPECT_TRUE(owns_within(standby, 5s));
  EXPECT_LT(Clock::now() - start, 15s);
  EXPECT_EQ(losses, 0) << "a release is no loss";
  Ownership third(cluster, in(20));
  EXPECT_FALSE(owns_within(third, 2s));
  EXPECT_TRUE(standby.owned());
}

TEST_F(OwnershipTest, AStandbyKnowsSoonThatTheGroupKnowsIt) {
  Ownership owner(cluster, in(20));
  EXPECT_TRUE(owner.wait_until_joined({}, in(20)));
  ASSERT_TRUE(owns_within(owner, 20s));
  Ownership standby(cluster, in(20));
  EXPECT_TRUE(standby.wait_until_joined({}, in(10)));
  EXPECT_FALSE(standby.owned());
}

TEST_F(OwnershipTest, StandingByEndsWhenItIsToldTo) {
  Ownership owner(cluster, in(20));
  ASSERT_TRUE(owns_within(owner, 20s));
  Ownership standby(cluster, in(20));
  EXPECT_FALSE(owns_within(standby, 100ms));
  EXPECT_TRUE(standby.release(in(5)));
  EXPECT_TRUE(standby.release(in(5)));
}

TEST_F(OwnershipTest, TheCommitTopicIsMadeOnceAndKeptForever) {
  const std::string topic = commit_topic(cluster.application);
  EXPECT_EQ(partition_count(topic), 0);
  std::vector<std::jthread> together;
  for (int i = 0; i < 4; ++i) together.emplace_back([&] { ensure_commit_topic(cluster, in(20)); });
  together.clear();
  EXPECT_EQ(partition_count(topic), 1);
  ensure_commit_topic(cluster, in(20));
  EXPECT_FALSE(notes.has("commit_topic_may_be_cleaned")) << notes.all();
}

TEST_F(OwnershipTest, ATopicThatMayBeCleanedIsToldAndOneOfSeveralPartitionsRefused) {
  make_topic(commit_topic(cluster.application), 1, {{"retention.ms", "1000"}});
  ensure_commit_topic(cluster, in(20));
  EXPECT_TRUE(notes.has("commit_topic_may_be_cleaned")) << notes.all();
  EXPECT_TRUE(notes.has("value=1000"));
  cluster.application = unique("other");
  make_topic(commit_topic(cluster.application), 2);
  EXPECT_THAT(thrown([&] { Ownership ownership(cluster, in(20)); }),
              AllOf(HasSubstr(commit_topic(cluster.application)), HasSubstr("2 partitions")));
}

TEST_F(OwnershipTest, LossIsToldOnceAndWhatIsOwnedAgainHasAnotherTerm) {
  cluster.properties["topic.metadata.refresh.interval.ms"] = "200";
  std::atomic<int> losses = 0;
  Ownership owner(cluster, in(20), [&] { ++losses; });
  ASSERT_TRUE(owns_within(owner, 20s));
  delete_topic(commit_topic(cluster.application));
  EXPECT_TRUE(eventually([&] { return losses == 1; }));
  EXPECT_FALSE(owner.owned());
  EXPECT_TRUE(eventually([&] { return partition_count(commit_topic(cluster.application)) == 0; }));
  ensure_commit_topic(cluster, in(20));
  EXPECT_TRUE(owns_within(owner, 20s));
  EXPECT_EQ(owner.term(), 2U);
  EXPECT_EQ(losses, 1);
}

}  // namespace
}  // namespace deltamatch::ingest::kafka::testing
