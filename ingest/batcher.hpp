// Cuts a stream of records into batches, by count and by event time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// When a batch closes. With neither limit the whole stream is one batch.
struct BatchLimits {
  std::size_t max_updates = 0;  ///< 0: no limit
  /// Microseconds between the least and the largest time of a batch; it closes before the record that would exceed it. 0: no
  /// limit.
  Timestamp max_span = 0;

  /// The same limits, and no span beyond a sixteenth of the window (0: no window).
  [[nodiscard]] BatchLimits within_window(Timestamp window) const noexcept;
};

/// A refused record.
struct Refusal {
  Position position;
  RejectReason reason{};
  std::string message;
  std::string bytes;         ///< the record, where the batch keeps records
  std::uint64_t length = 0;  ///< its length in the source
};

/// A batch whose updates know where they came from.
class PositionedBatch {
 public:
  UpdateBatch updates;

  void clear() noexcept;
  /// Where update `index` stands in the stream.
  [[nodiscard]] Position position(std::size_t index) const { return positions_.at(index); }
  /// The bytes of update `index`'s record; empty unless the batch keeps records.
  [[nodiscard]] std::string_view record(std::size_t index) const;
  /// Records that could not be read, in order; they are not among the updates. With `fail` at most one: it ended the batch.
  [[nodiscard]] const std::vector<Refusal>& refusals() const noexcept { return refusals_; }

 private:
  friend class Batcher;
  std::vector<Position> positions_;
  std::vector<Refusal> refusals_;
  std::string records_;                   // the kept records, one after the other
  std::vector<std::size_t> record_ends_;  // per update; empty unless records are kept
};

/// Fills batches from a source through a codec. Both must outlive it.
class Batcher {
 public:
  struct Options {
    BatchLimits limits;
    bool stop_at_refusal = false;  ///< a refused record ends its batch, and the stream
    bool keep_records = false;     ///< batches hold the records' bytes
  };
  Batcher(RecordSource& source, Codec& codec, const Options& options) : source_(source), codec_(codec), options_(options) {}

  /// Clears `batch` and fills it. False at the end of the stream, when there is nothing left to hand over.
  bool fill(PositionedBatch& batch);

 private:
  struct Span;
  bool take(PositionedBatch& batch, Span& span);
  void refuse(PositionedBatch& batch, RejectReason reason, std::string_view message) const;

  RecordSource& source_;
  Codec& codec_;
  Options options_;
  Record record_;
  Decoded held_;  // read, but it belongs to the next batch
  bool has_held_ = false;
  bool ended_ = false;
};

}  // namespace deltamatch::ingest
