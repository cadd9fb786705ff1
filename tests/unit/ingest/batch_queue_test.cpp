#include "ingest/batch/batch_queue.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

using Queue = BatchQueue<std::vector<int>>;

void push(Queue& queue, std::vector<int> batch) { queue.push(std::move(batch)); }

TEST(BatchQueue, KeepsTheOrderAndEndsAfterTheLastBatch) {
  Queue queue(2);
  push(queue, {1});
  push(queue, {2});
  queue.end();
  std::vector<int> batch;
  EXPECT_EQ(queue.next_within(batch, 0ms), Arrival::batch);
  EXPECT_EQ(batch, std::vector{1});
  EXPECT_EQ(queue.next_within(batch, 0ms), Arrival::batch);
  EXPECT_EQ(batch, std::vector{2});
  EXPECT_EQ(queue.next_within(batch, 0ms), Arrival::ended);
  EXPECT_EQ(queue.next_within(batch, 0ms), Arrival::ended);
}

TEST(BatchQueue, AFailureComesOnceAndAfterTheBatchesBeforeIt) {
  Queue queue(2);
  push(queue, {1});
  queue.end(std::make_exception_ptr(std::runtime_error("torn")));
  std::vector<int> batch;
  EXPECT_EQ(queue.next_within(batch, 0ms), Arrival::batch);
  EXPECT_THROW(static_cast<void>(queue.next_within(batch, 0ms)), std::runtime_error);
  EXPECT_EQ(queue.next_within(batch, 0ms), Arrival::ended);
}

TEST(BatchQueue, AWaitEndsInTimeOrIfItIsWoken) {
  Queue queue(1);
  std::vector<int> batch;
  EXPECT_EQ(queue.next_within(batch, 1ms), Arrival::nothing);
  queue.wake();
  EXPECT_EQ(queue.next_within(batch, 1h), Arrival::nothing);
  EXPECT_EQ(queue.next_within(batch, 1ms), Arrival::nothing);  // one call is woken
}

TEST(BatchQueue, TheReaderWaitsForRoom) {
  Queue queue(1);
  EXPECT_TRUE(queue.has_room());
  push(queue, {1});
  EXPECT_FALSE(queue.has_room());
  std::thread reader([&] {
    push(queue, {2});
    queue.end();
  });
  std::vector<std::vector<int>> got;
  for (std::vector<int> batch; queue.next_within(batch, 1h) == Arrival::batch;) got.push_back(batch);
  reader.join();
  EXPECT_EQ(got, (std::vector<std::vector<int>>{{1}, {2}}));
}

TEST(BatchQueue, AbandonedItDropsWhatIsPushed) {
  Queue queue(1);
  push(queue, {1});
  std::thread reader([&] { push(queue, {2}); });  // waits, or comes too late
  queue.abandon();
  reader.join();
  EXPECT_FALSE(queue.wait_for_room());
  push(queue, {3});
  std::vector<int> batch;
  EXPECT_EQ(queue.next_within(batch, 0ms), Arrival::batch);
  EXPECT_EQ(batch, std::vector{1});
  EXPECT_EQ(queue.next_within(batch, 0ms), Arrival::nothing);
}

TEST(BatchQueue, UpcomingIsTheNextBatch) {
  Queue queue(2);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(queue.upcoming(stop.get_token()), nullptr);
  push(queue, {1});
  push(queue, {2});
  ASSERT_NE(queue.upcoming({}), nullptr);
  EXPECT_EQ(*queue.upcoming({}), std::vector{1});
  std::vector<int> batch;
  EXPECT_EQ(queue.next_within(batch, 0ms), Arrival::batch);
  EXPECT_EQ(*queue.upcoming({}), std::vector{2});
  EXPECT_EQ(queue.next_within(batch, 0ms), Arrival::batch);
  queue.end();
  EXPECT_EQ(queue.upcoming({}), nullptr);
}

TEST(BatchQueue, MemoryGoesBackToTheReaderAndTwoBatchesAreEnough) {
  Queue queue(1);
  std::vector<int> theirs;
  theirs.reserve(100);
  const int* const first = theirs.data();
  push(queue, {1});
  EXPECT_EQ(queue.next_within(theirs, 0ms), Arrival::batch);
  const int* const second = theirs.data();
  for (const int* memory = first; memory != nullptr; memory = memory == first ? second : nullptr) {
    std::vector<int> mine = queue.memory();
    EXPECT_EQ(mine.data(), memory);
    queue.push(std::move(mine));
    EXPECT_EQ(queue.next_within(theirs, 0ms), Arrival::batch);
  }
  static_cast<void>(queue.memory());
  EXPECT_EQ(queue.memory().capacity(), 0U);
}

/// A source whose batches never come until it is stopped.
class Idle {
 public:
  Arrival next_within(std::vector<int>& batch, std::chrono::milliseconds timeout) { return queue_.next_within(batch, timeout); }
  const UpdateBatch* upcoming(const std::stop_token& /*stop*/) { return nullptr; }
  void stop() {
    queue_.push({7});
    queue_.end();
  }
  void wake() { queue_.wake(); }

 private:
  Queue queue_{1};
};

TEST(BatchSource, AStopThatIsWantedWhileItWaitsGivesTheLastBatch) {
  Idle source;
  int asked = 0;
  std::vector<int> batch;
  EXPECT_TRUE(next_batch(source, batch, [&] { return ++asked == 2; }));
  EXPECT_EQ(batch, std::vector{7});
  EXPECT_FALSE(next_batch(source, batch));
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace deltamatch::ingest
