// A watcher thread that sets a stop flag at a time-out or on request.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/stop.hpp"

namespace deltamatch::engine {

/// Sets `stop` when the time-out passes, or when `asked` returns true (if given), unless it is destroyed before. A thread of
/// its own calls `asked` every few milliseconds; `asked` must not throw. `stop` must outlive the Deadline.
class Deadline {
 public:
  Deadline(std::optional<std::chrono::nanoseconds> timeout, StopFlag& stop, std::function<bool()> asked = {}) {
    if (!timeout && !asked) return;
    std::optional<Clock::time_point> until;
    if (timeout) until = Clock::now() + *timeout;
    watcher_ = std::jthread([this, until, asked = std::move(asked), &stop](const std::stop_token& token) {
      if (watch(until, asked, token)) stop.store(true);
    });
  }
  [[nodiscard]] bool passed() const noexcept { return passed_.load(); }

  /// Suspends the time-out until release. Returns false if it has already passed.
  [[nodiscard]] bool hold() {
    const std::scoped_lock lock(mutex_);
    held_ = !passed_.load();
    return held_;
  }
  void release() {
    {
      const std::scoped_lock lock(mutex_);
      held_ = false;
    }
    wake_.notify_all();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds interval{5};

  // Waits until the flag should be set (true) or the Deadline is destroyed (false).
  bool watch(std::optional<Clock::time_point> until, const std::function<bool()>& asked, const std::stop_token& token) {
    std::unique_lock lock(mutex_);
    while (true) {
      if (asked && asked()) return true;
      const auto now = Clock::now();
      const bool held = held_;
      const bool timed = until && !held;
      if (timed && now >= *until) {
        passed_.store(true);
        return true;
      }
      const auto next = timed && (!asked || *until < now + interval) ? *until : now + interval;
      wake_.wait_until(lock, token, next, [&] { return token.stop_requested() || held_ != held; });
      if (token.stop_requested()) return false;
    }
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::atomic<bool> passed_ = false;
  bool held_ = false;
  std::jthread watcher_;
};

}  // namespace deltamatch::engine
