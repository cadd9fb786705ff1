// The metrics of the service, for Prometheus.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "deltamatch/id.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/result.hpp"
#include "deltamatch/statistics.hpp"
#include "deltamatch/update.hpp"
#include "ingest/service/alert/deliverer.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

enum class ServiceState : std::uint8_t { starting, standby, recovering, running, stopping };

/// "starting", "standby", "recovering", "running", "stopping".
[[nodiscard]] std::string_view state_name(ServiceState state) noexcept;

/// The metrics that docs/reference/metrics.md lists. Thread-safe. Counters start with the process. Numbers beyond 2^53 lose
/// their last digits, because the format uses doubles.
class Metrics {
 public:
  explicit Metrics(std::string_view version);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// Records a committed and settled batch: its updates, steps, edge changes and matches. `seconds` is the time since its first
  /// record was taken. `names` are the names of result.queries, in the same order.
  void batch(const BatchResult& result, std::span<const std::string> names, double seconds);
  /// Records a step outside the engine (fetch, decode, log, commit …).
  void step(std::string_view step, double seconds);
  /// Ends all series of a query that was removed, until something about it is recorded again.
  void forget_query(std::string_view name);
  /// A query exceeded its budget in a batch. The shortfall is limit (matches) or timeout.
  void over_budget(std::string_view name, Shortfall shortfall);
  /// Whether a query is suspended. A query that never was has no series.
  void suspended(std::string_view name, bool is);
  /// How long the engine has worked on the current batch. 0 means that no long batch is running.
  void batch_under_way(double seconds);
  void graph(const GraphStatistics& graph);
  /// What the engine's backend reports. Its metrics are named deltamatch_<backend>_<name>.
  void backend(const BackendStatistics& statistics);
  void watermark(Timestamp watermark);

  /// The number of partitions that were read before and are missing now.
  void partitions_missing(std::size_t count);
  /// The lag of a partition: the number of records that are in no committed batch.
  void consumer_lag(const TopicPartition& partition, std::int64_t records);
  /// Another instance reads the input: no lag is reported until the next call of `consumer_lag`.
  void no_consumer_lag();
  /// Counts refused records, whatever happens to them.
  void bad_records(RejectReason reason, std::uint64_t count = 1);
  /// The share of the latest records that was refused.
  void refused_share(double share);
  /// A doubtful reading. The caller reports each code once per topic.
  void doubtful_reading(std::string_view code);
  /// Counts records that were sent to the dead letters.
  void dead_letters(RejectReason reason, std::uint64_t count = 1);

  /// A record for this topic was shortened, because the brokers refused it for its size.
  void record_shortened(std::string_view topic);

  enum class Outcome : std::uint8_t { committed, fenced, failed };
  /// The outcome of committing a group of batches, and the number of transactions that were aborted before it.
  void transaction(Outcome outcome, double seconds, unsigned aborted = 0);

  void snapshot_written(std::chrono::steady_clock::time_point time);
  void snapshot_failed();
  /// How many snapshots were shared, and how many tries to reach the share failed, since the start of the process.
  void share(std::uint64_t published, std::uint64_t failures);
  /// Whether the instance stands by and could take over now, and how far it is behind. All 0 for an owner.
  void standby(bool ready, std::uint64_t behind_batches, double behind_seconds);

  /// What a worker knows of a slot: whether it owns it, and the last batch that is published. `lag`: how many batches are cut
  /// and not published yet.
  void slot(std::uint32_t slot, bool own, std::uint64_t published, std::uint64_t lag);
  /// Whether the worker leads. Since the start of the process: how long its parts have waited for those of other slots, and how
  /// many digests were wrong.
  void worker(bool leads, double gate_seconds, std::uint64_t wrong_digests);

  /// How many streams of alerts are open, and how many clients were cut off since the start of the process.
  void streams(std::size_t open, std::uint64_t cut_off);
  void alerts_suppressed(std::string_view query, std::string_view sink, std::uint64_t count);
  /// For a sink that the transactions write to.
  void alerts_delivered(std::string_view sink, std::uint64_t count);
  /// The current statistics of a sink that a Deliverer writes to.
  void sink(std::string_view sink, const DeliveryStatistics& statistics);

  void state(ServiceState state);
  /// Which one of how many shards the application is. Without a call, nothing is said of shards.
  void shard(std::uint32_t number, std::uint32_t count);
  /// Counts a warning or an error of the log.
  void event(Level level, std::string_view event) noexcept;

  /// The text exposition, as the answer to GET /metrics. The age of the snapshot is computed now.
  [[nodiscard]] std::string text() const;
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Series;
  std::unique_ptr<Series> series_;
};

}  // namespace deltamatch::ingest
