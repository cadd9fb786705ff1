// Bounds how long a walk or a sum may take, in steps that do not depend on the machine.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/stop.hpp"

namespace deltamatch::match {

using deltamatch::StopFlag;

/// The steps that a piece of work may take: about one per list that is looked up. Once they are spent or `stop` is set, the
/// work ends soon, and its result is useless. For one thread.
class StepBudget {
 public:
  static constexpr std::uint64_t unbounded = UINT64_MAX;

  /// `stop` may be null.
  explicit StepBudget(const StopFlag* stop, std::uint64_t steps = unbounded) noexcept
      : stop_(stop), all_(steps), left_(steps) {}

  /// Takes some steps. Returns whether to go on.
  bool take(std::uint64_t steps = 1) noexcept {
    left_ -= std::min(steps, left_);
    return !over();
  }
  [[nodiscard]] bool over() const noexcept { return left_ == 0 || stopped(); }
  [[nodiscard]] bool stopped() const noexcept { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  /// Removes the bound.
  void lift() noexcept {
    all_ += unbounded - left_;
    left_ = unbounded;
  }
  /// The steps taken so far.
  [[nodiscard]] std::uint64_t spent() const noexcept { return all_ - left_; }
  /// Whether the steps will never run out.
  [[nodiscard]] bool endless() const noexcept { return left_ > unbounded / 2; }

 private:
  const StopFlag* stop_;
  std::uint64_t all_;  // steps taken plus steps left, modulo 2^64
  std::uint64_t left_;
};

}  // namespace deltamatch::match
