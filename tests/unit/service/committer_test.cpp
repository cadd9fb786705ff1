// The limits of batches that wait for their commit, and the transactions that they share. Brokers of librdkafka's own take the
// transactions. The log's sync, before which no transaction ends, waits until the test lets it end.
#include "ingest/service/loop/committer.hpp"

#include <gmock/gmock.h>

#include <future>

#include "unit/state/support.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

/// Holds syncs.
class Gate {
 public:
  int sync() {
    std::unique_lock lock(mutex_);
    const std::uint64_t number = ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return number <= open_; });
    return 0;
  }
  /// Whether so many syncs begin within that time.
  bool begins(std::uint64_t syncs, std::chrono::milliseconds within = 20s) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, within, [&] { return begun_ >= syncs; });
  }
  /// Lets the first `syncs` end.
  void open(std::uint64_t syncs = UINT64_MAX) {
    const std::scoped_lock lock(mutex_);
    open_ = syncs;
    changed_.notify_all();
  }
  [[nodiscard]] std::uint64_t begun() {
    const std::scoped_lock lock(mutex_);
    return begun_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t begun_ = 0;
  std::uint64_t open_ = 0;
};

Gate* gate = nullptr;  // null: syncs do not wait
int sync_through_gate(int) { return gate == nullptr ? 0 : gate->sync(); }

class CommitterTest : public ::testing::Test {
 protected:
  void start(const Committer::Limits& limits) {
    gate = &gate_;
    committer_.emplace(
        options_, log_, transactions_, metrics_, journal_, Offsets{},
        [this](Commit&& commit) { committed_.push_back(commit.mark.batch); }, limits);
  }
  void TearDown() override {
    gate_.open();
    committer_.reset();
    gate = nullptr;
  }

  /// Submits the next batch, with a dead letter of so many bytes. Without one, it has nothing visible.
  void submit(std::size_t bytes) {
    Commit commit;
    commit.mark.batch = ++batches_;
    if (bytes > 0) commit.letters.emplace_back().value.assign(bytes, 'x');
    committer_->submit(std::move(commit));
  }
  bool drain() { return committer_->drain(std::chrono::steady_clock::now() + 20s); }
  [[nodiscard]] bool committed(std::uint64_t transactions) const {
    for (const auto end = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < end;) {
      const Committer::Statistics now = committer_->statistics();
      if (now.transactions == transactions && now.waiting == 0) return true;
      std::this_thread::sleep_for(2ms);
    }
    return false;
  }

  /// Three batches may wait.
  void expect_that_a_fourth_waits(const Committer::Limits& limits, std::size_t bytes) {
    start(limits);
    submit(bytes);
    ASSERT_TRUE(gate_.begins(1));  // a transaction has the first
    for (int i = 0; i < 3; ++i) submit(bytes);
    auto fourth = std::async(std::launch::async, [&] { submit(bytes); });
    EXPECT_EQ(fourth.wait_for(200ms), std::future_status::timeout);
    EXPECT_EQ(committer_->statistics().waiting, 4U);
    EXPECT_EQ(committer_->statistics().transactions, 0U);
    gate_.open(1);
    EXPECT_EQ(fourth.wait_for(20s), std::future_status::ready) << "the next transaction has the three";
    EXPECT_TRUE(gate_.begins(2));
    EXPECT_EQ(committer_->statistics().waiting, 4U);
    EXPECT_EQ(committer_->statistics().transactions, 1U);
    gate_.open();
    fourth.get();
    EXPECT_TRUE(drain());
    EXPECT_EQ(committer_->statistics().transactions, 3U);
    EXPECT_EQ(gate_.begun(), 3U) << "they also share a sync";
    EXPECT_THAT(committed_, ElementsAre(1, 2, 3, 4, 5));
  }

  Folder folder_;
  TestJournal journal_;
  Metrics metrics_{"1"};
  ServiceOptions options_;
  Log log_{folder_.path(), fingerprint, 0, {.sync = sync_through_gate}};
  kafka::Transactions transactions_{
      {"app", {{"test.mock.num.brokers", "1"}}, &journal_}, 60s, std::chrono::steady_clock::now() + 30s};
  Gate gate_;
  std::uint64_t batches_ = 0;
  std::vector<std::uint64_t> committed_;  // after a drain
  std::optional<Committer> committer_;
};

TEST_F(CommitterTest, SubmitWaitsAtTheLimitOfBatches) { expect_that_a_fourth_waits({.quiet = 0ms, .batches = 3}, 1); }

TEST_F(CommitterTest, SubmitWaitsAtTheLimitOfBytes) { expect_that_a_fourth_waits({.quiet = 0ms, .bytes = 3000}, 1000); }

TEST_F(CommitterTest, ABatchBeyondTheLimitOfBytesWaitsForNothingIfNoneWaits) {
  start({.quiet = 0ms, .bytes = 3000});
  submit(1000);
  ASSERT_TRUE(gate_.begins(1));
  submit(5000);
  EXPECT_EQ(committer_->statistics().waiting, 2U);
  gate_.open();
  EXPECT_TRUE(drain());
  EXPECT_THAT(committed_, ElementsAre(1, 2));
}

TEST_F(CommitterTest, WhatNobodySeesWaitsForMoreUpToTheLimit) {
  start({.quiet = 1h, .batches = 3});
  gate_.open();
  submit(1);
  ASSERT_TRUE(committed(1));
  submit(0);
  submit(0);
  EXPECT_FALSE(gate_.begins(2, 200ms));
  submit(1);  // visible, so the others go with it
  ASSERT_TRUE(committed(2));
  for (int i = 0; i < 3; ++i) submit(0);
  ASSERT_TRUE(committed(3)) << "as many as may wait";
  submit(0);
  EXPECT_TRUE(drain());
  EXPECT_EQ(committer_->statistics().transactions, 4U);
  EXPECT_THAT(committed_, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST_F(CommitterTest, AFailureIsRethrownToWhoeverSubmitsNext) {
  start({.quiet = 0ms, .batches = 3});
  batches_ = 1;  // the log has no batch before
  submit(1);
  EXPECT_NE(refusal([&] { drain(); }), "");
  EXPECT_NE(refusal([&] { submit(1); }), "");
  EXPECT_EQ(gate_.begun(), 0U);
}

}  // namespace
}  // namespace deltamatch::ingest
