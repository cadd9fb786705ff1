// Reads records one by one. Looks ahead if a time may be far ahead of all others.
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

/// The largest time of a record's updates. Nothing if none has a time.
[[nodiscard]] std::optional<Timestamp> largest_time(std::span<const Update> updates) noexcept;

/// What a record says: its updates (none for a comment, a blank line or a header), or why it is refused.
struct DecodedRecord {
  Record record;
  std::span<const Update> updates;
  std::optional<RejectReason> refused;
  std::string_view message;
  bool ahead = false;  ///< its time lies far ahead of the rest, so the watermark must not follow

  /// The largest time of its updates.
  [[nodiscard]] std::optional<Timestamp> time() const noexcept { return largest_time(updates); }
};

/// Reads records and finds times that lie far ahead of the rest. Such a time would move the watermark on by more than
/// `max_ahead`, and one of these must hold:
/// - It lies more than `max_ahead` above each time of the next 100 records.
/// - Fewer records follow. Then it is compared with the last 100 of the input, of which there must be two. It must also lie
///   further above them than any two of them that are neighbours in time lie apart.
/// - It is one of several wrong times, which do not confirm each other. It would move the watermark on ten times as far as each
///   of the last 100 times did. (If there are not two of them, it lies beyond 2100.) Fewer than a quarter of the following
///   times are as high, and all of these stand out above the rest, the bulk (see lead). If they stand out by more than a
///   century, fewer than half are enough. At the end of the input that is half of the last 100.
///
/// Such a record is reported (time_ahead). What is far ahead depends on the records alone, not on when they are asked for.
/// Records are read in advance, and then copied, only while one may be far ahead.
class RecordReader {
 public:
  static constexpr std::size_t horizon = 100;

  /// `max_ahead` is in microseconds; nothing: no time is far ahead. `stops`: the input ends with the first refused record. All
  /// references must outlive the reader.
  RecordReader(RecordSource& source, Codec& codec, Doubts& doubts, std::optional<Timestamp> max_ahead, bool stops)
      : source_(source), codec_(codec), doubts_(doubts), max_ahead_(max_ahead), stops_(stops) {}

  /// Returns false at the end. The record is valid until the next call. Throws Error if the source fails, or if no later
  /// record can be read. All records before that have been given by then.
  bool next(DecodedRecord& reading);

  /// Ends the input with the records that have been read whole. Ignores what the source still gives or throws. Any thread may
  /// call it. Call it before the source is cancelled, so that a part of a record is not read as the whole.
  void stop() noexcept { stopped_.store(true); }
  [[nodiscard]] bool stopped() const noexcept { return stopped_.load(); }

 private:
  /// A record that was read in advance.
  struct Held {
    std::string bytes;
    std::string message;
    UpdateBatch updates;
    DecodedRecord reading;  // refers to the members above
    std::optional<Timestamp> time;
  };

  bool take(Record& record);
  bool read(DecodedRecord& reading);
  bool read_in_advance();
  /// Whether the watermark would move further than by max_ahead. It always does with the first time.
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
  void hold(const DecodedRecord& reading);

  RecordSource& source_;
  Codec& codec_;
  Doubts& doubts_;
  std::optional<Timestamp> max_ahead_;
  bool stops_;
  std::atomic<bool> stopped_ = false;
  std::deque<Held> held_;  // if given_, the first one is the record given last
  bool given_ = false;
  bool ended_ = false;
  std::string message_;                      // about a record that could not even be decoded
  std::exception_ptr failure_;               // that occurred while reading in advance
  static constexpr std::size_t ring = 128;   // a power of two, at least horizon
  Timestamp watermark_ = 0;                  // the largest time given that is not ahead
  Timestamp calm_ = 0;                       // no time up to here leaps
  std::array<Timestamp, ring> last_{};       // the last times given that are not ahead, in turn
  std::array<std::uint64_t, ring> steps_{};  // how far each of them moved the watermark
  std::size_t passed_ = 0;                   // how many there were
};

}  // namespace deltamatch::ingest
