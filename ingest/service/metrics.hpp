// What the service counts, for Prometheus.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "deltamatch/engine.hpp"
#include "ingest/alert/deliverer.hpp"
#include "ingest/state/mark.hpp"

namespace deltamatch::ingest {

enum class ServiceState : std::uint8_t { standby, recovering, running, stopping };

/// "standby", "recovering", "running", "stopping".
[[nodiscard]] std::string_view state_name(ServiceState state) noexcept;

/// The metrics that docs/operations.md lists. Thread-safe. Counters count since the start of the process; numbers beyond 2^53
/// lose their last digits, as the format has it.
class Metrics {
 public:
  explicit Metrics(std::string_view version);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// A batch is committed and settled, `seconds` after its first record was taken: its updates, steps, changes of edges and
  /// matches. `names` are those of result.queries, in their order.
  void batch(const BatchResult& result, std::span<const std::string> names, double seconds);
  /// A step beside the engine's (fetch, decode, log, commit …).
  void step(std::string_view step, double seconds);
  /// The query does not stand any more: its series end, until a batch tells of it again.
  void forget_query(std::string_view name);
  /// A query exceeded its budget in a batch: of matches (limit) or of time (timeout).
  void over_budget(std::string_view name, Shortfall shortfall);
  /// Whether a query is suspended; one that never was has no series.
  void suspended(std::string_view name, bool is);
  /// For how long the engine has been at a batch; 0: it is at none that takes long.
  void batch_under_way(double seconds);
  void graph(const GraphStatistics& graph);
  /// Of an engine that matches on GPUs, as it stands.
  void cache(const CacheStatistics& cache);
  void watermark(Timestamp watermark);

  /// Partitions that were read and are not there now.
  void partitions_missing(std::size_t count);
  /// How far behind a partition is: records that are in no committed batch.
  void consumer_lag(const TopicPartition& partition, std::int64_t records);
  /// A record that was refused, whatever is done about it.
  void bad_records(RejectReason reason, std::uint64_t count = 1);
  /// Which share of the records that came last was refused.
  void refused_share(double share);
  /// A doubtful reading, told once for each code and topic.
  void doubtful_reading(std::string_view code);
  /// Those that went to the dead letters.
  void dead_letters(RejectReason reason, std::uint64_t count = 1);

  /// A record for a topic that was written shortened, as the brokers refused it for its size.
  void record_shortened(std::string_view topic);

  enum class Outcome : std::uint8_t { committed, fenced, failed };
  /// How a group of batches was committed, and how many transactions were aborted on the way.
  void transaction(Outcome outcome, double seconds, unsigned aborted = 0);

  void snapshot_written(std::chrono::steady_clock::time_point time);
  void snapshot_failed();

  void alerts_suppressed(std::string_view query, std::string_view sink, std::uint64_t count);
  /// Of a sink that the transactions feed.
  void alerts_delivered(std::string_view sink, std::uint64_t count);
  /// Of a sink that a Deliverer feeds, as it stands.
  void sink(std::string_view sink, const DeliveryStatistics& statistics);

  void state(ServiceState state);

  /// The text exposition, as GET /metrics gives it. The snapshot's age is that of now.
  [[nodiscard]] std::string text() const;
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Series;
  std::unique_ptr<Series> series_;
};

}  // namespace deltamatch::ingest
