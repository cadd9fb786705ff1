// Reads a file or standard input as a sequence of batches.
//
//   auto stream = open_stream(path, options);
//   const deltamatch::Upcoming upcoming = [&](const std::stop_token& stop) { return stream->upcoming(stop); };
//   PositionedBatch batch;
//   while (stream->next(batch)) {
//     const BatchResult result = engine.process(batch.updates, stream->on_reject(), sink, upcoming);
//     stream->settle(batch, result.rejects);
//   }
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/attribute.hpp"
#include "deltamatch/batch.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/id.hpp"
#include "deltamatch/update.hpp"
#include "ingest/batch/batch_source.hpp"
#include "ingest/batch/batcher.hpp"
#include "ingest/batch/refusals.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/source/byte_buffer.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

inline constexpr std::size_t default_max_record = std::size_t{1} << 20;

struct ReadOptions {
  std::optional<Format> format{};  ///< default: recognised by content
  CodecOptions codec{};
  BatchLimits limits{};
  std::optional<std::vector<Cut>> cuts{};  ///< in place of the limits
  OnError on_error = OnError::fail;
  std::string dead_letters{};                   ///< path of the dead-letter file; needed with OnError::dead_letter
  std::shared_ptr<DeadLetterSink> letters{};    ///< instead of dead_letters: a sink that several streams share
  std::size_t max_record = default_max_record;  ///< bytes; a longer record is refused as too_long
  /// How far the time of one record may move the watermark if the records after it do not confirm it (RecordReader). In
  /// microseconds; nothing: without limit.
  std::optional<Timestamp> max_ahead{};
  Timestamp window = 0;       ///< of the engine, in microseconds; 0: none. It decides which times are doubtful
  bool watch_ids = false;     ///< also if the format has ids of one kind only, to compare them with another input's
  OptionSpelling spelling{};  ///< of the options that remedies name
  /// The command that converts the input, as far as it does not depend on what is in it. A remedy may complete it. Empty: the
  /// input is not converted.
  std::string conversion{};
  unsigned read_ahead = 1;  ///< batches decoded ahead in another thread; 0: decoded on request in the caller's thread
};

/// The batches of a file. A batch is empty only if it was cut so. Without read_ahead, a batch is decoded in next(), which waits
/// for it and asks nobody whether to stop. It is a BatchSource. Any thread may also call progress().
class UpdateStream {
 public:
  virtual ~UpdateStream() = default;
  UpdateStream() = default;
  UpdateStream(const UpdateStream&) = delete;
  UpdateStream& operator=(const UpdateStream&) = delete;

  /// Waits for the next batch, as next_batch() does. Returns false at the end.
  bool next(PositionedBatch& batch, const std::function<bool()>& stop = {}) { return next_batch(*this, batch, stop); }
  /// Waits up to `timeout` for the next batch, and exchanges `batch` for it. Returns at once if wake() was called. At the end,
  /// it returns Arrival::ended each time. Throws Error if the input cannot be read further, after every batch before that
  /// point.
  virtual Arrival next_within(PositionedBatch& batch, std::chrono::milliseconds timeout) = 0;
  /// Waits for the updates that the next call will most likely return, and returns them. They stay as they are until that call.
  /// Null if `stop` is requested, if nothing more comes, or without read_ahead. Any thread may call it between two calls.
  virtual const UpdateBatch* upcoming(const std::stop_token& stop) = 0;
  /// Ends reading. The complete records read so far are the last batch. Any thread may call it, more than once.
  virtual void stop() = 0;
  /// Ends a next_within() that waits, or else the next one that would wait. Any thread may call it.
  virtual void wake() = 0;
  /// Call it once for each batch, after the engine took it. Counts the records that the codec or the engine refused, and writes
  /// dead letters. With OnError::fail it throws Error, with file:line, fault and remedy, if any was refused.
  virtual void settle(const PositionedBatch& batch, std::span<const Reject> rejects) = 0;
  /// The policy to give to the engine.
  [[nodiscard]] virtual OnReject on_reject() const noexcept = 0;
  [[nodiscard]] virtual const RefusalCounters& refused() const noexcept = 0;
  /// The number of records that mean something: those of settled batches, and refused ones.
  [[nodiscard]] virtual std::uint64_t records() const noexcept = 0;
  /// The first refused record for each reason, in the order in which they were settled.
  [[nodiscard]] virtual const std::vector<FirstRefusal>& first_refusals() const noexcept = 0;
  /// Ends reading and returns the doubts about what was read, in the order of the input. Call it once, when no further batch is
  /// wanted. After an error or an interrupt, some doubts may lie behind the last batch.
  [[nodiscard]] virtual std::vector<Warning> warnings() = 0;
  /// The doubts collected for warnings(). Use it after that call.
  [[nodiscard]] virtual const Doubts& doubts() const noexcept = 0;
  /// What to do if no edge has a time and a query reads times. Empty if the option `columns` says that there is none. Use it
  /// after warnings().
  [[nodiscard]] virtual std::string advice_on_times() const = 0;
  /// What to do if no edge has a time, and a column or field that is not read seems to hold times. Empty if none does. Use it
  /// after warnings().
  [[nodiscard]] virtual std::string advice_on_unread_times() const = 0;
  /// "file:line" or similar, for messages.
  [[nodiscard]] virtual std::string where(Position position) const = 0;
  [[nodiscard]] virtual Progress progress() const noexcept = 0;
  /// The format given or recognised. Nothing for an empty stream without a given format.
  [[nodiscard]] virtual std::optional<Format> format() const noexcept = 0;
  /// Whether the input's edges are directed. t/v/e: never. jlg and mtx: as the header says. csv with Gephi's column Type: as
  /// that says. All others: always.
  [[nodiscard]] virtual bool directed() const noexcept = 0;
  /// Whether the input itself says that its edges have no direction. It does not if its format leaves that open (t/v/e).
  [[nodiscard]] virtual bool says_undirected() const noexcept = 0;
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
};
static_assert(BatchSource<UpdateStream, PositionedBatch>);

/// The first refused record, which ends a run with OnError::fail.
class RecordError final : public Error {
 public:
  RecordError(std::string_view where, std::string_view what, std::string_view remedy, Position at, RejectReason reason)
      : Error(where, what, remedy), at_(at), reason_(reason), where_(where), what_(what), remedy_(remedy) {}

  [[nodiscard]] Position at() const noexcept { return at_; }
  [[nodiscard]] RejectReason reason() const noexcept { return reason_; }
  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  /// What is wrong, without the place and the remedy.
  [[nodiscard]] const std::string& fault() const noexcept { return what_; }
  [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }

 private:
  Position at_;
  RejectReason reason_;
  std::string where_;
  std::string what_;
  std::string remedy_;
};

/// An open input of which nothing has been read yet. What it says of itself may decide how all inputs are read.
struct Input {
  ByteBuffer bytes;
  std::optional<Schema> schema;  ///< that a binary stream states
};

/// Opens a file, or standard input for "-". Recognises gz, xz and zst by content and unpacks them. Throws Error if the file
/// cannot be read.
[[nodiscard]] Input open_input(const std::string& path);

/// The same for bytes in memory, which must outlive the input. `name` stands for the file's name in messages.
[[nodiscard]] Input memory_input(std::string_view bytes, const std::string& name);

/// Reads an input. Throws Error if its format is not recognised, or if it states another schema than the options. Throws
/// Error(usage) if options do not fit it.
[[nodiscard]] std::unique_ptr<UpdateStream> open_stream(Input input, const ReadOptions& options = {});
[[nodiscard]] std::unique_ptr<UpdateStream> open_stream(const std::string& path, const ReadOptions& options = {});
[[nodiscard]] std::unique_ptr<UpdateStream> open_memory(std::string_view bytes, const std::string& name,
                                                        const ReadOptions& options = {});

/// Makes the codec of records that are no file's. The options have the doubts of the stream.
using MakeCodec = std::function<std::unique_ptr<Codec>(const CodecOptions& options)>;
/// Reads records that come from somewhere else than from a file, such as the rows of a table. Of the options, the format means
/// nothing. Dead letters have the bytes of records, which those of a table lack. Edges are directed.
[[nodiscard]] std::unique_ptr<UpdateStream> open_records(std::string name, std::unique_ptr<RecordSource> source,
                                                         const MakeCodec& make_codec, const ReadOptions& options = {});

}  // namespace deltamatch::ingest
