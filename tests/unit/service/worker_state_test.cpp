#include "ingest/service/loop/worker_state.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

class WorkerStateTest : public ::testing::Test {
 protected:
  /// Slot 0 is of this worker, and slot 1 of another one.
  static workers::Cut cut(std::uint64_t batch) {
    workers::Cut cut{.mark = {}, .first = 1, .places = {{.worker = "a"}, {.worker = "b"}}};
    cut.mark.batch = batch;
    return cut;
  }
  void claim(const std::string& worker) {
    state_.claim({.worker = worker, .applied = 0, .semantics = workers::semantics}, now_);
  }

  WorkerState state_{"a", 2};
  WorkerState::Clock::time_point now_{1000s};
};

TEST_F(WorkerStateTest, AFailureEndsTheWaitForACut) {
  state_.fail(std::make_exception_ptr(std::runtime_error("the topic is gone")));
  EXPECT_THROW(static_cast<void>(state_.wait_for_cut(1, std::stop_token())), std::runtime_error);
}

TEST_F(WorkerStateTest, OnlyALeaderThatHearsItselfTakesSlotsOver) {
  state_.cut(cut(1));
  state_.lead(true);
  EXPECT_EQ(state_.outlook(now_).take_overs, 0U);
  claim("a");
  EXPECT_EQ(state_.outlook(now_).take_overs, 0U);  // it has not listened for long
  for (int second = 0; second < 4; ++second) {
    now_ += 1s;
    claim("a");
  }
  EXPECT_EQ(state_.outlook(now_).take_overs, 1U);
  now_ += workers::Roll::delay + 1s;  // a pause, or brokers that were away
  EXPECT_EQ(state_.outlook(now_).take_overs, 0U);
  claim("a");
  EXPECT_EQ(state_.outlook(now_).take_overs, 0U);
  claim("b");
  now_ += workers::Roll::delay - 1s;
  claim("a");
  now_ += 1s;
  claim("a");
  EXPECT_EQ(state_.outlook(now_).take_overs, 0U);  // the other one lives
}

TEST_F(WorkerStateTest, ALeadersGraphIsConfirmedOnceItsCutIsRead) {
  static_cast<void>(state_.engine_step());
  state_.cut(cut(1));
  state_.all_read();
  workers::CutBook book;
  book.add(cut(1));
  state_.restarted(0, book);
  state_.lead(true);
  state_.applied(state_.next_batch()->first, {}, {});
  EXPECT_EQ(state_.confirmed(), 1U);
  state_.applied_ahead(cut(2), {});
  EXPECT_EQ(state_.at(), 2U);
  EXPECT_EQ(state_.confirmed(), std::nullopt);
  state_.cut(cut(2));
  EXPECT_EQ(state_.confirmed(), 2U);
  // Another leader was faster, after this one was paused.
  workers::Cut other = cut(3);
  other.mark.watermark = 7;
  state_.applied_ahead(cut(3), {});
  state_.cut(other);
  EXPECT_EQ(state_.confirmed(), std::nullopt);
}

TEST_F(WorkerStateTest, KeepsTheCutsThatAreReadDuringARestart) {
  EXPECT_TRUE(state_.engine_step());  // to read all
  state_.cut(cut(1));
  state_.all_read();
  const auto restart = state_.engine_step();
  ASSERT_TRUE(restart);
  ASSERT_EQ(restart->kind, workers::Step::Kind::restart);
  workers::CutBook book;
  book.add(cut(1));
  for (std::uint64_t batch = 2; batch <= 6; ++batch) {
    state_.cut(cut(batch));
    for (const workers::Slot slot : {0U, 1U}) state_.progress({.slot = slot, .batch = batch - 1});
  }
  state_.restarted(restart->batch, book);
  const auto next = state_.next_batch();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->second.batch(), restart->batch + 1);
  state_.cut(cut(7));
  EXPECT_EQ(state_.newest_cut(), 7U);
}

TEST_F(WorkerStateTest, KnowsForHowLongNothingWasPublished) {
  EXPECT_FALSE(state_.waiting_for(WorkerState::Clock::now()));
  state_.cut(cut(1));
  const auto begun = WorkerState::Clock::now();
  const auto waiting = state_.waiting_for(begun + 5s);
  ASSERT_TRUE(waiting);
  EXPECT_GE(*waiting, 5s);
  for (const workers::Slot slot : {0U, 1U}) state_.progress({.slot = slot, .batch = 1});
  EXPECT_FALSE(state_.waiting_for(begun + 5s));
}

}  // namespace
}  // namespace deltamatch::ingest
