// Publishes the owner's snapshots beside its work.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "ingest/service/journal.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/share.hpp"

namespace deltamatch::ingest {

struct ShareStatistics {
  std::uint64_t last_batch = 0;  ///< of the newest snapshot that was published or found there; 0 if there is none
  std::uint64_t published = 0;   ///< number of snapshots
  std::uint64_t failures = 0;    ///< number of failed tries
  std::string last_error;        ///< of the last try; empty if it succeeded
};

/// Publishes the newest snapshot of the state directory. It never makes a caller wait. A failed try is logged, counted and
/// repeated, with waits that double. If a newer snapshot comes meanwhile, that one is published instead. Any thread may call
/// the members.
class SharePublisher {
 public:
  struct Waits {
    std::chrono::milliseconds first{1'000};
    std::chrono::milliseconds longest{60'000};
  };

  /// Starts the thread. All references must outlive it.
  SharePublisher(SnapshotShare& share, const StateDirectory& directory, Journal& journal, Waits waits);
  SharePublisher(SnapshotShare& share, const StateDirectory& directory, Journal& journal)
      : SharePublisher(share, directory, journal, Waits{}) {}
  /// Ends a try that is under way.
  ~SharePublisher();
  SharePublisher(const SharePublisher&) = delete;
  SharePublisher& operator=(const SharePublisher&) = delete;

  /// There is a snapshot to publish. The batches of all snapshots in the directory must be committed. `undelivered_from`: as
  /// Log::undelivered_from.
  void publish(std::uint64_t undelivered_from = SnapshotShare::nothing_waits);
  /// Waits until what was to be published is. Returns false at the deadline.
  bool finish(std::chrono::steady_clock::time_point deadline);

  [[nodiscard]] ShareStatistics statistics() const;

 private:
  void run(const std::stop_token& stop);

  SnapshotShare* share_;
  const StateDirectory* directory_;
  Journal* journal_;
  const Waits waits_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool wanted_ = false;  // guarded by mutex_, like all below
  bool trying_ = false;
  std::uint64_t undelivered_from_ = SnapshotShare::nothing_waits;
  ShareStatistics statistics_;
  std::jthread thread_;
};

}  // namespace deltamatch::ingest
