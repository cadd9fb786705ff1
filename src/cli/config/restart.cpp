// The structures are taken apart into all their members, so a new member does not compile before its key is known here.
#include "cli/config/restart.hpp"

namespace deltamatch::cli {

namespace {

/// The input without what codecs know of the graph, which has keys of its own.
ingest::InputOptions alone(ingest::InputOptions input) {
  input.shard = {};  // a key of its own
  for (ingest::InputTopics& topics : input.topics) {
    topics.codec.edges = {};
    topics.codec.attributes.clear();
    topics.codec.vertex_attributes.clear();
  }
  return input;
}

/// The application and the state without what shards make of them.
std::string application_of(const ingest::ServiceOptions& service) {
  return service.input.shard.divided() ? service.input.shard.of : service.application;
}
ingest::StateOptions state_of(const ingest::ServiceOptions& service) {
  ingest::StateOptions state = service.state;
  if (service.input.shard.divided()) state.directory = state.directory.parent_path();
  return state;
}

/// Where messages have the attributes, if the configuration of the graph says so.
std::vector<ingest::AttributeColumn> attributes_of(const ingest::InputOptions& input) {
  std::vector<ingest::AttributeColumn> all;
  for (const ingest::InputTopics& topics : input.topics) {
    all.insert(all.end(), topics.codec.attributes.begin(), topics.codec.attributes.end());
    all.insert(all.end(), topics.codec.vertex_attributes.begin(), topics.codec.vertex_attributes.end());
    break;  // all topics have the same
  }
  return all;
}

}  // namespace

std::vector<std::string> keys_that_need_restart(const ServiceConfig& before, const ServiceConfig& now) {
  // The backend of an engine is made from `backend`, and warnings are about the text.
  // The budget is in each query that has none of its own.
  const auto& [service, backend, budget, warnings] = before;
  const auto& [service_now, backend_now, budget_now, warnings_now] = now;
  const auto& [application, kafka, transaction_timeout, input, start_graph, batching, existing, engine, state, standby, workers,
               sinks, queries, http, logging, shutdown_timeout] = service;
  const auto& [application_now, kafka_now, transaction_timeout_now, input_now, start_graph_now, batching_now, existing_now,
               engine_now, state_now, standby_now, workers_now, sinks_now, queries_now, http_now, logging_now,
               shutdown_timeout_now] = service_now;
  const auto& [directed, threads, window, lateness, order, schema, self_loops, made] = engine;
  const auto& [directed_now, threads_now, window_now, lateness_now, order_now, schema_now, self_loops_now, made_now] =
      engine_now;
  std::vector<std::string> names;
  const auto compare = [&names](const char* key, bool same) {
    if (!same) names.emplace_back(key);
  };
  compare("application", application_of(service) == application_of(service_now));
  compare("state", state_of(service) == state_of(service_now));
  compare("shards", input.shard.count == input_now.shard.count);
  compare("standby", standby == standby_now);
  compare("workers", workers == workers_now);
  compare("kafka", kafka == kafka_now);
  compare("transaction_timeout", transaction_timeout == transaction_timeout_now);
  compare("input", alone(input) == alone(input_now));
  compare("graph", start_graph == start_graph_now && directed == directed_now && window == window_now &&
                       lateness == lateness_now && order == order_now && self_loops == self_loops_now && schema == schema_now &&
                       attributes_of(input) == attributes_of(input_now));
  compare("batch", batching == batching_now);
  compare("existing", existing == existing_now);
  compare("engine", threads == threads_now && backend == backend_now);
  compare("sinks", sinks == sinks_now);
  compare("http", http == http_now);
  compare("log", logging == logging_now);
  compare("shutdown_timeout", shutdown_timeout == shutdown_timeout_now);
  return names;
}

}  // namespace deltamatch::cli
