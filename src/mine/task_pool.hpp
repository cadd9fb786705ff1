// Starting points for a set of threads, and tasks that busy threads give to idle ones. A thread without a task waits until
// another thread donates one or until all are idle. A busy thread checks `has_waiting_threads` now and then, which is one
// relaxed load.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace deltamatch::mine {

template <class Task>
class TaskPool {
 public:
  /// Hands out the starting points 0 to starts - 1 in order.
  explicit TaskPool(std::uint64_t starts) noexcept : starts_(starts) {}

  /// Returns the next task; `from_start` makes it from a starting point. Nullopt if all is done or the run is cancelled. A
  /// thread that has taken a task must call `take` again when the task is done, or call `cancel`.
  template <class FromStart>
  std::optional<Task> take(bool& busy, FromStart&& from_start) {
    std::unique_lock lock(mutex_);
    if (busy) --busy_;
    busy = false;
    const auto settled = [&] { return cancelled_ || !donated_.empty() || next_ < starts_ || busy_ == 0; };
    if (!settled()) {
      count_unserved(+1);
      ready_.wait(lock, settled);
      count_unserved(-1);
    }
    if (cancelled_ || (donated_.empty() && next_ == starts_)) {
      ready_.notify_all();
      return std::nullopt;
    }
    ++busy_;
    busy = true;
    if (!donated_.empty()) {
      Task task = std::move(donated_.front());
      donated_.pop_front();
      count_unserved(0);
      return task;
    }
    return from_start(next_++);
  }

  /// Whether more threads wait than donated tasks.
  [[nodiscard]] bool has_waiting_threads() const noexcept { return unserved_.load(std::memory_order_relaxed) > 0; }

  /// Gives a task to one of the waiting threads.
  void donate(Task task) {
    const std::lock_guard lock(mutex_);
    donated_.push_back(std::move(task));
    count_unserved(0);
    ready_.notify_one();
  }

  /// Wakes all threads. There are no more tasks.
  void cancel() noexcept {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    ready_.notify_all();
  }

  [[nodiscard]] double share_taken() const noexcept {
    return starts_ == 0 ? 1 : static_cast<double>(next_.load(std::memory_order_relaxed)) / static_cast<double>(starts_);
  }

 private:
  void count_unserved(int change) noexcept {  // called under the lock
    waiting_ += change;
    unserved_.store(waiting_ - static_cast<int>(donated_.size()), std::memory_order_relaxed);
  }

  const std::uint64_t starts_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<int> unserved_ = 0;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Task> donated_;
  int busy_ = 0;
  int waiting_ = 0;
  bool cancelled_ = false;
};

}  // namespace deltamatch::mine
