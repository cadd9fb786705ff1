// When to stop a run, and its progress; shared by the threads of the run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/seconds.hpp"
#include "deltamatch/mine.hpp"

namespace deltamatch::mine {

class RunControl {
 public:
  explicit RunControl(const MineOptions& options) : options_(options) {
    if (options.timeout) deadline_ = start_ + std::chrono::duration_cast<Clock::duration>(*options.timeout);
  }

  [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
  void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
  /// Checks the clock and calls the caller's stop function.
  void look() {
    if (!stopped() && ((deadline_ && Clock::now() >= *deadline_) || (options_.stop && options_.stop()))) stop();
  }
  /// The same, and reports progress to the caller if the worker is 0. Returns whether to stop.
  bool check(unsigned worker) {
    look();
    if (worker == 0 && options_.progress) options_.progress(share_.load(std::memory_order_relaxed));
    return stopped();
  }
  void set_share(double share) noexcept { share_.store(share, std::memory_order_relaxed); }
  [[nodiscard]] double seconds() const { return seconds_since(start_); }

 private:
  using Clock = std::chrono::steady_clock;
  const MineOptions& options_;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> deadline_;
  std::atomic<double> share_ = 0;
  std::atomic<bool> stopped_ = false;
};

/// One thread's use of the control. It checks the clock only now and then.
class PeriodicCheck {
 public:
  PeriodicCheck(RunControl& control, unsigned worker) noexcept : control_(&control), worker_(worker) {}

  /// Returns whether to continue. `work` is the number of steps since the last call, of a few nanoseconds each.
  bool go_on(std::uint64_t work) {
    done_ += work + 1;
    if (done_ < between_checks) return !control_->stopped();
    done_ = 0;
    return !control_->check(worker_);
  }

 private:
  static constexpr std::uint64_t between_checks = 1U << 18;
  RunControl* control_;
  unsigned worker_;
  std::uint64_t done_ = 0;
};

}  // namespace deltamatch::mine
