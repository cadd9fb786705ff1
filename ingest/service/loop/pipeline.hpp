// The work of an owner: takes batches from the input through the engine to the log, Kafka and the sinks.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "ingest/batch/absent_deletes.hpp"
#include "ingest/batch/absent_times.hpp"
#include "ingest/service/alert/alert_feed.hpp"
#include "ingest/service/alert/deliverer.hpp"
#include "ingest/service/alert/router.hpp"
#include "ingest/service/http/metrics.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/input.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/batch_monitor.hpp"
#include "ingest/service/loop/committer.hpp"
#include "ingest/service/loop/kafka_batch_source.hpp"
#include "ingest/service/loop/recent_times.hpp"
#include "ingest/service/loop/refused_records.hpp"
#include "ingest/service/loop/standing_queries.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/query_record.hpp"
#include "ingest/service/state/recovery.hpp"
#include "ingest/service/state/snapshotter.hpp"

namespace deltamatch::ingest {

/// Which queries should stand, and what is to be committed with that.
struct QueryWish {
  std::vector<ServiceQuery> queries;  ///< all of them
  std::optional<QueryRecord> change;  ///< of a query that was made over HTTP; its batch is filled in
  /// The one query that is meant. Other queries stay suspended if they are. Nothing: all that are wanted stand anew.
  std::optional<std::string> only;
};

/// The pipeline ends before it could do what was asked. Nothing was done.
class PipelineEnds : public Error {
 public:
  PipelineEnds()
      : Error(ErrorKind::configuration, "queries", "the service is stopping", "start it again; it then reads the new queries") {
  }
};

/// Begins at the state of `recovered`. run() is called once, in the engine's thread. Any thread may call the other functions.
class Pipeline {
 public:
  struct Context {
    const ServiceOptions& options;
    const StateDirectory& directory;
    kafka::Input& input;
    kafka::Transactions& transactions;
    Metrics& metrics;
    Journal& journal;
    std::function<bool()> owned;  ///< whether this instance owns the application, according to Kafka's last report
    std::shared_ptr<KnownQueries> known =
        std::make_shared<KnownQueries>();  ///< queries that remember; it adds those that stand
    SchemaWaits& schemas;
    AlertFeed* feed = nullptr;  ///< gets the alerts of committed batches, if there is one
    std::function<void(std::uint64_t undelivered_from)> snapshot_made =
        nullptr;  ///< SnapshotterOptions::made. Null: none are shared
  };

  Pipeline(const Context& context, Recovered recovered);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Works until a stop is requested. Then what was read is matched and committed, a snapshot is made, and the sinks get a
  /// second. What they lack then, the next owner gives them. If a batch is still being matched after half of
  /// options.shutdown_timeout, it is abandoned. Nothing of it is committed, and the next start processes it again. The queries
  /// of `first` stand from the first batch on. `ready` is called once they stand and reading begins. Throws Error if it cannot
  /// continue; what was committed stays. Error(record) means that a record, or a query over its budget, should stop the
  /// service.
  void run(QueryWish first, const std::stop_token& stop, const std::function<void()>& ready);

  /// Replaces the standing queries between two batches, and waits until that is committed. It also waits for run(), which must
  /// be called. Throws Error(configuration) if the queries are refused, or have more existing matches to report than
  /// options.existing allows; the old ones stay. Throws PipelineEnds, at once if such matches are being listed. Throws another
  /// Error if the pipeline fails meanwhile; then nobody knows whether the change is committed. A batch that takes longer than
  /// options.batching.max_match_time does not delay this: it is matched again with the new queries.
  QueryChange change_queries(QueryWish wish);

  /// Whose existing matches are being listed for a change of the queries, in words. Empty if none are.
  [[nodiscard]] std::string listing() const { return monitor_.listing(); }
  /// Why a running service is not ready. Commits do not succeed, a batch takes longer than options.batching.max_match_time, or
  /// a schema or a topic of the input is not there. Empty if nothing is so.
  [[nodiscard]] std::string stalled() const;
  /// The same for refused records: their share of the latest records is larger than input.max_refused.
  [[nodiscard]] std::string refuses() const { return refused_.why(); }

  struct Status {
    CommitPoint committed;
    std::uint64_t processed = 0;  ///< number of batches
    std::uint64_t updates = 0;
    GraphStatistics graph;
    std::optional<BackendStatistics> backend;  ///< if not the CPU matches
    std::vector<ActiveQuery> queries;
    std::vector<SuspendedQuery> suspended;
    struct Matches {
      std::string fingerprint;
      Count added = 0;
      Count removed = 0;
      double seconds = 0;  ///< QueryDelta::seconds
    };
    /// By name of the query, with its latest definition: since the start of the process, in committed batches.
    std::map<std::string, Matches, std::less<>> matches;
    std::map<std::string, Count, std::less<>> suppressed;  ///< by query: new matches that ALERT ONCE left out, if there are any
    RecentTimes batch_times;                               ///< from a batch's first record to its commit
    std::optional<BatchMonitor::Now> under_way;            ///< a batch that takes long
    std::map<std::string, DeliveryStatistics, std::less<>> sinks;   ///< but those of Kafka
    std::map<std::string, DeliveryStatistics, std::less<>> topics;  ///< sinks of Kafka: what their transactions published
    SnapshotStatistics snapshots;
    Committer::Statistics commits;
    std::vector<kafka::Progress> input;
    RefusedRecords::Seen refused;
    std::vector<Warning> warnings;  ///< doubtful readings
  };
  [[nodiscard]] Status status() const;
  /// The part of the status that is about queries, which costs less.
  struct Queries {
    std::uint64_t batch = 0;  ///< the last committed one
    std::vector<SuspendedQuery> suspended;
    std::map<std::string, Status::Matches, std::less<>> matches;
  };
  [[nodiscard]] Queries queries() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Request;
  /// A query that stops the service.
  struct Exceeded {
    std::string query;
    std::string where;
    std::string what;
  };

  void make_deliverer();
  void start_reading(const std::stop_token& stop);
  void stop_soon();
  [[nodiscard]] bool settle(InputBatch& batch);
  [[nodiscard]] bool settle_part(InputBatch& batch);
  [[nodiscard]] bool process(InputBatch& batch);
  void process_empty();
  [[nodiscard]] std::optional<BatchResult> match(const InputBatch& batch);
  [[nodiscard]] bool stops_here(const BatchResult& result);
  void count_alerts(BatchResult& result, std::span<const std::string> names);
  void suspend(const BatchResult& result);
  void begin_queries(std::vector<ServiceQuery> wanted);
  QueryChange change(std::vector<ServiceQuery> wanted, std::span<const ActiveQuery> before,
                     std::vector<SuspendedQuery> suspended, std::optional<QueryRecord> record,
                     std::vector<std::string> over_http);
  QueryChange grant(QueryWish wish);
  void list_existing(std::span<const ServiceQuery> queries);
  void serve_requests();
  void refuse_requests();
  void note_doubt(const Warning& warning);
  void note_reading(const InputBatch& batch, const BatchResult& result);
  void submit(Commit&& commit);
  void report_backend();
  void committed(Commit&& commit);
  void count_matches(const Commit& commit);
  void forget_queries(const CommitPoint& now);
  void show(const Commit& commit) noexcept;
  void finish();
  void make_sure_of_ownership();
  void throw_ending() const;

  Context context_;
  Engine engine_;
  std::unique_ptr<Log> log_;
  AlertRouter router_;
  StandingQueries queries_;
  CommitPoint last_;                       // of the batch processed last
  std::vector<QueryRecord> changes_;       // for the next batch
  std::map<std::string, Count> existing_;  // matches that the next batch reports, by added query
  const std::string reading_;
  std::unique_ptr<Snapshotter> snapshotter_;
  std::unique_ptr<Deliverer> deliverer_;
  std::unique_ptr<Committer> committer_;
  TopicWaits topics_;
  RefusedRecords refused_;
  std::unique_ptr<KafkaBatchSource> reader_;
  std::optional<InputBatch> rest_;  // of a batch that was cut
  std::optional<BadRecord> failure_;
  std::optional<Exceeded> exceeded_;
  BatchMonitor monitor_;
  AbsentDeletes absent_deletes_;
  AbsentTimes absent_times_;
  std::atomic<std::size_t> requested_ = 0;  // number of waiting requests
  Clock::time_point last_probe_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status status_;  // guarded by mutex_, like all below
  std::deque<std::shared_ptr<Request>> requests_;
  std::vector<InputBatch> free_;  // memory of completed batches
  bool ended_ = false;
  std::optional<Clock::time_point> end_by_;  // set once a stop is requested
};

/// The number of a partition's records in Kafka that are in no committed batch, or nothing if it is unknown. Entries after the
/// last record that are no records (ends of transactions) do not count.
[[nodiscard]] std::optional<std::int64_t> lag_of(const kafka::Progress& progress, const Offsets& committed);

}  // namespace deltamatch::ingest
