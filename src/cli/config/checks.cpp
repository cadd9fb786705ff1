// Checks of a configuration that concern several of its parts.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/config/service_sections.hpp"
#include "cli/options/paths.hpp"
#include "cli/options/queries.hpp"
#include "ingest/batch/late_records.hpp"
#include "ingest/service/alert/alert_messages.hpp"
#include "ingest/service/alert/alert_template.hpp"
#include "ingest/service/alert/file_series.hpp"

namespace deltamatch::cli {
namespace {

using Use = ConfigContext::Use;

class Checker {
 public:
  Checker(Section& top, ServiceConfig& config) : top_(top), context_(top.context()), config_(config) {}

  void files() {
    const std::filesystem::path& state = config_.service.state.directory;
    for (auto output = context_.files_written.begin(); output != context_.files_written.end(); ++output) {
      for (const Use& input : context_.files_read) apart(*output, input, "read");
      for (auto other = context_.files_written.begin(); other != output; ++other) {
        apart(*output, *other, "written");
        series_apart(*output, *other);
      }
      const std::filesystem::path inside = std::filesystem::path(output->name).lexically_relative(state);
      if (!state.empty() && !inside.empty() && *inside.begin() != "..") {
        refuse(*output, "this lies in the state directory", "name a file elsewhere");
      }
    }
  }

  void topics() {
    for (const auto* list : {&context_.topics_read, &context_.topics_written}) {
      for (const Use& use : *list) {
        for_each_application([&](const std::string& application) {
          if (use.name == application + ".commits")
            refuse(use, "this is the topic of the application's commit records", "name another topic");
          if (use.name == application + ".progress" || use.name == application + ".claims")
            refuse(use, "this is a topic of the application's workers", "name another topic");
        });
      }
    }
    for (const Use& written : context_.topics_written) {
      for (const Use& read : context_.topics_read) {
        if (written.name == read.name) {
          refuse(written, fmt::format("the topic {} is also read, by {}", read.name, place(read)), "name another topic");
        }
      }
    }
    const std::string& letters = config_.service.input.dead_letter_topic;
    for (const Use& use : context_.topics_written) {
      if (!letters.empty() && use.name == letters && use.key != "input.dead_letters.topic") {
        refuse(use, "this is the topic of the dead letters", "name another topic");
      }
    }
  }

  void sinks() {
    const auto& sinks = config_.service.sinks;
    const auto& queries = config_.service.queries;
    const auto is_console = [](const ingest::SinkOptions& sink) { return sink.kind == ingest::SinkOptions::Kind::console; };
    if (std::count_if(sinks.begin(), sinks.end(), is_console) > 1) {
      top_.refuse("sinks", "more than one sink of the type stdout", "keep one of them");
    }
    for (const ingest::SinkOptions& sink : sinks) {
      const auto goes_there = [&](const ingest::ServiceQuery& query) {
        return std::find(query.sinks.begin(), query.sinks.end(), sink.name) != query.sinks.end();
      };
      if (!queries.empty() && std::none_of(queries.begin(), queries.end(), goes_there)) {
        warn("sinks", join_path("sinks", sink.name), "no query uses this sink", "add it to the sinks of a query");
      }
    }
    told_once();
    if (sinks.empty()) warn("", "", "there is no sink, so matches are counted and no alerts are sent", "add sinks");
    if (queries.empty()) warn("queries", "queries", "there is no query, so nothing is matched", "add queries");
  }

  /// Tries each template with samples of the queries whose alerts it shows.
  void templates() {
    for (const Use& use : context_.templates) {
      const auto sink = std::ranges::find(config_.service.sinks, use.name, &ingest::SinkOptions::name);
      std::vector<ingest::QuerySamples> samples;
      for (const ingest::ServiceQuery& query : config_.service.queries) {
        if (std::ranges::find(query.sinks, use.name) != query.sinks.end())
          samples.push_back(ingest::sample_alerts(query.query, config_.service.engine.schema, sink->times));
      }
      if (samples.empty() || !context_.knows_schema) continue;
      const bool is_body = use.key.ends_with(".body");
      if (is_body && ingest::is_unescaped(sink->content_type)) {
        config_.warnings.push_back(
            fmt::format("{}: fields are not escaped in a body of the type {}; name the type that the body "
                        "has, e.g. application/json, or text/plain if it is plain text",
                        place(use), sink->content_type));
      }
      try {
        (is_body ? ingest::try_body : ingest::try_link)(config_.service.application, *sink, samples);
      } catch (const Error& error) {
        refuse(use, error.what(), "");
      }
    }
    // With an admin token, queries may be made over HTTP.
    for (const Use& use : context_.queries_named) {
      if (config_.service.http.admin_token.empty() &&
          std::ranges::none_of(config_.service.queries, [&](const auto& query) { return query.query.name == use.name; }))
        refuse(use, "there is no query of this name", "name a query, or leave this out");
    }
  }

  void times() {
    if (config_.service.transaction_timeout <= std::chrono::minutes(15)) return;
    warn("transaction_timeout", "transaction_timeout",
         "brokers refuse more than 15m unless their transaction.max.timeout.ms is larger",
         "raise transaction.max.timeout.ms, or lower transaction_timeout");
  }

  void lateness() {
    const auto& queries = config_.service.queries;
    const auto has_within = [](const ingest::ServiceQuery& query) { return ingest::allows_lateness(query.query); };
    // Without any query there is a warning, and those that come later may have it.
    if (config_.service.engine.allowed_lateness == 0 || queries.empty() || std::ranges::any_of(queries, has_within)) return;
    top_.section("graph").refuse("allowed_lateness",
                                 "no query has WITHIN, EMIT FINAL or ALERT ONCE, so no record can come too late for one",
                                 "end a pattern with WITHIN TIME, or leave it out");
  }

  /// What would belong to several shards at once. Patterns cannot: they are connected, so a match has edges of one tenant.
  void shards() {
    if (!config_.service.input.shard.divided()) return;
    const std::string variable = fmt::format("${{{}}}", shard_variable);
    for (const Use& use : context_.files_written) {
      if (use.by_shard) continue;
      refuse(use, "all shards would write this file",
             fmt::format("write {} in its name, which stands for the number of the shard", variable));
    }
    for (const Use& use : context_.files_read) {
      if (!use.key.starts_with("graph.start.") || use.by_shard || makes_no_match(use)) continue;
      refuse(
          use, "all shards would begin with this graph, and each would report its matches",
          fmt::format("make a file for each shard, with {} in its name; files of vertices need not be divided, unless a query "
                      "asks for a vertex alone",
                      variable));
    }
  }

  /// What cannot be divided among workers.
  void workers() {
    const ingest::ServiceOptions& service = config_.service;
    if (service.workers.slots == 0) return;
    Section section = top_.section("workers");
    const std::string_view remedy = "leave workers out, so that one instance works and the others stand by";
    const auto refuse_it = [&](const std::string& what) { section.refuse("slots", what, remedy); };
    if (top_.section("standby").has("warm")) {
      top_.section("standby").refuse("warm", "workers do not stand by: each works, or is a spare",
                                     "leave standby out, or set workers.spare: true for an instance that takes over");
    }
    constexpr auto short_time = std::chrono::minutes(2);
    if (service.workers.hang_after.count() != 0 && service.workers.hang_after < short_time) {
      config_.warnings.push_back(
          fmt::format("{}: a worker may wait for brokers, or match one batch, for longer; make it 2m or more",
                      context_.problems.where(section.line_of("hang_after"), "workers.hang_after")));
    }
    for (const ingest::SinkOptions& sink : service.sinks) {
      if (sink.kind != ingest::SinkOptions::Kind::kafka)
        refuse_it(fmt::format("workers send alerts to topics of Kafka only, and the sink '{}' is none", sink.name));
      if (sink.rate_limit > 0) refuse_it(fmt::format("the sink '{}' has a rate limit, which workers do not share", sink.name));
    }
    if (!service.input.dead_letter_file.empty()) refuse_it("workers send dead letters to a topic only");
    if (!service.http.admin_token.empty()) refuse_it("workers take queries from the configuration only, not over HTTP");
    for (const ingest::ServiceQuery& query : service.queries) {
      const std::string& name = query.query.name;
      if (query.query.once) refuse_it(fmt::format("workers do not share what ALERT ONCE of the query '{}' remembers", name));
      if (query.report_existing) refuse_it(fmt::format("workers do not report existing matches, as '{}' wants", name));
      if (query.budget.limits.any()) refuse_it(fmt::format("the query '{}' has a budget, which workers do not share", name));
    }
  }

  void window() {
    for (const ingest::ServiceQuery& query : config_.service.queries) {
      const std::string what = short_window(config_.service.engine, query.query);
      if (what.empty()) continue;
      config_.warnings.push_back(fmt::format("{}: {}; make the window as long, or leave it out",
                                             context_.problems.where(top_.section("graph").line_of("window"), "graph.window"),
                                             what));
      return;
    }
  }

  void sizes() {
    const auto& properties = config_.service.kafka;
    const auto limit = properties.find("message.max.bytes");
    std::uint64_t bytes = 0;
    if (limit == properties.end() || config_.service.input.dead_letter_topic.empty()) return;
    const auto [end, error] = std::from_chars(limit->second.data(), limit->second.data() + limit->second.size(), bytes);
    if (error != std::errc() || bytes > config_.service.input.max_record) return;
    warn("kafka", "kafka.message.max.bytes", "dead letters of the longest records that input.max_record allows are cut short",
         "raise message.max.bytes, or lower input.max_record");
  }

 private:
  /// Calls `take` with the names that the application has in Kafka: one for each shard.
  template <typename Take>
  void for_each_application(Take take) const {
    const ingest::ShardOptions& shard = config_.service.input.shard;
    if (!shard.divided()) return take(config_.service.application);
    for (std::uint32_t number = 0; number < shard.count; ++number) take(shard.application(number));
  }

  /// Whether it is a file of the start graph that makes no match: it states no edges, and no query asks for a vertex alone.
  [[nodiscard]] bool makes_no_match(const Use& use) const {
    const auto asks_for_vertices = [](const ingest::ServiceQuery& query) {
      return query.query.vertices.size() == 1 && query.query.edges.empty();
    };
    if (std::ranges::any_of(config_.service.queries, asks_for_vertices)) return false;
    const auto& files = config_.service.start_graph.files;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (use.key == join_path(join_path("graph.start.files", i), "path")) return files[i].codec.vertices;
    }
    return false;
  }

  /// Refuses two ways by which a query's alerts come to one topic.
  void told_once() {
    const auto& sinks = config_.service.sinks;
    for (auto sink = sinks.begin(); sink != sinks.end(); ++sink) {
      for (auto other = sinks.begin(); other != sink; ++other) {
        if (takes_alike(*sink, *other)) told_once(*other, *sink);
      }
    }
  }

  static bool takes_alike(const ingest::SinkOptions& a, const ingest::SinkOptions& b) {
    using Kind = ingest::SinkOptions::Kind;
    const bool signs = a.signs == b.signs || a.signs == ingest::Signs::both || b.signs == ingest::Signs::both;
    return a.kind == Kind::kafka && b.kind == Kind::kafka && a.topic == b.topic && signs;
  }

  void told_once(const ingest::SinkOptions& one, const ingest::SinkOptions& two) {
    const auto& queries = config_.service.queries;
    const auto query = std::find_if(queries.begin(), queries.end(), [&](const ingest::ServiceQuery& asked) {
      return std::count_if(asked.sinks.begin(), asked.sinks.end(),
                           [&](const std::string& name) { return name == one.name || name == two.name; }) > 1;
    });
    if (query == queries.end()) return;
    const std::string key = join_path(join_path("sinks", two.name), "topic");
    const auto named = std::find_if(context_.topics_written.begin(), context_.topics_written.end(),
                                    [&](const Use& use) { return use.key == key; });
    if (named == context_.topics_written.end()) return;
    refuse(*named,
           fmt::format("the query {} would send each alert twice to the topic {}, by the sinks {} and {}", query->query.name,
                       two.topic, one.name, two.name),
           "give the query one of them, or name another topic");
  }

  [[nodiscard]] std::string place(const Use& use) const { return context_.problems.where(use.line, use.key); }

  void refuse(const Use& use, std::string_view what, std::string_view remedy) const {
    context_.problems.add(use.line, use.key, what, remedy);
  }

  void warn(std::string_view key_of_line, std::string_view key, std::string_view what, std::string_view remedy) {
    config_.warnings.push_back(
        fmt::format("{}: {}; {}", context_.problems.where(top_.line_of(key_of_line), key), what, remedy));
  }

  void apart(const Use& output, const Use& other, std::string_view done) const {
    if (!is_same_file(output.name, other.name)) return;
    refuse(output, fmt::format("this file is also {}, by {}", done, place(other)), "name another file");
  }

  /// A file sink rotates into files beside its own. Refuses outputs that would collide with them.
  void series_apart(const Use& output, const Use& other) const {
    using ingest::FileSeries;
    if (is_same_file(output.name, other.name)) return;
    if (!FileSeries(other.name).may_name(output.name) && !FileSeries(output.name).may_name(other.name)) return;
    refuse(output, fmt::format("rotated files of this name collide with those of {}", place(other)), "name another file");
  }

  Section& top_;
  ConfigContext& context_;
  ServiceConfig& config_;
};

}  // namespace

void check_together(Section& top, ServiceConfig& config) {
  Checker checker(top, config);
  checker.files();
  checker.topics();
  checker.sinks();
  checker.templates();
  checker.times();
  checker.lateness();
  checker.window();
  checker.workers();
  checker.shards();
  checker.sizes();
}

}  // namespace deltamatch::cli
