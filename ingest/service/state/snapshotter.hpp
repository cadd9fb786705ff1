// Makes snapshots while the service runs. Each is built from the previous snapshot and the log, so the live graph is neither
// copied nor locked.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "deltamatch/engine.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/state/commit_point.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/log.hpp"
#include "ingest/service/state/repeated_queries.hpp"

namespace deltamatch::ingest {

struct SnapshotterOptions {
  std::chrono::seconds every{600};                   ///< 0: no limit of time
  std::uint64_t log_bytes = std::uint64_t{1} << 30;  ///< appended since the last snapshot; 0: no limit of size
  std::size_t keep = 2;
  std::chrono::seconds retry_after{60};  ///< after a failed one
  bool directed = true;                  ///< of the graph
  Timestamp window = 0;                  ///< of the graph
  Timestamp lateness = 0;                ///< EngineOptions::allowed_lateness
  SelfLoops self_loops = SelfLoops::leave_out;
  Schema schema{};  ///< of the graph
  /// Creates the engine before the first batch, if no snapshot is sound. Called in the background thread; if it fails, the
  /// snapshot fails.
  std::function<Engine()> begin;
  std::shared_ptr<const KnownQueries> queries = nullptr;  ///< those that remember; null: none does
  /// Called after each snapshot, with Log::undelivered_from; must not wait. May be null.
  std::function<void(std::uint64_t undelivered_from)> made = nullptr;
};

struct SnapshotStatistics {
  std::uint64_t last_batch = 0;                                    ///< of the newest snapshot
  std::optional<std::chrono::steady_clock::time_point> last_made;  ///< the start of its age; empty if there is none
  double last_seconds = 0;                                         ///< time to make the latest one
  std::uint64_t made = 0;
  std::uint64_t failures = 0;
  bool running = false;
};

/// Any thread may call the members. If a snapshot cannot be made (a full disk, a damaged log), that is logged and counted. It
/// is tried again later, and the service continues without it. After each snapshot, old snapshots and log segments are removed.
class Snapshotter {
 public:
  /// Starts the thread. All three references must outlive this object.
  Snapshotter(const StateDirectory& directory, Log& log, Journal& journal, SnapshotterOptions options);
  /// Cancels a snapshot in progress; nothing half-written stays. Waits for a restore or save that cannot be cancelled.
  ~Snapshotter();
  Snapshotter(const Snapshotter&) = delete;
  Snapshotter& operator=(const Snapshotter&) = delete;

  /// Batches up to this one are committed and synced in the log, so snapshots of them may be made. Cheap.
  void committed(std::uint64_t batch);

  /// Makes a snapshot of an idle engine in the calling thread, and cancels one in progress. For a graceful stop, and for a
  /// start graph (mark.batch 0). `mark` describes the engine's state and is committed. Returns false if it failed, which is
  /// logged and counted.
  bool save_now(const Engine& engine, const CommitPoint& mark);

  [[nodiscard]] SnapshotStatistics statistics() const;

 private:
  using Clock = std::chrono::steady_clock;

  void run(const std::stop_token& stop);
  [[nodiscard]] bool due(Clock::time_point now) const;
  [[nodiscard]] std::optional<Clock::time_point> next_due() const;
  void begin();
  void cancel(std::unique_lock<std::mutex>& lock);
  void make(std::uint64_t batch);
  void saved(std::uint64_t batch, Clock::time_point start);
  void failed(std::uint64_t batch, const char* why);

  const StateDirectory* directory_;
  Log* log_;
  Journal* journal_;
  SnapshotterOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  SnapshotStatistics statistics_;
  std::uint64_t committed_ = 0;
  std::uint64_t log_bytes_before_ = 0;  // appended by earlier processes since the last snapshot
  std::uint64_t appended_at_last_ = 0;  // Log::appended_bytes when the last one was made
  Clock::time_point last_;
  Clock::time_point not_before_;
  unsigned holds_ = 0;  // number of callers that keep the thread from starting another one
  std::atomic<bool> cancel_ = false;
  std::jthread thread_;
};

}  // namespace deltamatch::ingest
