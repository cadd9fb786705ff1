// The way in: a file or standard input as a sequence of batches.
//
//   auto stream = open_stream(path, options);
//   const deltamatch::Upcoming upcoming = [&](const std::stop_token& stop) { return stream->upcoming(stop); };
//   PositionedBatch batch;
//   while (stream->next(batch)) {
//     const BatchResult result = engine.process(batch.updates, stream->on_reject(), sink, upcoming);
//     stream->settle(batch, result.rejects);
//   }
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/batch.hpp"
#include "deltamatch/id.hpp"
#include "deltamatch/update.hpp"
#include "ingest/batch/batcher.hpp"
#include "ingest/batch/refusals.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

inline constexpr std::size_t default_max_record = std::size_t{1} << 20;

struct StreamOptions {
  std::optional<Format> format;  ///< default: recognised by content
  CodecOptions codec;
  BatchLimits limits;
  std::optional<std::vector<Cut>> cuts;  ///< in place of the limits
  OnError on_error = OnError::fail;
  std::string dead_letters;                     ///< path of the dead-letter file; needed with OnError::dead_letter
  std::shared_ptr<DeadLetterSink> letters;      ///< in place of dead_letters: one sink that several streams share
  std::size_t max_record = default_max_record;  ///< bytes; a longer record is refused as too_long
  /// How far the time of one record may move the watermark on where those that follow do not bear it out (RecordReader), in
  /// microseconds; nothing: as far as it says.
  std::optional<Timestamp> max_ahead;
  Timestamp window = 0;     ///< of the engine, in microseconds; 0: none. It decides which times are doubtful
  bool watch_ids = false;   ///< also if the format has ids of one kind only: they are compared with another input's
  OptionSpelling spelling;  ///< of options that remedies name
  unsigned read_ahead = 1;  ///< batches decoded ahead in another thread; 0: decoded when asked for, in the caller's
};

/// A stream of batches. One thread calls it (progress() any thread).
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// Fills `batch` (its memory is reused), which is empty only where it is cut so. False at the end of the stream. Throws Error
  /// where the input cannot be read further; every batch before that point has been handed over.
  bool next(PositionedBatch& batch) { return next(batch, {}); }
  /// The same, but where `stop` says so while the batch is waited for, reading ends: what was read of the batch, whole records
  /// only, is the last one. `stop` is asked some twenty times a second, and not at all without read_ahead.
  virtual bool next(PositionedBatch& batch, const std::function<bool()>& stop) = 0;
  /// The batch that the following call of next will most likely give; see deltamatch::Upcoming. Any thread, while no other
  /// member but progress is called.
  virtual const UpdateBatch* upcoming(const std::stop_token& stop) = 0;
  /// To be called once per batch, after the engine took it: counts what was refused, by the codec or by the engine, and writes
  /// dead letters. With OnError::fail it throws Error with file:line, what and remedy if anything was.
  virtual void settle(const PositionedBatch& batch, std::span<const Reject> rejects) = 0;
  /// What to tell the engine.
  [[nodiscard]] virtual OnReject on_reject() const noexcept = 0;
  [[nodiscard]] virtual const RefusalCounters& refused() const noexcept = 0;
  /// How many records said something: those of settled batches and refused ones.
  [[nodiscard]] virtual std::uint64_t records() const noexcept = 0;
  /// Of the refused records the first with each reason, in the order in which they were settled.
  [[nodiscard]] virtual const std::vector<FirstRefusal>& first_refusals() const noexcept = 0;
  /// Ends reading and tells what was doubtful in what was read, in the order of the input: to be called once, when no further
  /// batch is wanted. After an error or an interrupt some of it may lie behind the last batch.
  [[nodiscard]] virtual std::vector<Warning> warnings() = 0;
  /// What was collected for them. To be looked at after that call.
  [[nodiscard]] virtual const Doubts& doubts() const noexcept = 0;
  [[nodiscard]] virtual Progress progress() const noexcept = 0;
  /// The format given or recognised; nothing for an empty stream of no given format.
  [[nodiscard]] virtual std::optional<Format> format() const noexcept = 0;
  /// Whether the input means its edges as directed: t/v/e never, jlg and mtx as the header says, csv with Gephi's column Type
  /// as that says, all others always.
  [[nodiscard]] virtual bool directed() const noexcept = 0;
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
};

/// Opens a file, or standard input for "-"; gz, xz and zst are recognised by content and unpacked. Throws Error where the file
/// cannot be read, where its format is not recognised, or (usage) where options do not fit it.
[[nodiscard]] std::unique_ptr<BatchSource> open_stream(const std::string& path, const StreamOptions& options = {});

/// The same for bytes in memory, which must outlive the stream; `name` stands for the file's in messages.
[[nodiscard]] std::unique_ptr<BatchSource> open_memory(std::string_view bytes, const std::string& name,
                                                       const StreamOptions& options = {});

}  // namespace deltamatch::ingest
