// The least and the largest event time of a batch.
#pragma once

#include <algorithm>
#include <optional>

#include "deltamatch/id.hpp"

namespace deltamatch::ingest {

class TimeSpan {
 public:
  /// Includes a time, unless the span would exceed `limit` microseconds.
  bool widen(Timestamp time, Timestamp limit) noexcept {
    const Timestamp least = least_ ? std::min(*least_, time) : time;
    const Timestamp largest = least_ ? std::max(largest_, time) : time;
    // Times of opposite signs may lie further apart than 64 bits can hold.
    Timestamp width = 0;
    if (__builtin_sub_overflow(largest, least, &width) || width > limit) return false;
    least_ = least;
    largest_ = largest;
    return true;
  }

 private:
  std::optional<Timestamp> least_;
  Timestamp largest_ = 0;
};

}  // namespace deltamatch::ingest
