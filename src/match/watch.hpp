// What threads tell of their matching while it goes on, and how one query's is ended: for who watches a batch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "match/allowance.hpp"

namespace deltamatch::match {

/// Written by the threads that match, each in its own place, without waiting; read by whoever watches them.
class Watch {
 public:
  /// For so many threads that match so many tasks; nothing is found yet.
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

  /// A thread begins with a piece of a task.
  void enter(unsigned thread, std::size_t task) noexcept {
    seats_[thread].task.store(static_cast<std::uint32_t>(task) + 1, std::memory_order_relaxed);
  }
  /// It has nothing to do for now.
  void leave(unsigned thread) noexcept { seats_[thread].task.store(0, std::memory_order_relaxed); }
  /// Where a thread counts the matches that it finds of a task.
  [[nodiscard]] std::atomic<std::uint64_t>& found(unsigned thread, std::size_t task) noexcept {
    return seats_[thread].found[task];
  }
  /// Matches were handed over by a matcher that does not say what its threads do. Any thread.
  void handed(std::size_t task, std::uint64_t matches) noexcept { handed_[task].fetch_add(matches, std::memory_order_relaxed); }

  [[nodiscard]] std::size_t threads() const noexcept { return seats_.size(); }
  /// One more than the task of a thread; 0: none.
  [[nodiscard]] std::uint32_t task_of(std::size_t thread) const noexcept {
    return seats_[thread].task.load(std::memory_order_relaxed);
  }
  /// Matches of a task so far, at least.
  [[nodiscard]] std::uint64_t matches(std::size_t task) const noexcept;

 private:
  struct alignas(64) Seat {
    std::atomic<std::uint32_t> task = 0;
    std::vector<std::atomic<std::uint64_t>> found;  // by task
  };
  std::vector<Seat> seats_;
  std::vector<std::atomic<std::uint64_t>> handed_;  // by task
};

inline std::uint64_t Watch::matches(std::size_t task) const noexcept {
  std::uint64_t sum = 0;
  for (const Seat& seat : seats_) {
    if (__builtin_add_overflow(sum, seat.found[task].load(std::memory_order_relaxed), &sum)) return UINT64_MAX;
  }
  const std::uint64_t handed = handed_[task].load(std::memory_order_relaxed);
  return handed > sum ? handed : sum;
}

/// A thread's count of what it finds of a task, on one plan. Nothing where nobody watches.
class Tally {
 public:
  Tally() = default;
  /// `each`: matches that one that is found stands for.
  Tally(std::atomic<std::uint64_t>& found, std::uint64_t each) noexcept : found_(&found), each_(each) {}
  /// So many more. Stays at the greatest number once that is exceeded.
  void add(std::uint64_t more) noexcept {
    if (found_ == nullptr || more == 0) return;
    std::uint64_t sum = 0;
    if (__builtin_mul_overflow(more, each_, &sum) ||
        __builtin_add_overflow(sum, found_->load(std::memory_order_relaxed), &sum)) {
      sum = UINT64_MAX;
    }
    found_->store(sum, std::memory_order_relaxed);  // nobody else writes it
  }

 private:
  std::atomic<std::uint64_t>* found_ = nullptr;
  std::uint64_t each_ = 1;
};

}  // namespace deltamatch::match
