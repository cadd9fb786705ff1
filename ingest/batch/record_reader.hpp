// Reads records one by one, and looks ahead where a time may be far ahead of all others.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// What a record says: its updates (none: a comment, a blank line, a header), or why it is refused.
struct Reading {
  Record record;
  std::span<const Update> updates;
  std::optional<RejectReason> refused;
  std::string_view message;
  bool ahead = false;  ///< its time lies far ahead of the rest: the watermark is not to follow

  /// The largest time that it bears.
  [[nodiscard]] std::optional<Timestamp> time() const noexcept;
};

/// A record's time lies far ahead where it would move the watermark on by more than `max_ahead` and lies more than that above
/// the time of each of the next 100 records. Where fewer follow it is held against the last 100 of the input, of which there
/// must be two: then it must also be further above them than any two of them lie apart that follow one another in time.
/// Of several that are wrong none bears out another. Where a time would move the watermark on ten times as far as each of the
/// last 100 times did (where there are not two of them: beyond 2100), it lies far ahead also if fewer than a quarter of those
/// that follow are no lower, as long as all these stand out above the bulk, the rest (see lead). Where they stand out by more
/// than a century, fewer than half will do; at the end of the input that is half of the last 100.
/// Such a record is told of (time_ahead). What is far ahead depends on the records alone, not on when they are asked for. Only
/// while one may be are records read in advance, and then they are copied.
class RecordReader {
 public:
  static constexpr std::size_t horizon = 100;

  /// `max_ahead` in microseconds; nothing: no time is far ahead. `stops`: the input ends with the first record that is refused.
  /// All that is referred to outlives the reader.
  RecordReader(RecordSource& source, Codec& codec, Doubts& doubts, std::optional<Timestamp> max_ahead, bool stops)
      : source_(source), codec_(codec), doubts_(doubts), max_ahead_(max_ahead), stops_(stops) {}

  /// False at the end. What is read holds until the next call. Throws Error where the source fails and where no later record
  /// can be read; all records before that have been given then.
  bool next(Reading& reading);

  /// Ends the input with what has been read whole: what the source still gives or throws is not looked at. Any thread; to be
  /// called before the source is cancelled, so that no part of a record is taken for the whole.
  void stop() noexcept { stopped_.store(true); }
  [[nodiscard]] bool stopped() const noexcept { return stopped_.load(); }

 private:
  /// A record that was read in advance.
  struct Held {
    std::string bytes;
    std::string message;
    UpdateBatch updates;
    Reading reading;  // of what is held here
    std::optional<Timestamp> time;
  };

  bool take(Record& record);
  bool read(Reading& reading);
  bool read_in_advance();
  /// Whether the watermark would go further than by max_ahead. It always does with the first time.
  [[nodiscard]] bool leaps(std::optional<Timestamp> time) const noexcept {
    return time && (passed_ == 0 || *time > calm_) && max_ahead_;
  }
  [[nodiscard]] bool far_above(Timestamp time, Timestamp other) const noexcept;
  bool is_ahead();
  [[nodiscard]] bool is_unlike_others(Timestamp time) const noexcept;
  [[nodiscard]] bool is_ahead_at_the_end(Timestamp time, std::vector<Timestamp> following, std::size_t near) const;
  [[nodiscard]] std::uint64_t lead(Timestamp time, std::vector<Timestamp>& rest) const;
  void report_ahead(const Held& held);
  void pass(Timestamp time) noexcept;
  void hold(const Reading& reading);

  RecordSource& source_;
  Codec& codec_;
  Doubts& doubts_;
  std::optional<Timestamp> max_ahead_;
  bool stops_;
  std::atomic<bool> stopped_ = false;
  std::deque<Held> held_;  // the first is the record given last, where given_ says so
  bool given_ = false;
  bool ended_ = false;
  std::string message_;                      // of a record that could not even be decoded
  std::exception_ptr failure_;               // of what was read in advance
  static constexpr std::size_t ring = 128;   // a power of two, not below horizon
  Timestamp watermark_ = 0;                  // the largest time given that is not ahead
  Timestamp calm_ = 0;                       // no time up to here leaps
  std::array<Timestamp, ring> last_{};       // times given last that are not ahead, in turn
  std::array<std::uint64_t, ring> steps_{};  // how far each of them moved the watermark on
  std::size_t passed_ = 0;                   // how many there were
};

}  // namespace deltamatch::ingest
