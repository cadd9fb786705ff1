#include "ingest/service/service.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/kafka/ownership.hpp"
#include "ingest/service/bring_up.hpp"
#include "ingest/service/http_server.hpp"
#include "ingest/service/metrics.hpp"
#include "ingest/service/pipeline.hpp"
#include "ingest/service/systemd.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto patience = 60s;  // with brokers that do not answer at the start

StateIdentity identity(const ServiceOptions& options) {
  StateIdentity identity{options.application, options.engine.directed, options.engine.window, {}};
  for (const InputTopics& topics : options.input.topics) identity.topics.push_back(topics.name);
  return identity;
}

nlohmann::json to_json(const DeliveryStatistics& sink) {
  return {{"batches", sink.batches}, {"alerts", sink.alerts},           {"failures", sink.failures},
          {"dropped", sink.dropped}, {"undelivered", sink.undelivered}, {"last_error", sink.last_error}};
}

nlohmann::json to_json(const Pipeline::Status& status) {
  nlohmann::json out;
  out["batch"] = status.committed.batch;
  out["time"] = status.committed.watermark ? nlohmann::json(*status.committed.watermark) : nlohmann::json();
  out["updates"] = status.updates;
  out["graph"] = {{"vertices", status.graph.vertices}, {"edges", status.graph.edges}, {"bytes", status.graph.bytes}};
  out["queries"] = nlohmann::json::array();
  for (const ActiveQuery& query : status.queries) out["queries"].push_back(query.name);
  out["sinks"] = nlohmann::json::object();
  for (const auto& [name, sink] : status.sinks) out["sinks"][name] = to_json(sink);
  out["snapshot"] = {
      {"batch", status.snapshots.last_batch}, {"made", status.snapshots.made}, {"failures", status.snapshots.failures}};
  out["transactions"] = status.commits.transactions;
  out["partitions"] = nlohmann::json::object();
  for (const auto& [partition, end] : status.committed.ends) out["partitions"][to_string(partition)]["committed"] = end;
  for (const kafka::Progress& progress : status.input) {
    out["partitions"][to_string(progress.id)].update({{"read", progress.seen}, {"end", progress.end}});
  }
  return out;
}

}  // namespace

std::vector<std::string> output_topics(const ServiceOptions& options) {
  std::vector<std::string> topics;
  for (const SinkOptions& sink : options.sinks) {
    if (sink.kind == SinkOptions::Kind::kafka) topics.push_back(sink.topic);
  }
  if (!options.input.dead_letter_topic.empty()) topics.push_back(options.input.dead_letter_topic);
  return topics;
}

struct Service::Impl {
  Impl(ServiceOptions wanted, std::string_view version, Journal& told, std::function<std::vector<ServiceQuery>()> read)
      : options(std::move(wanted)),
        journal(told),
        reread(std::move(read)),
        metrics(version),
        systemd(Systemd::from_environment()) {}

  void run();
  void drop_pipeline();
  void enter(ServiceState next);
  void progress(const std::string& word);
  void keep_alive(const std::stop_token& stop) const;
  std::string reload();
  std::string status();
  std::string metrics_text();
  std::string not_ready();

  const ServiceOptions options;
  Journal& journal;
  std::function<std::vector<ServiceQuery>()> reread;
  Metrics metrics;
  Systemd systemd;
  std::stop_source stop;
  std::atomic<ServiceState> state{ServiceState::standby};
  std::mutex reload_mutex;
  std::mutex mutex;
  std::string word;                     // guarded by mutex: what recovery is at
  std::shared_ptr<Pipeline> pipeline;   // likewise, as below
  std::uint64_t snapshot_failures = 0;  // told to the metrics
};

void Service::Impl::enter(ServiceState next) {
  state = next;
  metrics.state(next);
  systemd.status(state_name(next));
  journal.tell(Level::info, state_name(next));
}

void Service::Impl::progress(const std::string& now) {
  {
    const std::scoped_lock lock(mutex);
    word = now;
  }
  systemd.status(now);
  journal.tell(Level::info, now);
}

/// Recovery may take long, and so may one batch: what is watched is that the process runs at all.
void Service::Impl::keep_alive(const std::stop_token& done) const {
  const auto every = systemd.alive_every();
  if (!every) return;
  std::mutex sleep;
  std::condition_variable_any wake;
  std::unique_lock lock(sleep);
  while (!done.stop_requested()) {
    systemd.alive();
    wake.wait_for(lock, done, *every, [] { return false; });
  }
}

void Service::Impl::run() {
  metrics.state(state);
  const StateDirectory directory(options.state.directory, identity(options), journal);
  std::optional<HttpServer> http;
  if (options.http.enabled) {
    http.emplace(options.http, HttpHandlers{[this] { return metrics_text(); }, [this] { return not_ready(); },
                                            [this] { return status(); }, [this] { return reload(); }});
    journal.tell(Level::info, "listening", {{"address", fmt::format("{}:{}", options.http.host, http->port())}});
  }
  const kafka::Cluster cluster{options.application, options.kafka, &journal};
  kafka::Ownership ownership(cluster, Clock::now() + patience, [this] {
    journal.tell(Level::warn, "the group has taken the application away; going on unless another instance takes over");
  });
  const std::jthread alive([this](const std::stop_token& done) { keep_alive(done); });
  systemd.ready();
  enter(ServiceState::standby);
  if (ownership.wait_until_owned(stop.get_token())) {
    enter(ServiceState::recovering);
    kafka::Transactions transactions(cluster, options.transaction_timeout, Clock::now() + patience);
    kafka::Input input(cluster, options.input, output_topics(options));
    const BringUp context{options,         cluster, directory, journal, [this](const std::string& now) { progress(now); },
                          stop.get_token()};
    try {
      auto working = std::make_shared<Pipeline>(Pipeline::Context{options, directory, input, transactions, metrics, journal,
                                                                  [&ownership] { return ownership.owned(); }},
                                                bring_up(context, input, transactions));
      {
        const std::scoped_lock lock(mutex);
        pipeline = working;
      }
      const std::stop_callback stopping(stop.get_token(), [this] {
        systemd.stopping();
        enter(ServiceState::stopping);
      });
      working->run(stop.get_token(), [this] {
        if (!stop.stop_requested()) enter(ServiceState::running);
      });
    } catch (const Stopped&) {
      journal.tell(Level::info, "stopped while recovering");
    } catch (...) {
      if (http) http->stop();
      drop_pipeline();
      throw;
    }
    if (http) http->stop();
    drop_pipeline();
  }
  ownership.release(Clock::now() + 5s);
  journal.tell(Level::info, "stopped");
}

/// A reload under way holds on to the pipeline, and has its answer by now: what the pipeline refers to may go once it is gone.
void Service::Impl::drop_pipeline() {
  const std::scoped_lock reloads(reload_mutex);
  const std::scoped_lock lock(mutex);
  pipeline.reset();
}

std::string Service::Impl::reload() {
  const std::scoped_lock one_at_a_time(reload_mutex);
  std::vector<ServiceQuery> queries = reread();
  std::shared_ptr<Pipeline> working;
  {
    const std::scoped_lock lock(mutex);
    working = pipeline;
  }
  if (!working) {
    throw Error(ErrorKind::configuration, "reload", fmt::format("the service is {}", state_name(state)),
                "try again once it runs");
  }
  const QueryChange change = working->change_queries(std::move(queries));
  nlohmann::json out{{"added", nlohmann::json::array()}, {"removed", change.removed}};
  for (const ServiceQuery& query : change.added) out["added"].push_back(query.query.name);
  return out.dump();
}

std::string Service::Impl::status() {
  nlohmann::json out{{"v", 1}, {"application", options.application}, {"state", state_name(state)}};
  std::shared_ptr<Pipeline> working;
  {
    const std::scoped_lock lock(mutex);
    working = pipeline;
    if (state == ServiceState::recovering && !word.empty()) out["doing"] = word;
  }
  if (working) out.update(to_json(working->status()));
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string Service::Impl::metrics_text() {
  std::shared_ptr<Pipeline> working;
  {
    const std::scoped_lock lock(mutex);
    working = pipeline;
  }
  if (working) {
    const Pipeline::Status now = working->status();
    metrics.graph(now.graph);
    for (const auto& [name, sink] : now.sinks) metrics.sink(name, sink);
    for (const kafka::Progress& at : now.input) {
      if (at.end >= 0) metrics.consumer_lag(at.id, std::max<std::int64_t>(0, at.end - at.seen));
    }
    if (now.snapshots.last_made) metrics.snapshot_written(*now.snapshots.last_made);
    const std::scoped_lock lock(mutex);
    for (; snapshot_failures < now.snapshots.failures; ++snapshot_failures) metrics.snapshot_failed();
  }
  return metrics.text();
}

std::string Service::Impl::not_ready() {
  const std::scoped_lock lock(mutex);
  if (state == ServiceState::running) return pipeline ? pipeline->stalled() : std::string();
  return state == ServiceState::recovering && !word.empty() ? word : std::string(state_name(state));
}

Service::Service(ServiceOptions options, std::string_view version, Journal& journal,
                 std::function<std::vector<ServiceQuery>()> reread)
    : impl_(std::make_unique<Impl>(std::move(options), version, journal, std::move(reread))) {}
Service::~Service() = default;

void Service::run() { impl_->run(); }
void Service::stop() { impl_->stop.request_stop(); }
std::string Service::reload() { return impl_->reload(); }
std::string Service::status() const { return impl_->status(); }

}  // namespace deltamatch::ingest
