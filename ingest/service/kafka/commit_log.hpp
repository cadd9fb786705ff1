// Reads the marks of committed batches from the commit topic.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/state/commit_point.hpp"
#include "ingest/service/state/delivery_note.hpp"
#include "ingest/service/state/publish_progress.hpp"
#include "ingest/service/workers/slot_map.hpp"

namespace deltamatch::ingest::kafka {

/// Reads the records that the application's transactions wrote to its commit topic. Each record is one to_json(CommitPoint), or
/// a cut of workers that holds one. The result is final once a Transactions object has been created, because no older
/// transaction survives that. Before that, reads wait for an open transaction to end. Only one thread may use it.
class CommitLog {
 public:
  explicit CommitLog(const Cluster& cluster);
  ~CommitLog();
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;

  /// The mark of the last committed batch. Returns nothing if there is no such mark or no such topic. Reads backwards from the
  /// end, and skips whatever was aborted there. Records that another program wrote are reported to the journal and skipped.
  /// They are no marks, or they mark batches that were marked already. Throws Error for a damaged mark or one of another
  /// version, and Unreachable at the deadline.
  [[nodiscard]] std::optional<CommitPoint> last(Deadline deadline);

  /// The progress of a batch after the last mark, which last() found: how far that batch is published.
  [[nodiscard]] const std::optional<BatchProgress>& progress() const noexcept;

  /// The last note of deliveries, which last() found. Nothing if none stands near the last mark, because an older release wrote
  /// it, or because no sink is noted.
  [[nodiscard]] const std::optional<DeliveryNote>& delivered() const noexcept;

  /// Goes to the mark of this batch, or of the first batch after it. Throws as last() does.
  void seek(std::uint64_t batch, Deadline deadline);

  /// The next mark after seek(). Returns nothing at the end, which is the end as of seek(). Throws as last() does.
  [[nodiscard]] std::optional<CommitPoint> next(Deadline deadline);

  /// Like next(), but goes on with what is written after seek(). Returns nothing if no mark comes within `wait`; then it may be
  /// called again. While brokers do not answer, nothing comes. Throws Error for a damaged mark or one of another version.
  [[nodiscard]] std::optional<CommitPoint> follow(std::chrono::milliseconds wait);

  /// The cut that holds the mark which last(), next() or follow() returned last. Nothing if no worker wrote it.
  [[nodiscard]] const std::optional<workers::Cut>& cut() const noexcept;

  /// When the mark that next() or follow() returned last was written, by the clock of its writer. Milliseconds since the epoch;
  /// -1 if unknown.
  [[nodiscard]] std::int64_t written() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deltamatch::ingest::kafka
