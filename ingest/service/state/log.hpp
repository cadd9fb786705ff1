// The log of batches: what recovery replays, and where the sinks that are not Kafka find what they have to deliver.
// docs/reference/formats.md ("State directory") has its bytes.
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
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

/// One alert as AlertSink::write takes it; `id` is empty for a dead letter. Views: into the caller's memory where it is
/// written, into the reader's where it is read.
struct LoggedAlert {
  std::string_view id;
  std::string_view text;
  friend bool operator==(const LoggedAlert&, const LoggedAlert&) = default;
};

/// What one sink has to write of a batch, in order.
struct SinkAlerts {
  std::string sink;
  std::vector<LoggedAlert> alerts;
};

/// What one sink has to write of a batch, if that is too much for memory.
struct StreamedAlerts {
  std::string sink;
  bool in_transaction =
      false;  ///< of a sink in Kafka: the log keeps them until the batch is committed, nobody else waits for them
  std::uint64_t alerts = 0;
  /// Hands out so many, in order. Where the log is read it is empty: for_each_streamed does it.
  std::function<void(const std::function<void(std::string_view alert)>& take)> for_each;
};

/// Where a sink stands: its alerts of all batches up to `batch` are delivered, and it was at `position` (AlertSink::commit)
/// then.
struct Delivered {
  std::string sink;
  std::uint64_t batch = 0;
  std::string position;
  friend auto operator<=>(const Delivered&, const Delivered&) = default;
};

/// Batches that a log does not tell of, [from, up_to]; none if that is empty.
struct LogBreak {
  std::uint64_t from = 1;
  std::uint64_t up_to = 0;
  [[nodiscard]] bool empty() const noexcept { return from > up_to; }
};

struct LogOptions {
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;  ///< a longer segment takes no further batch
  int (*sync)(int descriptor) = ::fdatasync;              ///< tests let it fail
};

/// Appends. Any thread may call any member. Only one Log at a time may stand in a folder (StateDirectory sees to that).
class Log {
 public:
  /// Opens the log in `folder` for going on behind the batch `last`: what was appended behind it, and a torn end, is dropped;
  /// where sinks stand is kept. `last` need not be in the log: recovery may have come further by a snapshot. Begins a log where
  /// there is none. `fingerprint`: 32 hexadecimal digits, StateDirectory::fingerprint. Throws Error.
  Log(std::filesystem::path folder, std::string fingerprint, std::uint64_t last, const LogOptions& options = {});
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Appends the batch mark.batch, which is last_batch() + 1; mark.watermark is the engine's behind the batch. `updates` as the
  /// engine was given them, those that it refused included or not; `watermark` is their UpdateBatch::watermark(), if any. Sinks
  /// without alerts need not be there. Not durable before sync(). Throws Error where it cannot be written whole (a full disk),
  /// and the log is as it was before; where even that cannot be had, every later call throws. `streamed`: of sinks that are not
  /// among `alerts`; they are written in pieces of 1 MiB, so that neither writing nor reading them takes more memory.
  void append(const Mark& mark, std::span<const Update> updates, std::optional<Timestamp> watermark,
              std::span<const SinkAlerts> alerts, std::span<const StreamedAlerts> streamed = {});

  /// Notes where a sink stands. Durable with the next sync(); where it is lost, the batches since are delivered again from the
  /// position noted before. For a sink that is no more it says that nobody waits for its alerts. Throws as append does.
  void delivered(const Delivered& delivered);

  /// What was appended before is on disk when it returns. Throws Error where syncing fails; what is on disk is unknown then, so
  /// every later call throws: the process has to start anew.
  void sync();

  /// Removes segments that hold only batches before `batch` and before undelivered_from(). The newest segment stays.
  void drop_before(std::uint64_t batch);

  [[nodiscard]] std::uint64_t last_batch() const;
  /// No sink waits for an alert of a batch before this one: from here a LogReader has to read alerts.
  [[nodiscard]] std::uint64_t undelivered_from() const;
  /// Where each sink stands that ever had an alert, by name: at the last batch, or before what it waits for. Of batches that
  /// are lost() it is not known what they had for a sink: it stands before them until it is noted to stand behind them.
  [[nodiscard]] std::vector<Delivered> positions() const;
  /// What the constructor found the log to lack before `last`: nothing, or what lies from a damage on.
  [[nodiscard]] LogBreak lost() const;
  /// Bytes of all segments.
  [[nodiscard]] std::uint64_t bytes() const;
  /// Bytes of the segments that hold batches behind this one.
  [[nodiscard]] std::uint64_t bytes_behind(std::uint64_t batch) const;
  /// Bytes that the constructor dropped.
  [[nodiscard]] std::uint64_t dropped_bytes() const noexcept;
  /// Bytes appended by this object.
  [[nodiscard]] std::uint64_t appended_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A batch as it was appended. Valid until the reader's next `next`.
struct LoggedBatch {
  Mark mark;
  UpdateBatch updates;                   ///< empty where not wanted; they tell the watermark, be it only by the mark
  std::vector<SinkAlerts> alerts;        ///< empty where not wanted
  std::vector<StreamedAlerts> streamed;  ///< likewise; without for_each
};

/// A piece of the streamed alerts of a batch that follows. Valid until the reader's next `next`.
struct LoggedPiece {
  std::uint64_t batch = 0;
  std::string_view sink;
  std::vector<std::string_view> alerts;
};

/// Reads a log in the order in which it was appended; one thread calls it, and a Log may append meanwhile. Trusts nothing:
/// bytes are used only after their checksum was verified, and memory follows the bytes that are there.
class LogReader {
 public:
  enum class Entry : std::uint8_t { batch, delivered, piece, end };

  struct Wanted {
    std::uint64_t updates_from;  ///< the first batch whose updates are wanted
    std::uint64_t alerts_from;   ///< the first batch whose alerts are wanted
    bool pieces = false;         ///< whether pieces of streamed alerts are entries; else they are passed over
  };
  static constexpr std::uint64_t none = UINT64_MAX;

  /// Begins with the segment that holds the lesser of the wanted batches, or with the oldest one. Earlier batches of that
  /// segment are passed over. Throws Error where a segment belongs to another configuration or is of another version (from
  /// `next`, too).
  LogReader(std::filesystem::path folder, std::string fingerprint, Wanted wanted);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// The next entry. After `end` it may be called again, once more has been appended; a reader of a log that is being appended
  /// to stops on its own behind the last batch that it knows to be committed. A segment begins with where the sinks stood.
  [[nodiscard]] Entry next();
  [[nodiscard]] const LoggedBatch& batch() const noexcept;
  [[nodiscard]] const Delivered& delivered() const noexcept;
  [[nodiscard]] const LoggedPiece& piece() const noexcept;

  /// After `end`: what stands behind the last sound entry.
  struct End {
    std::uint64_t next_batch = 0;  ///< the first batch that could not be read
    std::uint64_t torn_bytes = 0;  ///< of the newest segment: what a crash left of an entry, or damage
    std::string damage;            ///< what is wrong, and in which file, where sound segments follow; else empty
  };
  [[nodiscard]] const End& end() const noexcept;
  /// Goes on with the segment behind the damage: the batches from end().next_batch to its first are lost. False where there is
  /// none.
  bool skip_damage();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Hands out a sink's streamed alerts of a batch that is whole in the log, in order, until `take` gives false. O(the log from
/// the segment's begin on). Throws Error where they cannot be read any more.
void for_each_streamed(const std::filesystem::path& folder, const std::string& fingerprint, std::uint64_t batch,
                       std::string_view sink, const std::function<bool(std::string_view alert)>& take);

}  // namespace deltamatch::ingest
