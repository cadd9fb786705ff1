// Describes a configuration for people who check it before they start it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "cli/config/service_config.hpp"
#include "cli/options/queries.hpp"
#include "cli/terminal/counted.hpp"
#include "cli/terminal/values.hpp"
#include "deltamatch/engine.hpp"
#include "ingest/codec/formats.hpp"
#include "ingest/codec/schema_text.hpp"
#include "ingest/service/alert/alert_sinks.hpp"

namespace deltamatch::cli {
namespace {

using ingest::ServiceOptions;
using ingest::SinkOptions;

std::string duration(std::chrono::microseconds time) { return duration_text(time.count()); }

class Summary {
 public:
  explicit Summary(const ServiceOptions& service) : service_(service) {}

  std::string text() {
    line("application", service_.application);
    shard();
    workers();
    input();
    graph();
    line("batch", fmt::format("up to {} updates, up to {}", grouped(service_.batching.max_updates),
                              duration(service_.batching.max_delay)));
    line("state", service_.state.directory.string());
    const ingest::ShareOptions& share = service_.state.share;
    if (share.shares()) line("share", share.path.empty() ? "by the command " + share.put.front() : share.path.string());
    for (const SinkOptions& sink : service_.sinks)
      line("sink", fmt::format("{}: {}", sink.name, ingest::traits_of(sink.kind).target(sink)));
    for (const ingest::ServiceQuery& query : service_.queries) this->query(query);
    const ingest::HttpOptions& http = service_.http;
    line("http", http.enabled ? fmt::format("{}:{}", http.host, http.port) : "off");
    return std::move(text_);
  }

 private:
  void line(std::string_view what, std::string_view says) {
    fmt::format_to(std::back_inserter(text_), "{:<12} {}\n", what, says);
  }

  void shard() {
    const ingest::ShardOptions& shard = service_.input.shard;
    if (!shard.divided()) return;
    std::string partitions = std::to_string(shard.number);
    for (std::uint32_t i = 1; i < 3; ++i) partitions += fmt::format(", {}", shard.number + i * shard.count);
    line("shard", fmt::format("{} of {}: the partitions {} and so on of each topic", shard.number, shard.count, partitions));
  }

  void workers() {
    const ingest::WorkersOptions& workers = service_.workers;
    if (workers.slots == 0) return;
    std::string text = counted(workers.slots, "slot", "slots");
    if (workers.spare) text += ", this one is a spare";
    if (!workers.name.empty()) text += ", named " + workers.name;
    text += workers.hang_after.count() == 0 ? ", never ends itself"
                                            : ", ends itself after a hang of " + duration(workers.hang_after);
    line("workers", text);
  }

  void input() {
    const ingest::InputOptions& input = service_.input;
    for (const ingest::InputTopics& topics : input.topics) {
      line("input", fmt::format("{}: {}{}", topics.name, ingest::traits_of(topics.format).configured_name(),
                                topics.codec.vertices ? ", vertices" : ""));
    }
    if (!input.registry.urls.empty()) line("registry", fmt::format("{}", fmt::join(input.registry.urls, ", ")));
    std::string letters;
    if (!input.dead_letter_topic.empty()) letters = " to the topic " + input.dead_letter_topic;
    if (!input.dead_letter_file.empty()) letters = " to " + input.dead_letter_file;
    line("bad records", fmt::format("{}{}", ingest::on_error_name(input.on_error), letters));
  }

  void graph() {
    const EngineOptions& engine = service_.engine;
    std::string text = engine.directed ? "directed" : "undirected";
    const Timestamp kept = retention();
    text += engine.window != 0 ? ", window " + duration_text(engine.window)
            : kept != 0        ? ", edges kept " + duration_text(kept) + " because of WITHIN"
                               : ", no window";
    if (engine.allowed_lateness != 0) text += ", allowed lateness " + duration_text(engine.allowed_lateness);
    if (engine.self_loops == SelfLoops::keep) text += ", self-loops kept";
    const ingest::StartGraph& start = service_.start_graph;
    if (!start.snapshot.empty()) text += ", starts from " + start.snapshot.string();
    if (!start.files.empty()) text += ", starts from " + counted(start.files.size(), "file", "files");
    line("graph", text);
    const Schema& schema = engine.schema;
    if (schema.model != EdgeModel::simple) {
      const std::string declared = ingest::attributes_text(schema.edges);
      line("edges", fmt::format("{}{}{}", ingest::model_name(schema.model), declared.empty() ? "" : "; ", declared));
    }
    if (!schema.vertices.empty()) line("vertices", ingest::attributes_text(schema.vertices));
  }

  /// How long edges are kept for the queries alone. 0: for ever.
  [[nodiscard]] Timestamp retention() const {
    EngineOptions options = service_.engine;
    options.threads = 1;
    Engine engine(options);
    for (const ingest::ServiceQuery& query : service_.queries) engine.add_query(query.query, query.options);
    return engine.retention();
  }

  void query(const ingest::ServiceQuery& query) {
    line("query",
         fmt::format("{}: {}, to {}", query.query.name, match_size(variants(query.query)),
                     query.sinks.empty() ? "no sink (counted only)" : fmt::format("{}", fmt::join(query.sinks, ", "))));
    if (query.budget.limits.any()) line("budget", fmt::format("{}: {}", query.query.name, limits(query.budget)));
  }

  /// "up to 30s, up to 1,000,000 matches, then suspend"
  static std::string limits(const ingest::ServiceBudget& budget) {
    std::string text;
    const auto& [time, matches] = budget.limits;
    if (time) text += fmt::format("up to {}, ", duration(std::chrono::duration_cast<std::chrono::microseconds>(*time)));
    if (matches) text += fmt::format("up to {} {}, ", grouped(*matches), *matches == 1 ? "match" : "matches");
    return text + (budget.then == ingest::OverBudget::suspend ? "then suspend" : "then stop");
  }

  const ServiceOptions& service_;
  std::string text_;
};

}  // namespace

std::string summary(const ServiceConfig& config) { return Summary(config.service).text(); }

}  // namespace deltamatch::cli
