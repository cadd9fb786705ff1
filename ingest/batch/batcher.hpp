// Cuts a stream of records into batches, by count and by event time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/batch/kept_records.hpp"
#include "ingest/batch/record_reader.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// When a batch closes. Without any limit the whole stream is one batch.
struct BatchLimits {
  std::size_t max_updates = 0;  ///< 0: no limit
  /// Most microseconds between the least and the largest time of a batch. It closes before a record that would exceed them. 0:
  /// no limit.
  Timestamp max_span = 0;

  /// The same limits, but a span of at most a sixteenth of the window (0: no window).
  [[nodiscard]] BatchLimits within_window(Timestamp window) const noexcept;
};

/// A batch as another run cut it.
struct Cut {
  std::uint64_t records = 0;             ///< of the source, including those that are refused or mean nothing; may be 0
  bool sets_watermark = false;           ///< false: it is the largest time so far
  std::optional<Timestamp> watermark{};  ///< if stated; nothing: there is none yet
};

/// A record that no codec could read.
struct Refusal {
  std::size_t index = 0;  ///< number of updates of its batch before it
  Position position{};
  RejectReason reason{};
  std::string message{};
  std::string bytes{};       ///< the record, or its first bytes if it is too long
  std::uint64_t length = 0;  ///< its length in the source
};

/// A batch whose updates know their positions in the stream.
class PositionedBatch {
 public:
  UpdateBatch updates;

  /// Keeps the memory.
  void clear() noexcept;
  /// Holds back the records that could not be read and stand behind the first `count` updates, until `drop_first`.
  void hold_back(std::size_t count);
  /// Drops the first `count` updates, which the engine has taken, and the records that could not be read before them.
  void drop_first(std::size_t count) noexcept;
  /// The position of update `index` in the stream.
  [[nodiscard]] Position position(std::size_t index) const { return positions_.at(dropped_ + index); }
  /// The bytes of update `index`'s record. Empty unless the batch keeps records.
  [[nodiscard]] std::string_view record(std::size_t index) const { return kept_.value(dropped_ + index); }
  /// The records that could not be read, in order, if they are listed. They are not among the updates.
  [[nodiscard]] const std::vector<Refusal>& refusals() const noexcept { return refusals_; }
  /// Of those records, the first one in the stream for each reason, listed or not. Without its bytes.
  [[nodiscard]] const std::vector<Refusal>& first_refusals() const noexcept { return first_refusals_; }
  /// The number of records from which the updates come.
  [[nodiscard]] std::uint64_t records() const noexcept { return taken_; }
  /// The number of unreadable records by reason, listed or not.
  [[nodiscard]] const std::array<std::uint64_t, reject_reason_count>& refused() const noexcept { return refused_; }

 private:
  friend class Batcher;
  std::vector<Position> positions_;
  std::size_t dropped_ = 0;  // updates, which still have their positions and bytes
  std::vector<Refusal> refusals_;
  std::vector<Refusal> first_refusals_;
  std::uint64_t taken_ = 0;
  std::array<std::uint64_t, reject_reason_count> refused_{};
  // The same for what is held back.
  std::vector<Refusal> later_refusals_;
  std::vector<Refusal> later_first_refusals_;
  std::uint64_t later_taken_ = 0;
  std::array<std::uint64_t, reject_reason_count> later_refused_{};
  KeptRecords kept_;
};

/// What a batcher does with records that cannot be read.
/// - stop: list the record, and end the batch and the stream.
/// - count: count the record.
/// - list: count and list the record, and keep the bytes of every record.
///
/// A batch also closes at max_listed listed records, so that a flood of them does not fill the memory.
enum class OnUnreadable : std::uint8_t { stop, count, list };
inline constexpr std::size_t max_listed = std::size_t{1} << 16;

class TimeSpan;

/// Fills batches from a source through a codec. Both must outlive it.
class Batcher {
 public:
  /// With `cuts`, only they say where batches end. Each cut is a batch, even if it is empty. `max_ahead`: see RecordReader.
  Batcher(RecordSource& source, Codec& codec, Doubts& doubts, BatchLimits limits, OnUnreadable on_unreadable,
          std::optional<std::vector<Cut>> cuts = std::nullopt, std::optional<Timestamp> max_ahead = std::nullopt)
      : source_(source),
        reader_(source, codec, doubts, max_ahead, on_unreadable == OnUnreadable::stop),
        limits_(limits),
        on_unreadable_(on_unreadable),
        cuts_(std::move(cuts)) {}

  /// Clears `batch` and fills it. Returns false at the end of the stream, if nothing is left to hand over. If the source fails,
  /// hands over what was read before; the next call throws. Throws Error if the stream ends within a cut, or continues after
  /// the last one. No part of such a batch is handed over.
  bool fill(PositionedBatch& batch);

  /// Ends the stream with the records that have been read whole. No part of a cut is handed over. Any thread may call it. Call
  /// it before the source is cancelled.
  void stop() noexcept { reader_.stop(); }
  [[nodiscard]] bool stopped() const noexcept { return reader_.stopped(); }

 private:
  bool read(PositionedBatch& batch);
  bool fits(const PositionedBatch& batch, TimeSpan& span) const;
  void add(PositionedBatch& batch);
  void refuse(PositionedBatch& batch);
  void fill_to_limits(PositionedBatch& batch);
  bool fill_cut(PositionedBatch& batch);

  RecordSource& source_;
  RecordReader reader_;
  BatchLimits limits_;
  OnUnreadable on_unreadable_;
  std::optional<std::vector<Cut>> cuts_;
  std::size_t next_cut_ = 0;
  DecodedRecord reading_;                         // the record read last
  std::span<const Update> held_;                  // its updates that are not yet in a batch
  std::array<bool, reject_reason_count> seen_{};  // reasons for which a record was refused
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace deltamatch::ingest
