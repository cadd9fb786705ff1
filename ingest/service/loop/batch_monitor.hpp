// Shows what the engine works on, a batch or existing matches: to status requests, to the journal, and to a stop.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/batch.hpp"
#include "deltamatch/query_options.hpp"
#include "ingest/service/http/metrics.hpp"
#include "ingest/service/journal.hpp"

namespace deltamatch::ingest {

/// Watches one batch at a time. Thread-safe.
class BatchMonitor {
 public:
  using Clock = std::chrono::steady_clock;
  using Names = std::vector<std::pair<QueryId, std::string>>;

  /// A batch that takes longer than `longest` is reported; 0: none is. `metrics` and `journal` must outlive it.
  BatchMonitor(std::chrono::milliseconds longest, Metrics& metrics, Journal& journal)
      : longest_(longest), metrics_(&metrics), journal_(&journal) {}

  enum class Work : std::uint8_t {
    batch,    ///< it matches a batch
    existing  ///< it lists the existing matches of an added query, for a batch to come
  };

  /// The engine starts to work. `names` are the names of the queries that it matches.
  void begin(std::uint64_t batch, Names names, Work work = Work::batch);
  /// The progress of the batch; for BatchOptions::progress.
  void progress(const deltamatch::BatchProgress& progress);
  /// The engine has ended the work, successfully or not.
  void end();

  /// The service should stop: from `until` on, batches are abandoned.
  void give_up_at(Clock::time_point until);
  /// For BatchOptions::stop.
  [[nodiscard]] bool gives_up() const;
  /// Whether the service should stop.
  [[nodiscard]] bool stopping() const;

  struct Now {
    std::uint64_t batch = 0;
    double seconds = 0;
    std::string query;  ///< the one that takes most of the time; empty if unknown
    std::uint64_t matches = 0;
    Work work = Work::batch;
  };
  /// The batch in progress. Nothing if there is none, or if it has only just begun.
  [[nodiscard]] std::optional<Now> now() const;
  /// Why the service is not ready: the batch takes longer than allowed. Empty if it does not.
  [[nodiscard]] std::string overdue() const;
  /// Whose existing matches are being listed, in words. Empty if none are.
  [[nodiscard]] std::string listing() const;

 private:
  [[nodiscard]] std::string text() const;

  std::chrono::milliseconds longest_;
  Metrics* metrics_;
  Journal* journal_;
  mutable std::mutex mutex_;
  Names names_;  // guarded by mutex_, like all below
  std::uint64_t batch_ = 0;
  Work work_ = Work::batch;
  std::optional<Now> now_;
  double next_word_ = 0;  // seconds until the next report; it doubles each time
  bool overdue_ = false;
  std::optional<Clock::time_point> until_;
};

}  // namespace deltamatch::ingest
