#include "ingest/service/alert/deliverer.hpp"

#include <condition_variable>
#include <numeric>
#include <optional>
#include <random>

#include "ingest/service/alert/alert_sinks.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::alerts_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::error_of;
using testing::eventually;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::milliseconds;
using testing::Notes;
using ::testing::UnorderedElementsAre;
using Clock = std::chrono::steady_clock;

/// What a sink of a test received, and how it behaves. Outlives the sink.
struct Target {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::uint64_t> committed;
  std::vector<std::size_t> sizes;  // number of alerts in each batch
  std::vector<Clock::time_point> tries;
  std::size_t failures = 0;  // how many deliveries will still fail
  std::function<void()> fail = [] { throw Error("test", "fails"); };
  std::size_t lost = 0;  // how many recoveries will still fail
  std::string position;  // that recovery returns
  std::string recovered_from;
  bool joins = false;
  bool blocked = false;
  bool cancelled = false;

  void set_blocked(bool value) {
    const std::lock_guard lock(mutex);
    blocked = value;
    changed.notify_all();
  }
  std::vector<std::uint64_t> batches() {
    const std::lock_guard lock(mutex);
    return committed;
  }
};

class Probe final : public AlertSink {
 public:
  explicit Probe(std::shared_ptr<Target> target, bool heeds_cancel = true)
      : target_(std::move(target)), heeds_cancel_(heeds_cancel) {}
  void begin(std::uint64_t batch) override {
    EXPECT_FALSE(open_) << "begin, write*, then commit or abort";
    open_ = true;
    batch_ = batch;
    alerts_ = 0;
  }
  void write(std::string_view id, std::string_view alert) override {
    EXPECT_TRUE(open_);
    EXPECT_EQ(id, alert_id(alert));
    ++alerts_;
  }
  std::string commit() override {
    std::unique_lock lock(target_->mutex);
    target_->tries.push_back(Clock::now());
    target_->changed.wait(lock, [&] { return !target_->blocked || (target_->cancelled && heeds_cancel_); });
    if (target_->cancelled && heeds_cancel_) throw Error("test", "cancelled");
    if (target_->failures != 0) {
      --target_->failures;
      target_->fail();
    }
    target_->committed.push_back(batch_);
    target_->sizes.push_back(alerts_);
    open_ = false;
    return "at " + std::to_string(batch_);
  }
  void abort() noexcept override { open_ = false; }
  [[nodiscard]] bool joins_batches() const noexcept override { return target_->joins; }
  std::string recover(std::string_view position) override {
    const std::lock_guard lock(target_->mutex);
    if (target_->lost != 0) {
      --target_->lost;
      target_->fail();
    }
    target_->recovered_from = position;
    return target_->position;
  }
  void cancel() noexcept override {
    const std::lock_guard lock(target_->mutex);
    target_->cancelled = true;
    target_->changed.notify_all();
  }

 private:
  std::shared_ptr<Target> target_;
  bool heeds_cancel_;
  bool open_ = false;
  std::uint64_t batch_ = 0;
  std::size_t alerts_ = 0;
};

/// Stands for the log: what was committed, for each sink.
struct Log {
  std::mutex mutex;
  std::map<std::uint64_t, AlertList> batches;
  std::size_t reads = 0;
  std::size_t failures = 0;
  std::vector<std::string> noted;
  std::vector<std::string> recovered;

  DeliveryHooks hooks() {
    DeliveryHooks hooks;
    hooks.recovered = [this](std::string_view sink, std::uint64_t batch, const std::string& position) {
      const std::lock_guard lock(mutex);
      recovered.push_back(fmt::format("{} {} {}", sink, batch, position));
    };
    hooks.delivered = [this](std::string_view sink, std::uint64_t batch, const std::string& position) {
      const std::lock_guard lock(mutex);
      noted.push_back(fmt::format("{} {} {}", sink, batch, position));
    };
    hooks.read_back = [this](std::string_view, std::uint64_t from, std::uint64_t up_to, std::size_t bytes) {
      const std::lock_guard lock(mutex);
      ++reads;
      if (failures != 0) {
        --failures;
        throw Error("log", "cannot be read");
      }
      std::vector<Delivery> found;
      std::size_t size = 0;
      for (auto at = batches.lower_bound(from); at != batches.end() && at->first <= up_to; ++at) {
        size += at->second.bytes();
        if (!found.empty() && size > bytes) break;
        found.push_back({at->first, at->second});
      }
      return found;
    };
    return hooks;
  }
};

class Delivering : public ::testing::Test {
 protected:
  DeliveryTarget target(const std::string& name, Backlog backlog = {}, bool heeds_cancel = true) {
    auto& state = targets_[name];
    state = std::make_shared<Target>();
    return {name, std::make_unique<Probe>(state, heeds_cancel), milliseconds(20), backlog, std::nullopt};
  }
  template <class... Targets>
  Deliverer& start(Targets... targets) {
    std::vector<DeliveryTarget> all;
    (all.push_back(std::move(targets)), ...);
    deliverer_.emplace(std::move(all), log_.hooks(), notes_, options_);
    return *deliverer_;
  }
  void commit(std::uint64_t batch, std::size_t alerts = 1) {
    {
      const std::lock_guard lock(log_.mutex);
      log_.batches[batch] = alerts_of(batch, alerts);
    }
    for (const auto& [name, state] : targets_) deliverer_->submit(name, batch, alerts_of(batch, alerts));
  }
  bool stop(int ms = 20'000) { return deliverer_->stop(Clock::now() + milliseconds(ms)); }

  std::map<std::string, std::shared_ptr<Target>> targets_;
  Log log_;
  Notes notes_;
  DelivererOptions options_{.queue_bytes = std::size_t{1} << 20, .first_backoff = milliseconds(1)};
  std::optional<Deliverer> deliverer_;
};

TEST_F(Delivering, EveryBatchOnceAndInOrder) {
  start(target("a"), target("b"));
  for (std::uint64_t batch = 1; batch <= 50; ++batch) commit(batch, 1 + batch % 3);
  deliverer_->submit("a", 51, AlertList());  // nothing to deliver
  EXPECT_TRUE(stop());
  for (const char* name : {"a", "b"}) {
    Target& each = *targets_[name];
    ASSERT_EQ(each.committed.size(), 50u);
    for (std::size_t i = 0; i < 50; ++i) {
      EXPECT_EQ(each.committed[i], i + 1);
      EXPECT_EQ(each.sizes[i], 1 + (i + 1) % 3);
    }
    const DeliveryStatistics found = deliverer_->statistics().at(name);
    EXPECT_EQ(found.batches, 50u);
    EXPECT_EQ(found.alerts, 101u);
    EXPECT_EQ(found.latest, 50u);
    EXPECT_EQ(found.undelivered, 0u);
    EXPECT_EQ(found.queued_bytes, 0u);
    EXPECT_EQ(found.failures, 0u);
  }
  EXPECT_EQ(log_.noted.size(), 100u);
  EXPECT_THAT(log_.noted, Contains("b 17 at 17"));
  EXPECT_EQ(log_.reads, 0u);
  EXPECT_THAT(notes_.lines(), IsEmpty());
  EXPECT_THAT(error_of([&] { deliverer_->submit("c", 52, alerts_of(52, 1)); }), HasSubstr("'c'"));
}

TEST_F(Delivering, ASinkThatFailsStopsNoOtherAndIsTriedForEver) {
  start(target("dead"), target("file"));
  targets_["dead"]->failures = 12;
  commit(1);
  commit(2);
  ASSERT_TRUE(eventually([&] { return targets_["file"]->batches().size() == 2; }));
  ASSERT_TRUE(eventually([&] { return targets_["dead"]->batches().size() == 2; }));
  EXPECT_THAT(targets_["dead"]->batches(), ElementsAre(1, 2));
  ASSERT_TRUE(eventually([&] { return deliverer_->statistics().at("dead").batches == 2; }));
  const DeliveryStatistics found = deliverer_->statistics().at("dead");
  EXPECT_EQ(found.failures, 12u);
  EXPECT_EQ(found.last_error, "");
  const std::vector<std::string> lines = notes_.lines();
  ASSERT_EQ(lines.size(), 12u);
  EXPECT_THAT(lines[0], HasSubstr("warn delivery failed sink=dead try=1 next_try_ms=1 error=test: fails"));
  EXPECT_THAT(lines[11], HasSubstr("error delivery failed sink=dead try=12"));
  // The waits are 1, 2, 4, 8, 16 and then 20 ms. Each is shortened by up to a half.
  const auto& tries = targets_["dead"]->tries;
  for (std::size_t i = 6; i < 12; ++i) EXPECT_GE(tries[i] - tries[i - 1], milliseconds(10));
}

TEST_F(Delivering, ASinkThatCannotBeRecoveredStopsNoOtherAndIsTriedForEver) {
  DeliveryTarget lost = target("lost", {4, 5, 2});
  lost.position = "here";
  targets_["lost"]->lost = 6;
  targets_["lost"]->position = "there";
  log_.batches[4] = alerts_of(4, 1);
  log_.batches[5] = alerts_of(5, 1);
  start(std::move(lost), target("sound", {6, 5, 0}));
  commit(6);
  EXPECT_TRUE(eventually([&] { return deliverer_->statistics().at("lost").batches == 3; }));
  EXPECT_TRUE(stop());
  EXPECT_EQ(targets_["lost"]->recovered_from, "here");
  EXPECT_THAT(targets_["lost"]->committed, ElementsAre(4, 5, 6));
  EXPECT_THAT(targets_["sound"]->committed, ElementsAre(6));
  EXPECT_EQ(deliverer_->statistics().at("lost").failures, 6U);
  EXPECT_THAT(log_.recovered, UnorderedElementsAre("lost 3 there", "sound 5 "));
  EXPECT_THAT(notes_.lines().front(), HasSubstr("warn sink not recovered sink=lost try=1"));
}

TEST_F(Delivering, AKnownPositionIsNotNotedAgain) {
  DeliveryTarget known = target("known");
  known.position = targets_["known"]->position = "here";
  start(std::move(known));
  commit(1);
  EXPECT_TRUE(stop());
  EXPECT_THAT(log_.recovered, IsEmpty());
}

TEST_F(Delivering, ASinkMayAskForMoreTime) {
  start(target("web"));
  targets_["web"]->failures = 1;
  targets_["web"]->fail = [] { throw TryLater(milliseconds(150), "test", "busy"); };
  commit(1);
  ASSERT_TRUE(eventually([&] { return targets_["web"]->batches().size() == 1; }));
  EXPECT_GE(targets_["web"]->tries[1] - targets_["web"]->tries[0], milliseconds(150));
}

TEST_F(Delivering, WhatDoesNotFitIsReadFromTheLogAgain) {
  options_.queue_bytes = 3 * alerts_of(1, 4).bytes();
  start(target("slow"), target("quick"));
  targets_["slow"]->set_blocked(true);
  for (std::uint64_t batch = 1; batch <= 100; ++batch) commit(batch, 4);
  ASSERT_TRUE(eventually([&] { return targets_["quick"]->batches().size() == 100; }));
  const DeliveryStatistics waiting = deliverer_->statistics().at("slow");
  EXPECT_EQ(waiting.undelivered, 100u);
  EXPECT_TRUE(waiting.reads_back);
  EXPECT_LE(waiting.queued_bytes, options_.queue_bytes);
  EXPECT_GT(waiting.queued_bytes, 0u);
  {
    const std::lock_guard lock(log_.mutex);
    log_.failures = 2;  // tried again
  }
  targets_["slow"]->set_blocked(false);
  ASSERT_TRUE(eventually([&] { return targets_["slow"]->batches().size() == 100; }));
  commit(101);
  EXPECT_TRUE(stop());
  std::vector<std::uint64_t> expected(101);
  std::iota(expected.begin(), expected.end(), 1u);
  EXPECT_EQ(targets_["slow"]->committed, expected);
  EXPECT_FALSE(deliverer_->statistics().at("slow").reads_back);
  EXPECT_THAT(notes_.lines(), Contains(HasSubstr("log not read sink=slow")));
}

TEST_F(Delivering, BatchesThatWaitAreJoinedWhereTheSinkLikesIt) {
  options_.queue_bytes = std::size_t{64} << 20;
  auto one = target("a");
  targets_["a"]->joins = true;
  start(std::move(one));
  targets_["a"]->set_blocked(true);
  commit(1);
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(targets_["a"]->mutex);
    return targets_["a"]->tries.size() == 1;
  }));
  for (std::uint64_t batch = 2; batch <= 30; ++batch) commit(batch, 2);
  commit(31, 20'000);  // too much to be joined
  commit(32, 3);
  EXPECT_EQ(deliverer_->statistics().at("a").undelivered, 32u);
  targets_["a"]->set_blocked(false);
  EXPECT_TRUE(stop());
  EXPECT_THAT(targets_["a"]->committed, ElementsAre(1, 30, 31, 32));
  EXPECT_THAT(targets_["a"]->sizes, ElementsAre(1u, 58u, 20'000u, 3u));
  EXPECT_EQ(deliverer_->statistics().at("a").batches, 32u);
  EXPECT_EQ(deliverer_->statistics().at("a").undelivered, 0u);
  EXPECT_THAT(log_.noted, ElementsAre("a 1 at 1", "a 30 at 30", "a 31 at 31", "a 32 at 32"));
}

TEST_F(Delivering, ABatchLargerThanTheQueueIsTakenWhereItIsEmpty) {
  options_.queue_bytes = 10;
  start(target("a"));
  commit(1);
  ASSERT_TRUE(eventually([&] { return targets_["a"]->batches().size() == 1; }));
  EXPECT_EQ(log_.reads, 0u);
}

TEST_F(Delivering, ABacklogComesFirst) {
  for (const std::uint64_t batch : {3, 7, 9}) log_.batches[batch] = alerts_of(batch, 1);
  options_.queue_bytes = 1;
  start(target("a", {4, 9, 2}), target("b", {10, 9, 0}));
  for (std::uint64_t batch = 10; batch <= 12; ++batch) commit(batch);
  EXPECT_TRUE(stop());
  EXPECT_THAT(targets_["a"]->committed, ElementsAre(7, 9, 10, 11, 12));
  EXPECT_THAT(targets_["b"]->committed, ElementsAre(10, 11, 12));
}

TEST_F(Delivering, NothingIsLostOrTwiceHoweverSubmittingAndReadingBackMeet) {
  std::minstd_rand random(7);
  for (int round = 0; round < 20; ++round) {
    log_.batches.clear();
    targets_.clear();
    options_.queue_bytes = 1 + random() % 3000;
    start(target("a"), target("b"));
    std::vector<std::uint64_t> expected;
    std::uint64_t batch = 0;
    for (int i = 0; i < 200; ++i) {
      commit(batch += 1 + random() % 3, 1 + random() % 5);
      expected.push_back(batch);
      if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      if (random() % 32 == 0) {
        const std::lock_guard lock(targets_["a"]->mutex);
        targets_["a"]->failures = 1;
      }
    }
    ASSERT_TRUE(eventually([&] { return deliverer_->statistics().at("a").undelivered == 0; }));
    EXPECT_TRUE(stop());
    ASSERT_EQ(targets_["a"]->committed, expected);
    ASSERT_EQ(targets_["b"]->committed, expected);
  }
}

TEST_F(Delivering, StoppingFinishesWhatItCan) {
  start(target("a"), target("dead"));
  targets_["dead"]->failures = 1000;
  for (std::uint64_t batch = 1; batch <= 20; ++batch) commit(batch);
  const auto begin = Clock::now();
  EXPECT_FALSE(stop());
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10)) << "a sink that fails is not waited for";
  EXPECT_EQ(targets_["a"]->committed.size(), 20u);
  EXPECT_THAT(targets_["dead"]->committed, IsEmpty());
  EXPECT_EQ(deliverer_->statistics().at("dead").undelivered, 20u);
  commit(21);  // it is in the log
  EXPECT_FALSE(stop());
  EXPECT_EQ(targets_["a"]->committed.size(), 20u);
}

TEST_F(Delivering, AtTheDeadlineASinkThatWaitsIsCancelled) {
  start(target("stuck"), target("a"));
  targets_["stuck"]->set_blocked(true);
  commit(1);
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(targets_["stuck"]->mutex);
    return targets_["stuck"]->tries.size() == 1;
  }));
  const auto begin = Clock::now();
  EXPECT_FALSE(stop(50));
  EXPECT_LT(Clock::now() - begin, milliseconds(900));
  EXPECT_THAT(targets_["a"]->committed, ElementsAre(1));
  EXPECT_THAT(log_.noted, ElementsAre("a 1 at 1"));
}

TEST_F(Delivering, ASinkThatDoesNotHeedIsLeftBehindAndToldNothingAnyMore) {
  start(target("stuck", {}, false));
  targets_["stuck"]->set_blocked(true);
  commit(1);
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(targets_["stuck"]->mutex);
    return targets_["stuck"]->tries.size() == 1;
  }));
  EXPECT_FALSE(stop(1));
  EXPECT_THAT(notes_.lines(), ElementsAre("error a sink did not stop sink=stuck"));
  deliverer_.reset();
  targets_["stuck"]->set_blocked(false);
  ASSERT_TRUE(eventually([&] { return targets_["stuck"]->batches().size() == 1; }));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_THAT(log_.noted, IsEmpty());
}

TEST_F(Delivering, ADeliveryThatCannotBeNotedIsTold) {
  DeliveryHooks hooks = log_.hooks();
  hooks.delivered = [](std::string_view, std::uint64_t, const std::string&) { throw Error("log", "is full"); };
  std::vector<DeliveryTarget> all;
  all.push_back(target("a"));
  deliverer_.emplace(std::move(all), hooks, notes_, options_);
  commit(1);
  commit(2);
  EXPECT_TRUE(stop());
  EXPECT_THAT(targets_["a"]->committed, ElementsAre(1, 2));
  EXPECT_THAT(notes_.lines(), ElementsAre("error delivery not noted sink=a batch=1 error=log: is full",
                                          "error delivery not noted sink=a batch=2 error=log: is full"));
}

/// A file gets each batch exactly once, although the process dies between any two steps. The sink's own position decides.
TEST_F(Delivering, AFileHoldsEveryBatchOnceAcrossCrashes) {
  const testing::Folder folder;
  const std::string path = folder.file("alerts.jsonl");
  std::string expected;
  for (std::uint64_t batch = 1; batch <= 60; ++batch) {
    log_.batches[batch] = alerts_of(batch, 2);
    for (std::size_t i = 0; i < 2; ++i) expected += testing::alert_of(batch, i) + '\n';
  }
  std::string noted_position;
  std::uint64_t noted_batch = 0;
  std::minstd_rand random(3);
  while (noted_batch < 60) {
    std::mutex mutex;
    std::uint64_t notes_left = random() % 8;  // afterwards nothing is noted: as if the process had died before
    DeliveryHooks hooks = log_.hooks();
    hooks.recovered = [&](std::string_view, std::uint64_t, const std::string& position) {
      const std::lock_guard lock(mutex);
      noted_position = position;
    };
    hooks.delivered = [&](std::string_view, std::uint64_t batch, const std::string& position) {
      const std::lock_guard lock(mutex);
      if (notes_left == 0) return;
      --notes_left;
      noted_batch = batch;
      noted_position = position;
    };
    std::vector<DeliveryTarget> all;
    all.push_back({"file",
                   make_file_sink("file", path, 0, 0),
                   milliseconds(20),
                   {noted_batch + 1, 60, 60 - noted_batch},
                   noted_position.empty() ? std::nullopt : std::optional(noted_position)});
    Deliverer deliverer(std::move(all), hooks, notes_, options_);
    std::this_thread::sleep_for(milliseconds(random() % 4));
  }
  auto sink = make_file_sink("file", path, 0, 0);
  sink->recover(noted_position);
  EXPECT_EQ(testing::read_file(path), expected);
}

}  // namespace
}  // namespace deltamatch::ingest
