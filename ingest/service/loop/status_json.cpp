#include "ingest/service/loop/status_json.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <variant>

#include "deltamatch/value_text.hpp"
#include "ingest/text/exact_json.hpp"

namespace deltamatch::ingest {
namespace {

nlohmann::json graph_json(const GraphStatistics& graph) {
  return {{"vertices", graph.vertices},
          {"edges", graph.edges},
          {"vertex_labels", graph.vertex_labels},
          {"edge_labels", graph.edge_labels},
          {"bytes", graph.bytes}};
}

nlohmann::json to_json(const DeliveryStatistics& sink) {
  return {{"batches", sink.batches}, {"alerts", sink.alerts},           {"failures", sink.failures},
          {"dropped", sink.dropped}, {"undelivered", sink.undelivered}, {"last_error", sink.last_error}};
}

nlohmann::json to_json(const BackendStatistics& backend) {
  nlohmann::json out = nlohmann::json::object();
  for (const BackendMetric& metric : backend.metrics) {
    std::visit([&](auto value) { out[metric.name] = value; }, metric.value);
  }
  if (!backend.notice.empty()) out["notice"] = backend.notice;
  return out;
}

}  // namespace

nlohmann::json to_json(const StandbyStatus& status) {
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  nlohmann::json out{{"could_take_over", status.could_take_over},
                     {"why_not", status.why_not},
                     {"warm", status.warm},
                     {"doing", status.doing},
                     {"batch", number(status.batch)},
                     {"committed", number(status.committed)},
                     {"behind_batches", status.behind_batches},
                     {"behind_seconds", status.behind_seconds},
                     {"from", status.from}};
  if (status.share_failures > 0) out["share"] = {{"failures", status.share_failures}, {"last_error", status.share_error}};
  if (!status.refused.empty()) out["refused_snapshots"] = status.refused;
  return out;
}

nlohmann::json to_json(const ShareStatistics& share) {
  return {{"batch", share.last_batch},
          {"published", share.published},
          {"failures", share.failures},
          {"last_error", share.last_error}};
}

namespace {

nlohmann::json refused_json(const RefusedRecords::Seen& seen) {
  return {{"records", seen.share.refused()}, {"of", seen.share.records()}, {"last", seen.last}};
}

/// Where each partition is: what is committed, and of whoever reads it, how far it has read.
nlohmann::json partitions_json(const Offsets& committed, const std::vector<kafka::Progress>& input) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [partition, end] : committed) out[to_string(partition)]["committed"] = end;
  for (const kafka::Progress& progress : input) {
    out[to_string(progress.id)].update({{"read", progress.seen}, {"end", progress.end}});
    if (const auto lag = lag_of(progress, committed)) out[to_string(progress.id)]["lag"] = *lag;
  }
  return out;
}

}  // namespace

nlohmann::json to_json(const Pipeline::Status& status) {
  nlohmann::json out;
  out["batch"] = status.committed.batch;
  const std::optional<Timestamp>& watermark = status.committed.watermark;
  out["time"] = watermark ? nlohmann::json(*watermark) : nlohmann::json();
  out["time_at"] = watermark ? nlohmann::json(time_text(*watermark)) : nlohmann::json();
  if (status.committed.digest) out["digest"] = to_string(status.committed.digest->now);
  out["updates"] = status.updates;
  out["graph"] = graph_json(status.graph);
  if (status.backend) out[status.backend->backend] = to_json(*status.backend);
  out["refused"] = refused_json(status.refused);
  out["warnings"] = nlohmann::json::array();
  for (const Warning& warning : status.warnings) {
    out["warnings"].push_back(
        {{"code", warning.code}, {"where", warning.where}, {"what", warning.what}, {"remedy", warning.remedy}});
  }
  out["queries"] = nlohmann::json::array();
  for (const ActiveQuery& query : status.queries) out["queries"].push_back(query.name);
  out["query_seconds"] = nlohmann::json::object();
  for (const ActiveQuery& query : status.queries) {
    const auto matches = status.matches.find(query.name);
    out["query_seconds"][query.name] = matches == status.matches.end() ? 0.0 : matches->second.seconds;
  }
  out["suspended"] = nlohmann::json::object();
  for (const SuspendedQuery& query : status.suspended)
    out["suspended"][query.name] = {{"batch", query.batch}, {"over", shortfall_name(query.shortfall)}};
  out["suppressed"] = nlohmann::json::object();
  for (const auto& [name, matches] : status.suppressed) out["suppressed"][name] = exact<nlohmann::json>(matches);
  out["matches"] = nlohmann::json::object();
  for (const auto& [name, matches] : status.matches) {
    const auto standing = std::ranges::find(status.queries, name, &ActiveQuery::name);
    const auto suspended = std::ranges::find(status.suspended, name, &SuspendedQuery::name);
    if (standing == status.queries.end() && suspended == status.suspended.end()) continue;  // it was removed
    out["matches"][name] = {{"appeared", exact<nlohmann::json>(matches.added)},
                            {"vanished", exact<nlohmann::json>(matches.removed)},
                            {"seconds", matches.seconds}};
  }
  if (const auto times = status.batch_times.summary())
    out["batches"] = {
        {"of", times->of}, {"last", times->last}, {"median", times->median}, {"p99", times->p99}, {"longest", times->longest}};
  out["queue"] = {{"batches", status.commits.waiting}};
  if (status.under_way) {
    const BatchMonitor::Now& now = *status.under_way;
    out["under_way"] = {{"batch", now.batch},
                        {"seconds", now.seconds},
                        {"query", now.query},
                        {"matches", now.matches},
                        {"existing", now.work == BatchMonitor::Work::existing}};
  }
  out["sinks"] = nlohmann::json::object();
  for (const auto& [name, sink] : status.sinks) out["sinks"][name] = to_json(sink);
  for (const auto& [name, sink] : status.topics) out["sinks"][name] = to_json(sink);
  out["snapshot"] = {
      {"batch", status.snapshots.last_batch}, {"made", status.snapshots.made}, {"failures", status.snapshots.failures}};
  if (status.snapshots.last_made)
    out["snapshot"]["age"] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - *status.snapshots.last_made).count();
  out["transactions"] = status.commits.transactions;
  out["partitions"] = partitions_json(status.committed.ends, status.input);
  return out;
}

namespace {

nlohmann::json worker_json(const WorkerStatus& worker) {
  nlohmann::json out{{"name", worker.name},
                     {"leads", worker.leads},
                     {"leaves", worker.leaves},
                     {"cut", worker.cut},
                     {"published", worker.published},
                     {"waiting", {{"batches", worker.waiting}, {"bytes", worker.waiting_bytes}}},
                     {"gate_seconds", worker.gate_seconds},
                     {"wrong_digests", worker.wrong_digests}};
  out["batch"] = worker.batch ? nlohmann::json(*worker.batch) : nlohmann::json();
  out["slots"] = nlohmann::json::array();
  for (const SlotStatus& slot : worker.slots)
    out["slots"].push_back({{"slot", slot.slot}, {"worker", slot.worker}, {"published", slot.progress}});
  return out;
}

}  // namespace

nlohmann::json to_json(const WorkerStatus& worker) {
  nlohmann::json out{{"batch", worker.published}, {"updates", worker.updates}, {"graph", graph_json(worker.graph)}};
  const std::optional<Timestamp> watermark = worker.mark ? worker.mark->watermark : std::nullopt;
  out["time"] = watermark ? nlohmann::json(*watermark) : nlohmann::json();
  out["time_at"] = watermark ? nlohmann::json(time_text(*watermark)) : nlohmann::json();
  out["queries"] = nlohmann::json::array();
  out["partitions"] = partitions_json(worker.mark ? worker.mark->ends : Offsets(), worker.input);
  if (worker.mark) {
    for (const ActiveQuery& query : worker.mark->queries) out["queries"].push_back(query.name);
  }
  if (worker.leads) out["refused"] = refused_json(worker.refused);
  out["worker"] = worker_json(worker);
  return out;
}

}  // namespace deltamatch::ingest
