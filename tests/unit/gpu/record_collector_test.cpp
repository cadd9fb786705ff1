// Records from pages reach their takers completely and once, from several threads at a time. The rest is in the results.
#include "gpu/record_collector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "unit/estimate/support.hpp"

namespace deltamatch::gpu {
namespace {

using match::Pass;
using match::taker_portion;

/// Keeps what it takes. If `waits` is set, it holds its first caller until another comes, or for ten seconds.
class Taker final : public match::RecordTaker {
 public:
  explicit Taker(bool waits = false) : waits_(waits) {}
  void take(const match::Records& records, Pass pass) override {
    std::unique_lock lock(mutex_);
    threads_.insert(std::this_thread::get_id());
    another_.notify_all();
    if (waits_) another_.wait_for(lock, std::chrono::seconds(10), [&] { return threads_.size() > 1; });
    auto& into = pass == Pass::added ? added : removed;
    into.insert(into.end(), records.words.begin(), records.words.end());
    plans.insert(plans.end(), records.plans.begin(), records.plans.end());
    ++calls;
  }
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }

  std::vector<std::uint32_t> added;
  std::vector<std::uint32_t> removed;
  std::vector<std::uint32_t> plans;
  int calls = 0;

 private:
  bool waits_;
  std::mutex mutex_;
  std::condition_variable another_;
  std::set<std::thread::id> threads_;
};

class HandoverTest : public testing::Test {
 protected:
  HandoverTest() {
    world_.add(parse_pattern("(a)--(b)", "edge"), MatchMode::isomorphism, CountMode::subgraphs, true);
    world_.add(parse_pattern("(a)--(b)--(c)", "wedge"), MatchMode::isomorphism, CountMode::subgraphs, true);
    world_.stage();
    results_.resize(2 * world_.tasks.size());
  }

  /// Adds pages with this many records each, all of one plan. Their words differ. Returns all words.
  std::vector<std::uint32_t> add(RecordCollector& record_collector, const ProgramOrigin& origin, std::size_t pages,
                                 std::size_t records) {
    const match::QueryTask& task = world_.tasks[origin.task];
    const std::size_t words = task.query->vertices() + task.query->edges.size();
    std::vector<std::uint32_t> all;
    for (std::size_t page = 0; page < pages; ++page) {
      const std::size_t begin = all.size();
      for (std::size_t i = 0; i < records * words; ++i) all.push_back(next_++);
      record_collector.add(origin, std::span(all).subspan(begin));
    }
    return all;
  }
  static std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> words) {
    std::sort(words.begin(), words.end());
    return words;
  }

  estimate::World world_{{}, 5};
  Workers workers_{4};
  std::vector<match::QueryResult> results_;
  std::uint32_t next_ = 0;
};

TEST_F(HandoverTest, EveryRecordIsTakenOnceOrLeftInTheResults) {
  Taker edges;
  Taker wedges;
  world_.tasks[0].taker = &edges;
  world_.tasks[1].taker = &wedges;
  RecordCollector record_collector(workers_, world_.passes, world_.tasks, results_);
  std::vector<std::uint32_t> all[2][2];  // by pass and task
  for (int round = 0; round < 20; ++round) {
    for (std::uint32_t pass = 0; pass < 2; ++pass) {
      for (std::uint32_t task = 0; task < 2; ++task) {
        const auto more = add(record_collector, {pass, task, pass + task, false, true}, 5, 700);
        all[pass][task].insert(all[pass][task].end(), more.begin(), more.end());
      }
    }
    if (round % 3 == 0) record_collector.run();
  }
  record_collector.run();
  for (std::uint32_t pass = 0; pass < 2; ++pass) {
    for (std::uint32_t task = 0; task < 2; ++task) {
      const Taker& taker = task == 0 ? edges : wedges;
      std::vector<std::uint32_t> got = world_.passes[pass].pass == Pass::added ? taker.added : taker.removed;
      EXPECT_FALSE(got.empty());
      const match::Records& rest = results_[pass * 2 + task].records;
      EXPECT_LT(rest.plans.size(), taker_portion);
      EXPECT_TRUE(std::ranges::all_of(rest.plans, [&](std::uint32_t plan) { return plan == pass + task; }));
      got.insert(got.end(), rest.words.begin(), rest.words.end());
      EXPECT_EQ(sorted(got), sorted(all[pass][task])) << pass << ", " << task;
    }
  }
}

// Kernels go on for a while, and list many times the limit in that time.
TEST_F(HandoverTest, NothingIsKeptBeyondTheLimit) {
  match::StopFlag beyond = false;
  world_.tasks[0].beyond_limit = &beyond;
  world_.tasks[0].limit = 1000;
  RecordCollector record_collector(workers_, world_.passes, world_.tasks, results_);
  add(record_collector, {0, 0, 0, false, true}, 1, 1000);
  EXPECT_FALSE(beyond.load());
  add(record_collector, {0, 0, 0, false, true}, 20, 700);
  EXPECT_TRUE(beyond.load());
  EXPECT_EQ(results_[0].records.plans.size(), 1700);
}

TEST_F(HandoverTest, FullPortionsAreTakenSideBySide) {
  Taker taker(true);
  world_.tasks[0].taker = &taker;
  RecordCollector record_collector(workers_, world_.passes, world_.tasks, results_);
  add(record_collector, {0, 0, 0, false, true}, 4, taker_portion);
  EXPECT_EQ(taker.calls, 0) << "they wait for each other";
  record_collector.run();
  EXPECT_EQ(taker.calls, 4);
  EXPECT_GT(taker.threads(), 1U);
}

TEST_F(HandoverTest, FewWait) {
  Taker taker;
  world_.tasks[0].taker = &taker;
  RecordCollector record_collector(workers_, world_.passes, world_.tasks, results_);
  add(record_collector, {0, 0, 0, false, true}, 100, taker_portion);
  EXPECT_GE(taker.calls, 92) << "two for each worker";
  record_collector.run();
  EXPECT_EQ(taker.calls, 100);
}

TEST_F(HandoverTest, WithoutATakerAllStaysAndALimitIsNoticed) {
  match::StopFlag stop = false;
  world_.tasks[0].beyond_limit = &stop;
  world_.tasks[0].limit = 10000;
  RecordCollector record_collector(workers_, world_.passes, world_.tasks, results_);
  add(record_collector, {0, 0, 0, false, true}, 10, 1000);
  EXPECT_FALSE(stop.load());
  add(record_collector, {0, 0, 0, false, true}, 1, 1);
  EXPECT_TRUE(stop.load());
  record_collector.run();
  EXPECT_EQ(results_[0].records.plans.size(), 10001U);
}

TEST_F(HandoverTest, WhatATakerThrowsArrives) {
  class Refuses final : public match::RecordTaker {
    void take(const match::Records&, Pass) override { throw std::runtime_error("no room"); }
  } taker;
  world_.tasks[0].taker = &taker;
  RecordCollector record_collector(workers_, world_.passes, world_.tasks, results_);
  add(record_collector, {0, 0, 0, false, true}, 3, taker_portion);
  EXPECT_THROW(record_collector.run(), std::runtime_error);
}

}  // namespace
}  // namespace deltamatch::gpu
