#include "ingest/service/http/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "ingest/service/http/process_metrics.hpp"

namespace deltamatch::ingest {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Labels;
using prometheus::Registry;

constexpr std::array states{ServiceState::starting, ServiceState::standby, ServiceState::recovering, ServiceState::running,
                            ServiceState::stopping};

/// Bucket boundaries in seconds, from a tenth of a millisecond to half a minute.
const Histogram::BucketBoundaries& buckets() {
  static const Histogram::BucketBoundaries boundaries{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                      0.1,    0.25,    0.5,    1,     2.5,    5,     10,   30};
  return boundaries;
}

// Registering a family again gives the one that is there.
Family<Counter>& counters(Registry& registry, const std::string& name, const std::string& help) {
  return BuildCounter().Name(name).Help(help).Register(registry);
}

Family<Gauge>& gauges(Registry& registry, const std::string& name, const std::string& help) {
  return BuildGauge().Name(name).Help(help).Register(registry);
}

Family<Histogram>& histograms(Registry& registry, const char* name, const char* help) {
  return BuildHistogram().Name(name).Help(help).Register(registry);
}

/// Raises a counter to a total. One thread at a time may use it per counter.
void raise_to(Counter& counter, double total) {
  const double more = total - counter.Value();
  if (more > 0) counter.Increment(more);
}

Labels edge_change(const char* change) { return {{"change", change}}; }

std::string_view outcome_name(Metrics::Outcome outcome) noexcept {
  switch (outcome) {
    case Metrics::Outcome::committed:
      return "committed";
    case Metrics::Outcome::fenced:
      return "fenced";
    case Metrics::Outcome::failed:
      return "failed";
  }
  return "unknown";
}

std::string text_of(std::string_view view) { return std::string(view); }

/// Removes the series of a query.
template <class Metric>
void forget(Family<Metric>& family, std::string_view query) {
  for (const prometheus::MetricFamily& found : family.Collect()) {
    for (const prometheus::ClientMetric& metric : found.metric) {
      Labels labels;
      for (const prometheus::ClientMetric::Label& label : metric.label) labels.emplace(label.name, label.value);
      const auto named = labels.find("query");
      if (named != labels.end() && named->second == query) family.Remove(&family.Add(labels));
    }
  }
}

}  // namespace

std::string_view state_name(ServiceState state) noexcept {
  switch (state) {
    case ServiceState::starting:
      return "starting";
    case ServiceState::standby:
      return "standby";
    case ServiceState::recovering:
      return "recovering";
    case ServiceState::running:
      return "running";
    case ServiceState::stopping:
      return "stopping";
  }
  return "unknown";
}

constexpr std::chrono::steady_clock::time_point no_time = std::chrono::steady_clock::time_point::min();

struct Metrics::Series {
  explicit Series(std::string_view version) {
    gauges(registry, "deltamatch_build_info", "Always 1; the label version says which version runs.")
        .Add({{"version", text_of(version)}})
        .Set(1);
  }

  Registry registry;

  Counter& updates =
      counters(registry, "deltamatch_updates_total", "Updates in committed batches, refused ones included.").Add({});
  Counter& batches = counters(registry, "deltamatch_batches_total", "Committed batches.").Add({});
  Family<Counter>& events = counters(registry, "deltamatch_log_events_total", "Warnings and errors of the log.");
  Histogram& batch_seconds =
      histograms(registry, "deltamatch_batch_seconds", "Seconds from the first record of a batch to its commit.")
          .Add({}, buckets());
  Family<Histogram>& step_seconds = histograms(registry, "deltamatch_step_seconds", "Seconds of one step in one batch.");
  Family<Counter>& edge_changes = counters(registry, "deltamatch_edge_changes_total", "Net edge changes of each batch.");
  Counter& inserted = edge_changes.Add(edge_change("inserted"));
  Counter& deleted = edge_changes.Add(edge_change("deleted"));
  Counter& expired = edge_changes.Add(edge_change("expired"));
  Family<Counter>& ignored = counters(registry, "deltamatch_ignored_updates_total", "Updates that changed nothing.");
  Counter& duplicate_insert = ignored.Add({{"cause", "duplicate_insert"}});
  Counter& absent_delete = ignored.Add({{"cause", "absent_delete"}});
  Counter& superseded = ignored.Add({{"cause", "superseded"}});
  Counter& late = ignored.Add({{"cause", "late"}});
  Counter& self_loop = ignored.Add({{"cause", "self_loop"}});
  std::mutex queries_mutex;  // a series of a query may be removed while other threads count
  Family<Counter>& matches =
      counters(registry, "deltamatch_matches_total", "Matches that appeared (sign +) and vanished (sign -).");

  Family<Counter>& query_seconds =
      counters(registry, "deltamatch_query_seconds_total", "Seconds of matching that a query took.");
  Family<Counter>& suppressed_matches =
      counters(registry, "deltamatch_matches_suppressed_total", "New matches that ALERT ONCE left out.");
  Family<Counter>& over_budget = counters(registry, "deltamatch_query_over_budget_total",
                                          "Batches in which a query exceeded its budget of matches (limit) or time (timeout).");
  Family<Gauge>& suspended_queries =
      gauges(registry, "deltamatch_query_suspended", "1 while a query is suspended because it exceeded its budget.");
  Gauge& under_way =
      gauges(registry, "deltamatch_batch_under_way_seconds", "Seconds spent on the current batch; 0 for short ones.").Add({});

  Gauge& edges = gauges(registry, "deltamatch_graph_edges", "Edges of the data graph.").Add({});
  Gauge& vertices = gauges(registry, "deltamatch_graph_vertices", "Vertices of the data graph.").Add({});
  Gauge& bytes = gauges(registry, "deltamatch_graph_bytes", "Bytes of lists, dictionary and labels of the data graph.").Add({});
  Family<Gauge>& labels =
      gauges(registry, "deltamatch_graph_labels", "Different labels of vertices, or of edges, in the data graph.");
  Family<Gauge>& watermark =
      gauges(registry, "deltamatch_watermark_seconds", "Event time up to which the stream is complete, since the epoch.");

  Gauge& missing = gauges(registry, "deltamatch_input_partitions_missing",
                          "Partitions that are gone, and named topics that are not there yet.")
                       .Add({});
  Family<Gauge>& lag = gauges(registry, "deltamatch_consumer_lag", "Records in Kafka that are in no committed batch.");
  std::set<Gauge*> lags{};  // what `lag` has
  Family<Counter>& bad_records = counters(registry, "deltamatch_bad_records_total", "Refused records.");
  Gauge& refused_share =
      gauges(registry, "deltamatch_refused_share", "Share of the last 10,000 records that was refused, from 0 to 1.").Add({});
  Family<Counter>& doubtful =
      counters(registry, "deltamatch_doubtful_readings_total", "Warnings about how records are read, by code.");
  Family<Counter>& dead_letters =
      counters(registry, "deltamatch_dead_letters_total", "Refused records that were kept as dead letters.");
  Family<Counter>& shortened =
      counters(registry, "deltamatch_shortened_records_total",
               "Alerts and dead letters that were shortened because their topic refuses longer records.");

  Family<Counter>& transactions = counters(registry, "deltamatch_transactions_total", "Transactions by outcome.");
  Histogram& transaction_seconds =
      histograms(registry, "deltamatch_transaction_seconds", "Seconds from a transaction's begin to its outcome.")
          .Add({}, buckets());

  Family<Gauge>& snapshot_age =
      gauges(registry, "deltamatch_snapshot_age_seconds", "Seconds since the newest snapshot was written.");
  Counter& snapshot_failures =
      counters(registry, "deltamatch_snapshot_failures_total", "Snapshots that could not be written.").Add({});
  Counter& shared = counters(registry, "deltamatch_shared_snapshots_total", "Snapshots that were shared.").Add({});
  Counter& share_failures = counters(registry, "deltamatch_share_failures_total", "Failed tries to reach the share.").Add({});
  Gauge& streams = gauges(registry, "deltamatch_alert_streams", "Open streams of alerts, such as those of live pages.").Add({});
  Counter& cut_off = counters(registry, "deltamatch_alert_streams_cut_off_total",
                              "Streams of alerts that ended because their client took nothing.")
                         .Add({});
  Gauge& standby_ready =
      gauges(registry, "deltamatch_standby_ready", "1 if this instance stands by and could take over now.").Add({});
  Gauge& behind_batches =
      gauges(registry, "deltamatch_standby_behind_batches", "Batches that a standby would have to repeat.").Add({});
  Gauge& behind_seconds =
      gauges(registry, "deltamatch_standby_behind_seconds", "Age of the first batch that a standby lacks.").Add({});

  Family<Gauge>& slot_own = gauges(registry, "deltamatch_slot_own", "1 if this worker owns the slot, else 0.");
  Family<Gauge>& slot_published =
      gauges(registry, "deltamatch_slot_published_batch", "The last batch whose part is published.");
  Family<Gauge>& slot_lag =
      gauges(registry, "deltamatch_slot_lag_batches", "Batches that are cut and not published by the slot.");
  Family<Gauge>& worker_leads = gauges(registry, "deltamatch_worker_leads", "1 if this worker leads, else 0.");
  Family<Counter>& gate_seconds =
      counters(registry, "deltamatch_gate_seconds_total", "Time that matched parts have waited for the parts of other slots.");
  Family<Counter>& wrong_digests =
      counters(registry, "deltamatch_wrong_digests_total", "Published parts whose digest is not that of the leader.");

  Family<Counter>& suppressed =
      counters(registry, "deltamatch_alerts_suppressed_total", "Alerts that the rate limit of a sink kept from it.");
  std::mutex raising_mutex;
  Family<Counter>& delivered = counters(registry, "deltamatch_alerts_delivered_total", "Alerts delivered to a sink.");
  Family<Gauge>& undelivered = gauges(registry, "deltamatch_sink_undelivered_batches",
                                      "Committed batches whose alerts are not delivered to a sink yet.");
  Family<Counter>& delivery_failures =
      counters(registry, "deltamatch_delivery_failures_total", "Failed tries to deliver a batch to a sink.");
  Family<Counter>& dropped = counters(registry, "deltamatch_alerts_dropped_total",
                                      "Alerts that a sink gave up, or that a batch had beyond max_messages.");

  Family<Gauge>& state = gauges(registry, "deltamatch_state", "1 for the state that the service is in, 0 for the others.");

  std::atomic<std::chrono::steady_clock::time_point> snapshot_time{no_time};
};

Metrics::Metrics(std::string_view version) : series_(std::make_unique<Series>(version)) {
  for (std::size_t reason = 0; reason < reject_reason_count; ++reason) {
    bad_records(static_cast<RejectReason>(reason), 0);
    dead_letters(static_cast<RejectReason>(reason), 0);
  }
  for (const Outcome outcome : {Outcome::committed, Outcome::fenced, Outcome::failed})
    series_->transactions.Add({{"outcome", text_of(outcome_name(outcome))}});
  series_->transactions.Add({{"outcome", "aborted"}});
}

Metrics::~Metrics() = default;

void Metrics::batch(const BatchResult& result, std::span<const std::string> names, double seconds) {
  const auto add = [](Counter& counter, auto count) { counter.Increment(static_cast<double>(count)); };
  add(series_->updates, result.consumed);
  add(series_->batches, 1);
  series_->batch_seconds.Observe(seconds);
  add(series_->inserted, result.inserted);
  add(series_->deleted, result.deleted - result.expired);
  add(series_->expired, result.expired);
  add(series_->duplicate_insert, result.ignored.duplicate_insert);
  add(series_->absent_delete, result.ignored.absent_delete);
  add(series_->superseded, result.ignored.superseded);
  add(series_->late, result.ignored.late);
  add(series_->self_loop, result.ignored.self_loop);
  step("apply", result.seconds.apply);
  step("anticipate", result.seconds.anticipate);
  step("estimate", result.seconds.estimate);
  step("cache", result.seconds.cache);
  step("match", result.seconds.match);
  step("settle", result.seconds.settle);
  if (result.watermark) watermark(*result.watermark);
  const std::lock_guard lock(series_->queries_mutex);
  for (std::size_t i = 0; i < result.queries.size(); ++i) {
    add(series_->matches.Add({{"query", names[i]}, {"sign", "+"}}), result.queries[i].added);
    add(series_->matches.Add({{"query", names[i]}, {"sign", "-"}}), result.queries[i].removed);
    add(series_->query_seconds.Add({{"query", names[i]}}), result.queries[i].seconds);
    if (result.queries[i].suppressed > 0)
      add(series_->suppressed_matches.Add({{"query", names[i]}}), result.queries[i].suppressed);
  }
}

void Metrics::step(std::string_view step, double seconds) {
  series_->step_seconds.Add({{"step", text_of(step)}}, buckets()).Observe(seconds);
}

void Metrics::forget_query(std::string_view name) {
  const std::lock_guard lock(series_->queries_mutex);
  for (Family<Counter>* const family :
       {&series_->matches, &series_->query_seconds, &series_->suppressed_matches, &series_->over_budget, &series_->suppressed})
    forget(*family, name);
  forget(series_->suspended_queries, name);
}

void Metrics::over_budget(std::string_view name, Shortfall shortfall) {
  const std::lock_guard lock(series_->queries_mutex);
  series_->over_budget.Add({{"query", text_of(name)}, {"over", text_of(shortfall_name(shortfall))}}).Increment();
}

void Metrics::suspended(std::string_view name, bool is) {
  const std::lock_guard lock(series_->queries_mutex);
  series_->suspended_queries.Add({{"query", text_of(name)}}).Set(is ? 1 : 0);
}

void Metrics::batch_under_way(double seconds) { series_->under_way.Set(seconds); }

void Metrics::graph(const GraphStatistics& graph) {
  series_->edges.Set(static_cast<double>(graph.edges));
  series_->vertices.Set(static_cast<double>(graph.vertices));
  series_->bytes.Set(static_cast<double>(graph.bytes));
  series_->labels.Add({{"of", "vertices"}}).Set(static_cast<double>(graph.vertex_labels));
  series_->labels.Add({{"of", "edges"}}).Set(static_cast<double>(graph.edge_labels));
}

void Metrics::backend(const BackendStatistics& statistics) {
  const std::lock_guard lock(series_->raising_mutex);
  Registry& registry = series_->registry;
  const std::string prefix = "deltamatch_" + statistics.backend + "_";
  for (const BackendMetric& metric : statistics.metrics) {
    const double value = statistics.real(metric.name);
    if (metric.kind == BackendMetric::Kind::gauge) {
      gauges(registry, prefix + metric.name, metric.help).Add({}).Set(value);
    } else if (metric.name == backend_metrics::hits || metric.name == backend_metrics::misses) {
      // One family of both, so that a query can divide one by their sum.
      const char* const result = metric.name == backend_metrics::hits ? "hit" : "miss";
      raise_to(
          counters(registry, prefix + "look_ups_total", "Lists looked up in the backend's memory (hit) or host memory (miss).")
              .Add({{"result", result}}),
          value);
    } else {
      raise_to(counters(registry, prefix + metric.name + "_total", metric.help).Add({}), value);
    }
  }
}

void Metrics::watermark(Timestamp watermark) { series_->watermark.Add({}).Set(static_cast<double>(watermark) * 1e-6); }

void Metrics::consumer_lag(const TopicPartition& partition, std::int64_t records) {
  Gauge& lag = series_->lag.Add({{"topic", partition.topic}, {"partition", std::to_string(partition.partition)}});
  lag.Set(static_cast<double>(records));
  series_->lags.insert(&lag);
}

void Metrics::no_consumer_lag() {
  for (Gauge* lag : series_->lags) series_->lag.Remove(lag);
  series_->lags.clear();
}

void Metrics::bad_records(RejectReason reason, std::uint64_t count) {
  series_->bad_records.Add({{"reason", text_of(reject_name(reason))}}).Increment(static_cast<double>(count));
}

void Metrics::refused_share(double share) { series_->refused_share.Set(share); }

void Metrics::doubtful_reading(std::string_view code) { series_->doubtful.Add({{"code", text_of(code)}}).Increment(); }

void Metrics::partitions_missing(std::size_t count) { series_->missing.Set(static_cast<double>(count)); }

void Metrics::event(Level level, std::string_view event) noexcept {
  try {
    const char* const name = level == Level::error ? "error" : "warn";
    series_->events.Add({{"level", name}, {"event", text_of(event)}}).Increment();
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for the series; the log still has the event
  }
}

void Metrics::record_shortened(std::string_view topic) { series_->shortened.Add({{"topic", text_of(topic)}}).Increment(); }

void Metrics::dead_letters(RejectReason reason, std::uint64_t count) {
  series_->dead_letters.Add({{"reason", text_of(reject_name(reason))}}).Increment(static_cast<double>(count));
}

void Metrics::transaction(Outcome outcome, double seconds, unsigned aborted) {
  series_->transactions.Add({{"outcome", text_of(outcome_name(outcome))}}).Increment();
  series_->transactions.Add({{"outcome", "aborted"}}).Increment(aborted);
  series_->transaction_seconds.Observe(seconds);
}

void Metrics::snapshot_written(std::chrono::steady_clock::time_point time) { series_->snapshot_time = time; }

void Metrics::snapshot_failed() { series_->snapshot_failures.Increment(); }

void Metrics::share(std::uint64_t published, std::uint64_t failures) {
  const std::lock_guard lock(series_->raising_mutex);
  raise_to(series_->shared, static_cast<double>(published));
  raise_to(series_->share_failures, static_cast<double>(failures));
}

void Metrics::standby(bool ready, std::uint64_t behind_batches, double behind_seconds) {
  series_->standby_ready.Set(ready ? 1 : 0);
  series_->behind_batches.Set(static_cast<double>(behind_batches));
  series_->behind_seconds.Set(behind_seconds);
}

void Metrics::slot(std::uint32_t slot, bool own, std::uint64_t published, std::uint64_t lag) {
  const std::string number = std::to_string(slot);
  series_->slot_own.Add({{"slot", number}}).Set(own ? 1 : 0);
  series_->slot_published.Add({{"slot", number}}).Set(static_cast<double>(published));
  series_->slot_lag.Add({{"slot", number}}).Set(static_cast<double>(lag));
}

void Metrics::worker(bool leads, double gate_seconds, std::uint64_t wrong_digests) {
  const std::lock_guard lock(series_->raising_mutex);
  series_->worker_leads.Add({}).Set(leads ? 1 : 0);
  raise_to(series_->gate_seconds.Add({}), gate_seconds);
  raise_to(series_->wrong_digests.Add({}), static_cast<double>(wrong_digests));
}

void Metrics::streams(std::size_t open, std::uint64_t cut_off) {
  const std::lock_guard lock(series_->raising_mutex);
  series_->streams.Set(static_cast<double>(open));
  raise_to(series_->cut_off, static_cast<double>(cut_off));
}

void Metrics::alerts_suppressed(std::string_view query, std::string_view sink, std::uint64_t count) {
  const std::lock_guard lock(series_->queries_mutex);
  series_->suppressed.Add({{"query", text_of(query)}, {"sink", text_of(sink)}}).Increment(static_cast<double>(count));
}

void Metrics::alerts_delivered(std::string_view sink, std::uint64_t count) {
  series_->delivered.Add({{"sink", text_of(sink)}}).Increment(static_cast<double>(count));
}

void Metrics::sink(std::string_view sink, const DeliveryStatistics& statistics) {
  const Labels labels{{"sink", text_of(sink)}};
  const std::lock_guard lock(series_->raising_mutex);
  series_->undelivered.Add(labels).Set(static_cast<double>(statistics.undelivered));
  raise_to(series_->delivered.Add(labels), static_cast<double>(statistics.alerts));
  raise_to(series_->delivery_failures.Add(labels), static_cast<double>(statistics.failures));
  const auto dropped = [&](const char* reason, std::uint64_t count) {
    raise_to(series_->dropped.Add({{"sink", text_of(sink)}, {"reason", reason}}), static_cast<double>(count));
  };
  dropped("given_up", statistics.dropped - statistics.left_out);
  dropped("max_messages", statistics.left_out);
}

void Metrics::shard(std::uint32_t number, std::uint32_t count) {
  gauges(series_->registry, "deltamatch_shard", "Always 1; the labels say which shard of how many this is.")
      .Add({{"number", std::to_string(number)}, {"count", std::to_string(count)}})
      .Set(1);
}

void Metrics::state(ServiceState state) {
  for (const ServiceState each : states) series_->state.Add({{"state", text_of(state_name(each))}}).Set(each == state ? 1 : 0);
}

std::string Metrics::text() const {
  if (const auto written = series_->snapshot_time.load(); written != no_time) {
    series_->snapshot_age.Add({}).Set(std::chrono::duration<double>(std::chrono::steady_clock::now() - written).count());
  }
  std::vector<prometheus::MetricFamily> families = series_->registry.Collect();
  std::ranges::move(process_metrics(), std::back_inserter(families));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace deltamatch::ingest
