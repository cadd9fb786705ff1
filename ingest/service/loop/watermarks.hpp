// The event time up to which a stream of several partitions is complete.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "deltamatch/id.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

/// The partition was at its end each time its brokers were asked from `since` to `last`, and no record came in between.
struct IdleEvidence {
  std::chrono::steady_clock::time_point since;
  std::chrono::steady_clock::time_point last;
};

/// What several partitions contribute together.
struct WatermarkLevel {
  bool held = false;
  std::optional<Timestamp> least{};    ///< of the largest times where the watermark is held
  std::optional<Timestamp> largest{};  ///< of all

  [[nodiscard]] static WatermarkLevel of(const PartitionTime& part) noexcept;
  [[nodiscard]] WatermarkLevel with(const WatermarkLevel& other) const noexcept;
  [[nodiscard]] std::optional<Timestamp> watermark() const noexcept { return held ? least : largest; }
};

/// Computes the watermark of several partitions. It is the smallest value, among the partitions that hold it, of the largest
/// time seen there. If no partition holds it, it is the largest time seen at all. It never goes back.
///
/// A partition holds the watermark until it is idle, even if it has had no record yet. It is idle if no record came for
/// `idle_after`, while its brokers said repeatedly that there are no more. If a broker hangs or the partition is behind, that
/// proves nothing, and the partition is not idle. A partition whose records have no times holds the watermark only until it is
/// read to its end. Not thread-safe.
class Watermarks {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Watermarks(std::chrono::milliseconds idle_after, std::optional<Timestamp> start = std::nullopt)
      : idle_after_(idle_after), watermark_(start) {}

  /// How often to ask brokers for the ends of partitions, and how long an answer is valid.
  [[nodiscard]] static std::chrono::milliseconds ask_every(std::chrono::milliseconds idle_after);
  [[nodiscard]] static std::chrono::milliseconds answer_counts(std::chrono::milliseconds idle_after);

  /// Adds a partition. Partitions are numbered from 0 in the order of these calls.
  /// `largest` is the largest time that an earlier run saw there.
  void open(Clock::time_point now, std::optional<Timestamp> largest = std::nullopt) {
    Part& part = parts_.emplace_back();
    part.seen = now;
    part.largest = largest;
  }
  /// Sets what is known of a partition's end. Nothing: it is not known to be read to its end.
  void at_end(std::size_t part, const std::optional<IdleEvidence>& end) { parts_[part].end = end; }
  /// A partition that is gone does not hold the watermark until it returns.
  void leave(std::size_t part) { parts_[part].gone = true; }
  void resume(std::size_t part, Clock::time_point now);

  /// Notes a record of the partition, with the largest time in it.
  void see(std::size_t part, std::optional<Timestamp> time, Clock::time_point now);
  /// The watermark if idleness is judged as of `now`. O(partitions).
  [[nodiscard]] std::optional<Timestamp> at(Clock::time_point now) const;
  /// Moves the watermark to at(now).
  std::optional<Timestamp> advance(Clock::time_point now) { return watermark_ = at(now); }
  void set(std::optional<Timestamp> watermark) noexcept { watermark_ = watermark; }
  [[nodiscard]] std::optional<Timestamp> current() const noexcept { return watermark_; }
  /// What each partition contributes if idleness is judged as of `now`, by number.
  [[nodiscard]] std::vector<PartitionTime> times(Clock::time_point now) const;

  /// Sets the bound for passes(). From here on, idleness is judged as of `now`. O(partitions).
  void limit(std::optional<Timestamp> bound, Clock::time_point now);
  /// Whether a record would move the watermark beyond the bound. Without a bound (nothing), any watermark is beyond it. O(1).
  [[nodiscard]] bool passes(std::size_t part, std::optional<Timestamp> time) const;

 private:
  struct Part {
    std::optional<Timestamp> largest;
    Clock::time_point seen;
    std::optional<IdleEvidence> end;
    bool spoke = false;
    bool gone = false;
    bool below = false;  // holds the watermark at or below the bound
  };

  [[nodiscard]] bool holds(const Part& part, Clock::time_point now) const;
  void judge(Part& part);

  std::chrono::milliseconds idle_after_;
  std::optional<Timestamp> watermark_;
  std::optional<Timestamp> bound_;
  Clock::time_point judged_;
  std::size_t below_ = 0;  // number of parts that are below
  std::vector<Part> parts_;
};

}  // namespace deltamatch::ingest
