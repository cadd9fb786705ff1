// Holds back the records of a portion that is lost if it takes too long. Passes them on once there are many.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/deadline.hpp"
#include "match/matcher.hpp"

namespace deltamatch::engine {

/// Keeps up to `most` records. If more come, all of them go to the taker, and so do the records that follow. The deadline,
/// which would break the portion off, is then held until the portion is finished. Taker and deadline must outlive it.
class HeldRecords final : public match::RecordTaker {
 public:
  HeldRecords(match::RecordTaker& taker, Deadline& deadline, std::uint64_t most)
      : taker_(&taker), deadline_(&deadline), most_(most) {}

  void take(const match::Records& records, match::Pass pass) override {
    if (keep(records, pass)) return;
    taker_->take(records, pass);
  }

  [[nodiscard]] bool handed_over() const noexcept { return handed_over_.load(); }
  /// The number of records that it keeps. Call it once matching has ended.
  [[nodiscard]] std::uint64_t size() const noexcept { return kept_.plans.size(); }

  /// Ends a portion that is not lost.
  void finish() {
    if (!handed_over()) taker_->take(kept_, match::Pass::whole);
    deadline_->release();
  }

 private:
  bool keep(const match::Records& records, match::Pass pass) {
    if (handed_over()) return false;
    const std::scoped_lock turn(mutex_);
    if (handed_over()) return false;
    if (kept_.plans.size() + records.plans.size() <= most_) {
      kept_.words.insert(kept_.words.end(), records.words.begin(), records.words.end());
      kept_.plans.insert(kept_.plans.end(), records.plans.begin(), records.plans.end());
      return true;
    }
    if (!deadline_->hold()) return true;  // the portion is lost already
    taker_->take(kept_, pass);
    kept_ = {};
    handed_over_.store(true);
    return false;
  }

  match::RecordTaker* taker_;
  Deadline* deadline_;
  std::uint64_t most_;
  std::mutex mutex_;
  match::Records kept_;
  std::atomic<bool> handed_over_ = false;
};

}  // namespace deltamatch::engine
