// The event time up to which a stream of several partitions is complete.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "deltamatch/id.hpp"

namespace deltamatch::ingest {

/// A partition was read to its end whenever its brokers were asked from `since` to `last`, and nothing came meanwhile.
struct AtEnd {
  std::chrono::steady_clock::time_point since;
  std::chrono::steady_clock::time_point last;
};

/// The least, over the partitions that hold it, of the largest time seen there; where none does, the largest time seen at all.
/// Never goes back. A partition holds it, be it by having had no record yet, until it is idle: for `idle_after` nothing came of
/// it, while its brokers said again and again that nothing more is there. What says nothing, a broker that hangs or a partition
/// that is behind, is not idle. Records without times let a partition hold it only until it is read to its end. Not
/// thread-safe.
class Watermarks {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Watermarks(std::chrono::milliseconds idle_after, std::optional<Timestamp> start = std::nullopt)
      : idle_after_(idle_after), watermark_(start) {}

  /// How often brokers are to be asked for the ends of partitions, and how long their answer counts.
  [[nodiscard]] static std::chrono::milliseconds ask_every(std::chrono::milliseconds idle_after);
  [[nodiscard]] static std::chrono::milliseconds answer_counts(std::chrono::milliseconds idle_after);

  /// Partitions are numbered from 0 in the order in which they open.
  void open(Clock::time_point now) { parts_.emplace_back().seen = now; }
  /// What is known of a partition's end; nothing: it is not known to be read to it.
  void at_end(std::size_t part, const std::optional<AtEnd>& end) { parts_[part].end = end; }
  /// A partition that is gone holds nothing until it is back.
  void leave(std::size_t part) { parts_[part].gone = true; }
  void resume(std::size_t part, Clock::time_point now);

  /// A record of the partition, with the largest time that it bears.
  void see(std::size_t part, std::optional<Timestamp> time, Clock::time_point now);
  /// What the watermark comes to where idleness is judged as of `now`. O(partitions).
  [[nodiscard]] std::optional<Timestamp> at(Clock::time_point now) const;
  /// Brings the watermark there.
  std::optional<Timestamp> advance(Clock::time_point now) { return watermark_ = at(now); }
  [[nodiscard]] std::optional<Timestamp> current() const noexcept { return watermark_; }

  /// Sets what `passes` asks for, with idleness judged as of `now` from here on. O(partitions).
  void limit(std::optional<Timestamp> bound, Clock::time_point now);
  /// Whether a record would bring the watermark beyond the bound; without one (nothing) any watermark is. O(1).
  [[nodiscard]] bool passes(std::size_t part, std::optional<Timestamp> time) const;

 private:
  struct Part {
    std::optional<Timestamp> largest;
    Clock::time_point seen;
    std::optional<AtEnd> end;
    bool spoke = false;
    bool gone = false;
    bool below = false;  // it holds the watermark at or below the bound
  };

  [[nodiscard]] bool holds(const Part& part, Clock::time_point now) const;
  void judge(Part& part);

  std::chrono::milliseconds idle_after_;
  std::optional<Timestamp> watermark_;
  std::optional<Timestamp> bound_;
  Clock::time_point judged_;
  std::size_t below_ = 0;  // how many parts are
  std::vector<Part> parts_;
};

}  // namespace deltamatch::ingest
