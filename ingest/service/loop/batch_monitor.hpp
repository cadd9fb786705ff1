// What is seen of the batch that the engine is at: by those who ask, by the log, and by a service that is to stop.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/engine.hpp"
#include "ingest/service/http/metrics.hpp"
#include "ingest/service/journal.hpp"

namespace deltamatch::ingest {

/// One batch at a time. Thread-safe.
class BatchMonitor {
 public:
  using Clock = std::chrono::steady_clock;
  using Names = std::vector<std::pair<QueryId, std::string>>;

  /// A batch that takes longer than `longest` is told; 0: none is. Both outlive it.
  BatchMonitor(std::chrono::milliseconds longest, Metrics& metrics, Journal& journal)
      : longest_(longest), metrics_(&metrics), journal_(&journal) {}

  /// The engine begins with a batch; `names`: of the queries that it matches.
  void begin(std::uint64_t batch, Names names);
  /// How far it is; for BatchOptions::progress.
  void progress(const deltamatch::BatchProgress& progress);
  /// It is done with it, however that went.
  void end();

  /// The service is to stop: from `until` on, batches are abandoned.
  void give_up_at(Clock::time_point until);
  /// For BatchOptions::stop.
  [[nodiscard]] bool gives_up() const;

  struct Now {
    std::uint64_t batch = 0;
    double seconds = 0;
    std::string query;  ///< which takes most of the time; empty: it is not known
    std::uint64_t matches = 0;
  };
  /// The batch that is under way, once it has taken a moment.
  [[nodiscard]] std::optional<Now> now() const;
  /// Why the service is not to be called ready: the batch takes longer than it may. Empty: it does not.
  [[nodiscard]] std::string overdue() const;

 private:
  [[nodiscard]] std::string text() const;

  std::chrono::milliseconds longest_;
  Metrics* metrics_;
  Journal* journal_;
  mutable std::mutex mutex_;
  Names names_;  // guarded by mutex_, as all below
  std::uint64_t batch_ = 0;
  std::optional<Now> now_;
  double next_word_ = 0;  // seconds; twice as late each time
  bool overdue_ = false;
  std::optional<Clock::time_point> until_;
};

}  // namespace deltamatch::ingest
