// Notices a loop that does not turn any more.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>
#include <thread>

namespace deltamatch::ingest {

/// Decides from looks at a loop whether it hangs. Time in which nobody looked does not count, because then the whole process
/// stood still: it was paused, or its machine was.
class HangJudge {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto longest_look = std::chrono::seconds(1);

  /// `after`: how long a loop may take for one turn. 0: for ever.
  explicit HangJudge(Clock::duration after) : after_(after) {}

  /// `turns` counts those that the loop has begun. Returns whether it hangs.
  [[nodiscard]] bool look(std::uint64_t turns, Clock::time_point now);

 private:
  const Clock::duration after_;
  Clock::duration still_{};                                          // how long it was seen in the same turn
  std::uint64_t turns_ = std::numeric_limits<std::uint64_t>::max();  // that of no loop
  Clock::time_point looked_{};
};

/// Watches a loop from a thread of its own, which waits for nothing that the loop may hold.
class HangWatch {
 public:
  /// What the loop does in a turn. The texts must live as long as the process.
  struct Turn {
    const char* doing = "";
    std::uint64_t batch = 0;
    bool may_take_long = false;  ///< this turn does not count
  };

  /// Calls `hangs` once, in the thread that watches, if one turn takes longer than `after`. With 0 it never does.
  HangWatch(std::chrono::milliseconds after, std::function<void(Turn)> hangs);
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

  /// A turn begins. Only the loop calls it.
  void turn(Turn turn) noexcept;

 private:
  void watch(const std::stop_token& stop, std::chrono::milliseconds after);

  const std::function<void(Turn)> hangs_;
  std::atomic<const char*> doing_ = "";
  std::atomic<std::uint64_t> batch_ = 0;
  std::atomic<bool> may_take_long_ = false;
  std::atomic<std::uint64_t> turns_ = 0;
  std::jthread thread_;
};

}  // namespace deltamatch::ingest
