// When choosing what to cache is worth its time.
#pragma once

namespace deltamatch::estimate {

/// Choosing, which is walking, ranking and moving lists, takes a share of what matching takes: a choice that cost more than the
/// share of one batch's matching holds for the batches after it, too, though for no more than `most_batches`. The first is due
/// at once.
class ChoiceSchedule {
 public:
  /// The first choice, which fills a cache and does not know what matching takes, would hold for thousands of small batches.
  static constexpr unsigned most_batches = 64;

  explicit ChoiceSchedule(double share) noexcept : share_(share) {}
  [[nodiscard]] bool due() const noexcept { return owed_ <= 0 || batches_ >= most_batches; }
  /// A choice was made, or a part of one.
  void chose(double seconds) noexcept {
    owed_ = batches_ > 0 ? seconds : owed_ + seconds;
    batches_ = 0;
  }
  /// A batch was matched. What is not used of its share is not saved for later.
  void matched(double seconds) noexcept {
    owed_ = owed_ > seconds * share_ ? owed_ - seconds * share_ : 0;
    ++batches_;
  }
  /// What was chosen is of no use any more: another choice is due.
  void restart() noexcept { owed_ = 0; }

 private:
  double share_;
  double owed_ = 0;       // seconds of choosing that no matching has made up for
  unsigned batches_ = 0;  // since the last choice
};

}  // namespace deltamatch::estimate
