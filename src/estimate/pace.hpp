// When choosing what to cache is worth its time.
#pragma once

namespace deltamatch::estimate {

/// Choosing, which is walking, ranking and moving lists, takes a share of what matching takes and no more: a choice that cost
/// more than the share of one batch's matching holds for the batches after it, too. The first is due at once.
class Pace {
 public:
  explicit Pace(double share) noexcept : share_(share) {}
  [[nodiscard]] bool due() const noexcept { return owed_ <= 0; }
  /// A choice was made.
  void chose(double seconds) noexcept { owed_ += seconds; }
  /// A batch was matched. What is not used of its share is not saved for later.
  void matched(double seconds) noexcept { owed_ = owed_ > seconds * share_ ? owed_ - seconds * share_ : 0; }
  /// What was chosen is of no use any more: another choice is due.
  void restart() noexcept { owed_ = 0; }

 private:
  double share_;
  double owed_ = 0;  // seconds of choosing that no matching has made up for
};

}  // namespace deltamatch::estimate
