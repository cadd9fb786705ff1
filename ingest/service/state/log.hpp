// The log of batches. Recovery replays it, and sinks outside Kafka get their alerts from it. docs/reference/formats.md ("State
// directory") describes its bytes.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/id.hpp"
#include "deltamatch/update.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

/// One alert, as AlertSink::write takes it. `id` is empty for a dead letter. When writing, the views point into the caller's
/// memory; when reading, into the reader's.
struct LoggedAlert {
  std::string_view id;
  std::string_view text;
  friend bool operator==(const LoggedAlert&, const LoggedAlert&) = default;
};

/// The alerts of a batch for one sink, in order.
struct SinkAlerts {
  std::string sink;
  std::vector<LoggedAlert> alerts;
};

/// The alerts of a batch for one sink, if they are too many for memory.
struct StreamedAlerts {
  std::string sink;
  bool in_transaction =
      false;  ///< for a sink in Kafka; the log keeps its alerts until the batch is committed, and nobody else waits for them
  std::uint64_t alerts = 0;
  /// Hands out `alerts` alerts in order. Empty when the log is read; use for_each_streamed then.
  std::function<void(const std::function<void(std::string_view alert)>& take)> for_each;
};

/// The position of a sink: its alerts of all batches up to `batch` are delivered, and `position` is the result of
/// AlertSink::commit.
struct Delivered {
  std::string sink;
  std::uint64_t batch = 0;
  std::string position;
  friend auto operator<=>(const Delivered&, const Delivered&) = default;
};

/// The range of batches that a log lacks, [from, up_to]. It may be empty.
struct LogBreak {
  std::uint64_t from = 1;
  std::uint64_t up_to = 0;
  [[nodiscard]] bool empty() const noexcept { return from > up_to; }
};

struct LogOptions {
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;  ///< a longer segment gets no more batches
  int (*sync)(int descriptor) = ::fdatasync;              ///< tests make it fail
};

/// Appends to a log. Any thread may call any member. Only one Log at a time may exist per folder; StateDirectory ensures that.
class Log {
 public:
  /// Opens the log in `folder` to continue after the batch `last`. Drops later entries and a torn end, but keeps the positions
  /// of sinks. `last` need not be in the log, because a snapshot may have taken recovery further. Creates a log if there is
  /// none. `fingerprint` has 32 hexadecimal digits (StateDirectory::fingerprint). Throws Error.
  Log(std::filesystem::path folder, std::string fingerprint, std::uint64_t last, const LogOptions& options = {});
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Appends the batch mark.batch, which must be last_batch() + 1. mark.watermark is the engine's watermark after the batch.
  /// `updates` are those given to the engine; refused ones may be left out. `watermark` is their UpdateBatch::watermark(), if
  /// any, and `steps` their UpdateBatch::steps(). Sinks without alerts may be left out. `streamed` holds sinks that are not in
  /// `alerts`. Their alerts are written in pieces of 1 MiB, so neither writing nor reading needs more memory. Not durable
  /// before sync().
  ///
  /// Throws Error if the batch cannot be written completely (a full disk). The log is then as it was before. If it cannot be
  /// restored, every later call throws.
  void append(const CommitPoint& mark, std::span<const Update> updates, std::optional<Timestamp> watermark,
              std::span<const SinkAlerts> alerts, std::span<const StreamedAlerts> streamed = {},
              std::optional<std::span<const WatermarkStep>> steps = {});

  /// Notes the position of a sink. Durable with the next sync(). If the note is lost, later batches are delivered again from
  /// the position noted before. For a sink that no longer exists, it says that nobody waits for its alerts. Throws as append()
  /// does.
  void delivered(const Delivered& delivered);

  /// When this returns, everything appended before is on disk. Throws Error if syncing fails. It is then unknown what is on
  /// disk, so every later call throws, and the process must restart.
  void sync();

  /// Removes segments that hold only batches before both `batch` and undelivered_from(). The newest segment stays.
  void drop_before(std::uint64_t batch);

  [[nodiscard]] std::uint64_t last_batch() const;
  /// The first batch whose alerts a sink may wait for. A LogReader has to read alerts from there.
  [[nodiscard]] std::uint64_t undelivered_from() const;
  /// The positions of all sinks that ever had an alert, by name. A sink's position is the last batch, or the batch before the
  /// first alert that it waits for. It is unknown what lost() batches had for a sink. So its position is before them until a
  /// later one is noted.
  [[nodiscard]] std::vector<Delivered> positions() const;
  /// The batches before `last` that the constructor did not find: none, or those from a damage on.
  [[nodiscard]] LogBreak lost() const;
  /// The size of all segments in bytes.
  [[nodiscard]] std::uint64_t bytes() const;
  /// The size in bytes of the segments that hold batches after this one.
  [[nodiscard]] std::uint64_t bytes_behind(std::uint64_t batch) const;
  /// The number of bytes that the constructor dropped.
  [[nodiscard]] std::uint64_t dropped_bytes() const noexcept;
  /// The number of bytes that this object appended.
  [[nodiscard]] std::uint64_t appended_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A batch as it was appended. Valid until the reader's next call of next().
struct LoggedBatch {
  CommitPoint mark;
  UpdateBatch updates;                   ///< empty if not wanted, except for the watermark, which may come from the mark
  std::vector<SinkAlerts> alerts;        ///< empty if not wanted
  std::vector<StreamedAlerts> streamed;  ///< likewise, and without for_each
};

/// A piece of the streamed alerts of a batch that follows. Valid until the reader's next call of next().
struct LoggedPiece {
  std::uint64_t batch = 0;
  std::string_view sink;
  std::vector<std::string_view> alerts;
};

/// Reads a log in the order in which it was appended. One thread calls it, while a Log may append. Trusts nothing: bytes are
/// used only after their checksum was verified, and memory is bounded by the bytes in the file.
class LogReader {
 public:
  enum class Entry : std::uint8_t { batch, delivered, piece, end };

  struct Wanted {
    std::uint64_t updates_from;  ///< the first batch whose updates are wanted
    std::uint64_t alerts_from;   ///< the first batch whose alerts are wanted
    bool pieces = false;         ///< whether pieces of streamed alerts are entries; otherwise they are skipped
  };
  static constexpr std::uint64_t none = UINT64_MAX;

  /// Begins with the segment that holds the smaller of the wanted batches, or with the oldest segment. Skips earlier batches of
  /// that segment. It and next() throw Error if a segment belongs to another configuration or has another version.
  LogReader(std::filesystem::path folder, std::string fingerprint, Wanted wanted);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// The next entry. After `end` it may be called again when more was appended. While a Log appends, the caller must stop after
  /// the last batch that it knows to be committed. Each segment begins with the positions of the sinks.
  [[nodiscard]] Entry next();
  [[nodiscard]] const LoggedBatch& batch() const noexcept;
  [[nodiscard]] const Delivered& delivered() const noexcept;
  [[nodiscard]] const LoggedPiece& piece() const noexcept;

  /// After `end`: what follows the last sound entry.
  struct End {
    std::uint64_t next_batch = 0;  ///< the first batch that could not be read
    std::uint64_t torn_bytes = 0;  ///< in the newest segment: the rest of an entry after a crash, or damage
    std::string damage;            ///< the fault and its file, if sound segments follow; otherwise empty
    bool gap = false;              ///< the damage is only that batches are missing
  };
  [[nodiscard]] const End& end() const noexcept;
  /// Continues with the segment after the damage. The batches from end().next_batch up to that segment are lost. Returns false
  /// if there is no such segment.
  bool skip_damage();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Hands out a sink's streamed alerts of a batch that is complete in the log, in order, until `take` returns false. Takes time
/// linear in the log from the segment's start. Throws Error if the alerts can no longer be read.
void for_each_streamed(const std::filesystem::path& folder, const std::string& fingerprint, std::uint64_t batch,
                       std::string_view sink, const std::function<bool(std::string_view alert)>& take);

}  // namespace deltamatch::ingest
