// Decides when choosing what to cache is worth its time.
#pragma once

#include <algorithm>

namespace deltamatch::estimate {

/// Choosing means walking, ranking and moving lists. It may take a share of the time of matching. If a choice costs more than
/// its share of one batch's matching, it is kept for the next batches, too, but for at most `most_batches`. The first choice is
/// due at once.
class ChoiceSchedule {
 public:
  /// The first choice fills a cache and does not know how long matching takes. It would be kept for thousands of small batches.
  static constexpr unsigned most_batches = 64;

  explicit ChoiceSchedule(double share) noexcept : share_(share) {}
  [[nodiscard]] bool due() const noexcept { return owed_ <= 0 || batches_ >= most_batches; }
  /// Reports a choice or a part of one.
  void chose(double seconds) noexcept {
    owed_ = batches_ > 0 ? seconds : owed_ + seconds;
    batches_ = 0;
  }
  /// Reports that a batch was matched. An unused part of its share is not saved for later.
  void matched(double seconds) noexcept {
    if (batches_ == 0 && owed_ > 0) held_ = std::clamp(owed_ / (seconds * share_), 1.0, double{most_batches});
    owed_ = owed_ > seconds * share_ ? owed_ - seconds * share_ : 0;
    ++batches_;
  }
  /// The batches for which a choice probably holds, by what the last one cost.
  [[nodiscard]] double held() const noexcept { return held_; }
  /// Makes a choice due because the last one has become useless.
  void restart() noexcept { owed_ = 0; }

 private:
  double share_;
  double owed_ = 0;       // seconds of choosing that matching has not made up for yet
  unsigned batches_ = 0;  // since the last choice
  double held_ = most_batches;
};

}  // namespace deltamatch::estimate
