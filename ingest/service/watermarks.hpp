// The event time up to which a stream of several partitions is complete.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "deltamatch/id.hpp"

namespace deltamatch::ingest {

/// The least, over the partitions that are not idle, of the largest time seen there; where all are idle the largest time seen
/// at all. A partition is idle once no record of it came for `idle_after`; one that never had a record holds the watermark
/// until then. Never goes back. Not thread-safe.
class Watermarks {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Watermarks(std::chrono::milliseconds idle_after, std::optional<Timestamp> start = std::nullopt)
      : idle_after_(idle_after), watermark_(start) {}

  /// Partitions are numbered from 0 in the order in which they open.
  void open(Clock::time_point now) { parts_.push_back({std::nullopt, now}); }
  /// A record of the partition, with the largest time that it bears.
  void see(std::size_t part, std::optional<Timestamp> time, Clock::time_point now);
  /// Brings the watermark up to date. O(partitions).
  std::optional<Timestamp> advance(Clock::time_point now);
  [[nodiscard]] std::optional<Timestamp> current() const noexcept { return watermark_; }

 private:
  struct Part {
    std::optional<Timestamp> largest;
    Clock::time_point seen;
  };

  std::chrono::milliseconds idle_after_;
  std::optional<Timestamp> watermark_;
  std::vector<Part> parts_;
};

}  // namespace deltamatch::ingest
