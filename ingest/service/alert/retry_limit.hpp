// Decides when to give up what cannot be delivered.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace deltamatch::ingest {

/// Counts consecutive failed tries, for each batch since its arrival. Batches are delivered in order, so a failed try delays
/// all that wait. If only the first batch counted it, each later batch would start its tries after those before it. While a
/// server is down, ever more batches would then wait.
class RetryLimit {
 public:
  using Clock = std::chrono::steady_clock;

  /// The limits of tries and of time. 0 means no limit.
  RetryLimit(std::size_t most_tries, std::chrono::milliseconds longest) : most_tries_(most_tries), longest_(longest) {}

  /// A try has failed, and batches up to `latest` waited for it. `latest` and `now` must never decrease.
  void failed(std::uint64_t latest, Clock::time_point now);
  /// A try has succeeded, so the count starts again.
  void restored() noexcept {
    rows_.clear();
    failures_ = 0;
  }
  /// Whether the batch has waited for enough tries, or for long enough since the first of them. O(log tries).
  [[nodiscard]] bool over(std::uint64_t batch, Clock::time_point now) const;
  /// The number of tries that the batch has waited for. O(log tries).
  [[nodiscard]] std::size_t tries(std::uint64_t batch) const;

 private:
  struct Row {
    std::uint64_t latest;  ///< the newest batch that all of its tries count for
    std::size_t before;    ///< failures before its first try
    Clock::time_point since;
  };
  [[nodiscard]] bool over(const Row& row, Clock::time_point now) const;

  std::size_t most_tries_;
  std::chrono::milliseconds longest_;
  std::deque<Row> rows_;
  std::size_t failures_ = 0;
};

}  // namespace deltamatch::ingest
