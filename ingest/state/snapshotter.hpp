// Makes snapshots while the service goes on: from the snapshot before and the log, so that live lists are neither copied nor
// waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "deltamatch/engine.hpp"
#include "ingest/journal.hpp"
#include "ingest/state/directory.hpp"
#include "ingest/state/log.hpp"
#include "ingest/state/mark.hpp"

namespace deltamatch::ingest {

struct SnapshotterOptions {
  std::chrono::seconds every{600};                   ///< 0: not by time
  std::uint64_t log_bytes = std::uint64_t{1} << 30;  ///< appended since the last snapshot; 0: not by size
  std::size_t keep = 2;
  std::chrono::seconds retry_after{60};  ///< after one that failed
  bool directed = true;                  ///< of the graph
  Timestamp window = 0;                  ///< likewise
  /// Makes the engine before the first batch, where no snapshot is sound. In the background thread; a failure of it is one of
  /// the snapshot.
  std::function<Engine()> begin;
};

struct SnapshotStatistics {
  std::uint64_t last_batch = 0;                                    ///< of the newest snapshot
  std::optional<std::chrono::steady_clock::time_point> last_made;  ///< its age counts from here; empty: there is none
  double last_seconds = 0;                                         ///< how long the latest one took to make
  std::uint64_t made = 0;
  std::uint64_t failures = 0;
  bool running = false;
};

/// Members may be called from any thread. A snapshot that cannot be made (a full disk, a damaged log) is told to the journal
/// and counted, and tried again later; the service goes on without. After each one old snapshots and segments of the log are
/// removed.
class Snapshotter {
 public:
  /// Starts the thread. All three outlive this object.
  Snapshotter(const StateDirectory& directory, Log& log, Journal& journal, SnapshotterOptions options);
  /// Cancels what is under way; nothing half-written stays. Waits for a restore or save that cannot be cancelled.
  ~Snapshotter();
  Snapshotter(const Snapshotter&) = delete;
  Snapshotter& operator=(const Snapshotter&) = delete;

  /// Batches up to this one are committed and synced in the log: snapshots may be made of them. Cheap.
  void committed(std::uint64_t batch);

  /// Makes a snapshot of an idle engine right here, with what is under way cancelled: for the graceful stop, and for a start
  /// graph (mark.batch 0). The engine stands at `mark`, which is committed. False where it failed, which is told and counted.
  bool save_now(const Engine& engine, const Mark& mark);

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
  std::uint64_t log_bytes_before_ = 0;  // appended since the last snapshot by an earlier process
  std::uint64_t appended_at_last_ = 0;  // Log::appended_bytes when the last one was begun
  Clock::time_point last_;
  Clock::time_point not_before_;
  unsigned holds_ = 0;  // who keeps the thread from beginning another one
  std::atomic<bool> cancel_ = false;
  std::jthread thread_;
};

}  // namespace deltamatch::ingest
