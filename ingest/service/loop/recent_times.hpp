// How long the latest batches took.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace deltamatch::ingest {

/// The times of the last 256 batches, in seconds. Not thread-safe.
class RecentTimes {
 public:
  static constexpr std::size_t capacity = 256;

  struct Summary {
    std::size_t of = 0;  ///< number of batches
    double last = 0;
    double median = 0;
    double p99 = 0;  ///< 99 % took at most this long
    double longest = 0;
  };

  void add(double seconds) noexcept {
    times_[added_ % capacity] = seconds;
    ++added_;
  }
  /// Nothing before the first batch. O(capacity).
  [[nodiscard]] std::optional<Summary> summary() const {
    if (added_ == 0) return std::nullopt;
    std::vector<double> sorted(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(std::min(added_, capacity)));
    std::ranges::sort(sorted);
    const std::size_t of = sorted.size();
    return Summary{of, times_[(added_ - 1) % capacity], sorted[(of - 1) / 2], sorted[(of * 99 + 99) / 100 - 1], sorted.back()};
  }

 private:
  std::array<double, capacity> times_{};
  std::size_t added_ = 0;
};

}  // namespace deltamatch::ingest
