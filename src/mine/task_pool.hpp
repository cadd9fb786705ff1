// Starting points for a set of threads, and what busy threads give away to idle ones. A thread that finds nothing to take waits
// until another donates or all are idle; a busy one looks at `hungry` now and then, which is one relaxed load.
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
  /// The starting points 0 to starts - 1 are handed out in order.
  explicit TaskPool(std::uint64_t starts) noexcept : starts_(starts) {}

  /// What to do next, made from a starting point by `from_start`; nothing when all is done or the run is cancelled. Every
  /// thread that has taken a task calls it again when the task is done, or `cancel`.
  template <class FromStart>
  std::optional<Task> take(bool& busy, FromStart&& from_start) {
    std::unique_lock lock(mutex_);
    if (busy) --busy_;
    busy = false;
    const auto settled = [&] { return cancelled_ || !donated_.empty() || next_ < starts_ || busy_ == 0; };
    if (!settled()) {
      count_hungry(+1);
      ready_.wait(lock, settled);
      count_hungry(-1);
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
      count_hungry(0);
      return task;
    }
    return from_start(next_++);
  }

  /// More threads wait than tasks do.
  [[nodiscard]] bool hungry() const noexcept { return hungry_.load(std::memory_order_relaxed) > 0; }

  /// For one of the waiting threads.
  void donate(Task task) {
    const std::lock_guard lock(mutex_);
    donated_.push_back(std::move(task));
    count_hungry(0);
    ready_.notify_one();
  }

  /// Wakes all threads: no more tasks.
  void cancel() noexcept {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    ready_.notify_all();
  }

  [[nodiscard]] double share_taken() const noexcept {
    return starts_ == 0 ? 1 : static_cast<double>(next_.load(std::memory_order_relaxed)) / static_cast<double>(starts_);
  }

 private:
  void count_hungry(int change) noexcept {  // under the lock
    waiting_ += change;
    hungry_.store(waiting_ - static_cast<int>(donated_.size()), std::memory_order_relaxed);
  }

  const std::uint64_t starts_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<int> hungry_ = 0;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Task> donated_;
  int busy_ = 0;
  int waiting_ = 0;
  bool cancelled_ = false;
};

}  // namespace deltamatch::mine
