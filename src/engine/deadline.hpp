// A flag that is set at a point in time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "match/partial.hpp"

namespace deltamatch::engine {

/// Sets `stop` once the time is over, unless it is destroyed before. `stop` outlives it.
class Deadline {
 public:
  Deadline(std::optional<std::chrono::nanoseconds> timeout, match::StopFlag& stop) {
    if (!timeout) return;
    watcher_ = std::jthread([this, until = std::chrono::steady_clock::now() + *timeout, &stop](const std::stop_token& token) {
      std::unique_lock lock(mutex_);
      if (wake_.wait_until(lock, token, until, [&] { return token.stop_requested(); })) return;
      passed_.store(true);
      stop.store(true);
    });
  }
  [[nodiscard]] bool passed() const noexcept { return passed_.load(); }

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::atomic<bool> passed_ = false;
  std::jthread watcher_;
};

}  // namespace deltamatch::engine
