// Counts what threads find while they match, for the thread that watches a batch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "match/step_budget.hpp"

namespace deltamatch::match {

/// The threads that match write to it, each to its own place and without waiting. Another thread reads it.
class ThreadProgress {
 public:
  /// Begins for this number of threads and tasks. Nothing is found yet.
  void begin(unsigned threads, std::size_t tasks) {
    if (seats_.size() != threads) seats_ = std::vector<Seat>(threads);
    for (Seat& seat : seats_) {
      seat.task.store(0, std::memory_order_relaxed);
      if (seat.found.size() < tasks) seat.found = std::vector<std::atomic<std::uint64_t>>(tasks);
      for (std::atomic<std::uint64_t>& found : seat.found) found.store(0, std::memory_order_relaxed);
    }
    if (handed_.size() < tasks) handed_ = std::vector<std::atomic<std::uint64_t>>(tasks);
    for (std::atomic<std::uint64_t>& handed : handed_) handed.store(0, std::memory_order_relaxed);
  }

  /// A thread begins a piece of a task.
  void enter(unsigned thread, std::size_t task) noexcept {
    seats_[thread].task.store(static_cast<std::uint32_t>(task) + 1, std::memory_order_relaxed);
  }
  /// A thread has nothing to do for now.
  void leave(unsigned thread) noexcept { seats_[thread].task.store(0, std::memory_order_relaxed); }
  /// The counter for the matches of a task that a thread finds.
  [[nodiscard]] std::atomic<std::uint64_t>& found(unsigned thread, std::size_t task) noexcept {
    return seats_[thread].found[task];
  }
  /// Counts matches from a matcher that does not say what its threads do. Any thread may call it.
  void handed(std::size_t task, std::uint64_t matches) noexcept { handed_[task].fetch_add(matches, std::memory_order_relaxed); }

  [[nodiscard]] std::size_t threads() const noexcept { return seats_.size(); }
  /// The task of a thread plus one; 0: none.
  [[nodiscard]] std::uint32_t task_of(std::size_t thread) const noexcept {
    return seats_[thread].task.load(std::memory_order_relaxed);
  }
  /// The matches of a task so far, at least.
  [[nodiscard]] std::uint64_t matches(std::size_t task) const noexcept;

 private:
  struct alignas(64) Seat {
    std::atomic<std::uint32_t> task = 0;
    std::vector<std::atomic<std::uint64_t>> found;  // by task
  };
  std::vector<Seat> seats_;
  std::vector<std::atomic<std::uint64_t>> handed_;  // by task
};

inline std::uint64_t ThreadProgress::matches(std::size_t task) const noexcept {
  std::uint64_t sum = 0;
  for (const Seat& seat : seats_) {
    if (__builtin_add_overflow(sum, seat.found[task].load(std::memory_order_relaxed), &sum)) return UINT64_MAX;
  }
  const std::uint64_t handed = handed_[task].load(std::memory_order_relaxed);
  return handed > sum ? handed : sum;
}

/// Counts what a thread finds of a task on one plan. Does nothing if nobody watches.
class FoundCounter {
 public:
  FoundCounter() = default;
  /// `each`: how many matches each found one stands for.
  FoundCounter(std::atomic<std::uint64_t>& found, std::uint64_t each) noexcept : found_(&found), each_(each) {}
  /// Adds `more`. Stays at the maximum once the count overflows.
  void add(std::uint64_t more) noexcept {
    if (found_ == nullptr || more == 0) return;
    std::uint64_t sum = 0;
    if (__builtin_mul_overflow(more, each_, &sum) ||
        __builtin_add_overflow(sum, found_->load(std::memory_order_relaxed), &sum)) {
      sum = UINT64_MAX;
    }
    found_->store(sum, std::memory_order_relaxed);  // no other thread writes it
  }

 private:
  std::atomic<std::uint64_t>* found_ = nullptr;
  std::uint64_t each_ = 1;
};

}  // namespace deltamatch::match
