// How long a walk or a sum may take, counted in what does not depend on the machine.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/stop.hpp"

namespace deltamatch::match {

using deltamatch::StopFlag;

/// The steps that a piece of work may take, about one for each list that is looked up. Once they are spent, or `stop` is set,
/// it ends soon, and what it returns is of no use. One thread's.
class Allowance {
 public:
  static constexpr std::uint64_t unbounded = UINT64_MAX;

  /// `stop` may be null.
  explicit Allowance(const StopFlag* stop, std::uint64_t steps = unbounded) noexcept : stop_(stop), all_(steps), left_(steps) {}

  /// Takes some steps. Returns whether to go on.
  bool take(std::uint64_t steps = 1) noexcept {
    left_ -= std::min(steps, left_);
    return !over();
  }
  [[nodiscard]] bool over() const noexcept { return left_ == 0 || stopped(); }
  [[nodiscard]] bool stopped() const noexcept { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  /// There is no bound any more.
  void lift() noexcept {
    all_ += unbounded - left_;
    left_ = unbounded;
  }
  /// Steps that were taken so far.
  [[nodiscard]] std::uint64_t spent() const noexcept { return all_ - left_; }
  /// Steps do not run out in any time.
  [[nodiscard]] bool endless() const noexcept { return left_ > unbounded / 2; }

 private:
  const StopFlag* stop_;
  std::uint64_t all_;  // those taken and those left, modulo 2^64
  std::uint64_t left_;
};

}  // namespace deltamatch::match
