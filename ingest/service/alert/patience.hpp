// When what cannot be delivered is given up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace deltamatch::ingest {

/// Counts the tries that have failed in a row, for each batch since it came: batches are delivered in order, so a try that
/// fails holds up all that wait. Otherwise each of them would have its tries only after those of the ones before it, and while
/// a server is gone ever more would wait.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  /// So many tries, or tries for so long, are enough; 0: never.
  Patience(std::size_t most_tries, std::chrono::milliseconds longest) : most_tries_(most_tries), longest_(longest) {}

  /// A try has failed, and batches up to `latest` waited for it. `latest` and `now` never fall.
  void failed(std::uint64_t latest, Clock::time_point now);
  /// A try has not: the row ends.
  void restored() noexcept {
    rows_.clear();
    failures_ = 0;
  }
  /// Whether the batch has waited for enough tries, or for long enough since the first of them. O(log tries).
  [[nodiscard]] bool over(std::uint64_t batch, Clock::time_point now) const;
  /// The tries that it has waited for. O(log tries).
  [[nodiscard]] std::size_t tries(std::uint64_t batch) const;

 private:
  struct Row {
    std::uint64_t latest;  ///< the newest batch that all of its tries count for
    std::size_t before;    ///< failures before its first one
    Clock::time_point since;
  };
  [[nodiscard]] bool over(const Row& row, Clock::time_point now) const;

  std::size_t most_tries_;
  std::chrono::milliseconds longest_;
  std::deque<Row> rows_;
  std::size_t failures_ = 0;
};

}  // namespace deltamatch::ingest
