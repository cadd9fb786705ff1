// What an owner does: batch after batch from the input through the engine to the log, Kafka and the sinks.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "ingest/service/alert/deliverer.hpp"
#include "ingest/service/alert/router.hpp"
#include "ingest/service/http/metrics.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/input.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/batch_monitor.hpp"
#include "ingest/service/loop/batch_reader.hpp"
#include "ingest/service/loop/committer.hpp"
#include "ingest/service/loop/refused_share.hpp"
#include "ingest/service/loop/standing_queries.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/recovery.hpp"
#include "ingest/service/state/snapshotter.hpp"

namespace deltamatch::ingest {

/// Begins where `recovered` stands. run() is called once, in the engine's thread; all else from any thread.
class Pipeline {
 public:
  struct Context {
    const ServiceOptions& options;
    const StateDirectory& directory;
    kafka::Input& input;
    kafka::Transactions& transactions;
    Metrics& metrics;
    Journal& journal;
    std::function<bool()> owned;  ///< whether this instance owns the application, as far as Kafka has told it
  };

  Pipeline(const Context& context, Recovered recovered);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Works until a stop is requested: then what is read is matched and committed, the sinks are given what remains of
  /// options.shutdown_timeout, and a snapshot is made. A batch that is still being matched when half of that time is over is
  /// abandoned: nothing of it is committed, and the next start takes it again. Throws Error where it cannot go on; what was
  /// committed before stays. Error(record): a record, or a query that exceeds its budget, is to stop the service.
  /// `queries` are those that stand from the first batch on. `ready` is called once they do and reading begins.
  void run(std::vector<ServiceQuery> queries, const std::stop_token& stop, const std::function<void()>& ready);

  /// Replaces the standing queries at the next boundary between two batches; waits until that is committed, also for run to be
  /// called, which has to be. Throws Error where the queries are refused (the old ones stay) or the pipeline ends. Suspended
  /// queries stand again if they are among them. A batch that takes longer than options.batching.max_match_time does not hold
  /// this up: it is matched anew afterwards, with the new queries.
  QueryChange change_queries(std::vector<ServiceQuery> queries);

  /// Why it is not to be called ready although it runs: commits do not come through, or a batch takes longer than
  /// options.batching.max_match_time. Empty: neither.
  [[nodiscard]] std::string stalled() const;
  /// Likewise: of the records that came last a larger share was refused than input.max_refused.
  [[nodiscard]] std::string refuses() const;

  struct Status {
    Mark committed;
    std::uint64_t processed = 0;  ///< batches
    std::uint64_t updates = 0;
    GraphStatistics graph;
    std::optional<CacheStatistics> cache;  ///< where a GPU matches
    std::vector<ActiveQuery> queries;
    std::vector<SuspendedQuery> suspended;
    std::optional<BatchMonitor::Now> under_way;  ///< a batch that takes long
    std::map<std::string, DeliveryStatistics, std::less<>> sinks;
    SnapshotStatistics snapshots;
    Committer::Statistics commits;
    std::vector<kafka::Progress> input;
    RefusedShare refused;
    std::string last_refused;       ///< the first record that the last batch with any refused, and why
    std::vector<Warning> warnings;  ///< doubtful readings
  };
  [[nodiscard]] Status status() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Request;
  /// A query that is to stop the service.
  struct Exceeded {
    std::string query;
    std::string where;
    std::string what;
  };

  void make_deliverer();
  [[nodiscard]] std::vector<kafka::InputPartition> find_partitions(const std::stop_token& stop);
  void start_reading(const std::stop_token& stop);
  void stop_soon();
  [[nodiscard]] bool settle(InputBatch& batch);
  [[nodiscard]] bool process(InputBatch& batch);
  void process_empty();
  [[nodiscard]] std::optional<BatchResult> match(const InputBatch& batch);
  [[nodiscard]] bool stops_here(const BatchResult& result);
  void suspend(const BatchResult& result);
  void begin_queries(std::vector<ServiceQuery> wanted);
  QueryChange change(std::vector<ServiceQuery> wanted, std::span<const ActiveQuery> before,
                     std::vector<SuspendedQuery> suspended);
  void report_existing(const QueryChange& change);
  void serve_requests();
  void refuse_requests();
  [[nodiscard]] Offsets ends_before(const InputBatch& batch, std::size_t update) const;
  void note_reading(const InputBatch& batch, const BatchResult& result);
  void collect_letters(const InputBatch& batch, const BatchResult& result, Commit& commit);
  void submit(Commit&& commit);
  void report_cache();
  void committed(Commit&& commit);
  void finish();
  void make_sure_of_ownership();
  void throw_ending() const;

  Context context_;
  Engine engine_;
  std::unique_ptr<Log> log_;
  AlertRouter router_;
  StandingQueries queries_;
  Mark last_;  // of the batch processed last
  const std::string reading_;
  std::unique_ptr<Snapshotter> snapshotter_;
  std::unique_ptr<Deliverer> deliverer_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<Reader> reader_;
  std::optional<BadRecord> failure_;
  std::optional<Exceeded> exceeded_;
  BatchMonitor monitor_;
  std::atomic<std::size_t> requested_ = 0;  // requests that wait
  Clock::time_point last_probe_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status status_;  // guarded by mutex_, as all below
  std::deque<std::shared_ptr<Request>> requests_;
  std::vector<InputBatch> free_;  // memory of batches that are done
  bool ended_ = false;
  std::optional<Clock::time_point> end_by_;  // once a stop is requested
};

/// How many records of a partition are in Kafka and in no committed batch; nothing where that is not known. What lies behind
/// the last record and is none (ends of transactions) does not count.
[[nodiscard]] std::optional<std::int64_t> lag_of(const kafka::Progress& progress, const Offsets& committed);

}  // namespace deltamatch::ingest
