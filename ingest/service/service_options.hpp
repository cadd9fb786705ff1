// The options of a service, as in its configuration file. config/service.yaml documents every key.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/query.hpp"
#include "ingest/batch/batcher.hpp"
#include "ingest/batch/refusals.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/sink/match_form.hpp"

namespace deltamatch::ingest {

/// Names and values as in librdkafka's documentation. Values may be secrets, so they are never logged.
using KafkaProperties = std::map<std::string, std::string>;

/// One or more topics whose records are read in the same way.
struct InputTopics {
  std::string name;  ///< a topic; or, with ^ at the start, a regular expression for whole names of topics
  Format format = Format::jsonl;
  CodecOptions codec;
  friend bool operator==(const InputTopics&, const InputTopics&) = default;
};

/// The first record of a topic that is new when the service starts. Topics and partitions that appear later begin at their
/// first record, and so do new partitions of a known topic.
struct StartAt {
  enum class Kind : std::uint8_t { earliest, latest, timestamp } kind = Kind::earliest;
  std::chrono::milliseconds since_epoch{};  ///< with timestamp
  friend bool operator==(const StartAt&, const StartAt&) = default;
};

/// Where the schemas of Avro and Protobuf are. Several servers of one registry are asked in turn.
struct RegistryOptions {
  std::vector<std::string> urls;      ///< empty: there is none
  std::string user;                   ///< of basic authentication; empty: there is none
  std::string password;               ///< secret
  std::filesystem::path ca;           ///< certificates to trust, in PEM; empty: the system's
  std::filesystem::path certificate;  ///< of this client, in PEM; empty: none
  std::filesystem::path key;          ///< of that certificate
  std::chrono::milliseconds timeout{5'000};
  friend bool operator==(const RegistryOptions&, const RegistryOptions&) = default;
};

/// One of several applications that have one configuration and divide the partitions of the input topics among them. So they
/// divide the keys of the records.
struct ShardOptions {
  static constexpr std::uint32_t most = 1024;
  std::uint32_t count = 0;   ///< the same in all shards, for ever; 0: the application is not divided
  std::uint32_t number = 0;  ///< of this one
  std::string of{};          ///< the application as the configuration names it
  [[nodiscard]] bool divided() const noexcept { return count > 0; }
  /// Whether the partition is one of this shard's.
  [[nodiscard]] bool reads(std::int32_t partition) const noexcept {
    return count == 0 || static_cast<std::uint32_t>(partition) % count == number;
  }
  /// The name of the application of any of the shards.
  [[nodiscard]] std::string application(std::uint32_t any) const { return of + '-' + std::to_string(any); }
  friend bool operator==(const ShardOptions&, const ShardOptions&) = default;
};

struct InputOptions {
  std::vector<InputTopics> topics;
  RegistryOptions registry;
  StartAt start;
  std::size_t queue_bytes = std::size_t{64} << 20;  ///< fetched and not yet in a batch; fetching pauses beyond this
  std::size_t queue_records = 200'000;
  std::size_t max_record = std::size_t{1} << 20;
  std::uint64_t max_labels = Engine::default_label_limit;  ///< different labels at a time, of vertices and of edges
  std::chrono::milliseconds max_ahead{86'400'000};         ///< limit for an event time ahead of the record's time in Kafka; 0:
                                                           ///< no limit
  std::chrono::milliseconds idle_after{10'000};            ///< a partition at its end for this long does not hold the watermark
  std::chrono::milliseconds refresh_every{30'000};         ///< how often to look for new topics and partitions
  OnError on_error = OnError::fail;
  double max_refused = 0.5;       ///< share of recent records (RefusedShare); beyond it, the service is not ready
  std::string dead_letter_topic;  ///< with OnError::dead_letter, either this or the file is set
  std::string dead_letter_file;
  ShardOptions shard{};
  friend bool operator==(const InputOptions&, const InputOptions&) = default;
};

/// A file from which the graph is loaded before the first batch.
struct StartFile {
  std::filesystem::path path;    ///< gz, xz and zst are recognised by their content
  std::optional<Format> format;  ///< by default, recognised by the content
  CodecOptions codec;
  friend bool operator==(const StartFile&, const StartFile&) = default;
};

/// The graph of a service without state. Later it is part of the state, and is read again only if that is lost.
struct StartGraph {
  std::filesystem::path snapshot;  ///< must have the same direction and window; excludes files
  std::vector<StartFile> files;    ///< loaded in this order; a refused record ends the start
  friend bool operator==(const StartGraph&, const StartGraph&) = default;
};

struct BatchingOptions {
  std::size_t max_updates = 8192;
  std::chrono::milliseconds max_delay{100};
  Timestamp max_span = 0;  ///< microseconds by which a batch may move the watermark; 0: no limit beyond the window's
  std::chrono::milliseconds max_match_time{60'000};  ///< if a batch takes longer, the service is not ready; 0: no limit
  friend bool operator==(const BatchingOptions&, const BatchingOptions&) = default;
};

/// What a change of the queries may take to list matches that exist already, for all of its queries together. No batch is
/// matched meanwhile.
struct ExistingOptions {
  std::chrono::milliseconds max_time{60'000};
  std::uint64_t max_matches = 10'000'000;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  ///< of their alerts
  friend bool operator==(const ExistingOptions&, const ExistingOptions&) = default;
};

/// Where instances share snapshots: a folder that all see, or the commands of an object store. Without either, nothing is
/// shared.
struct ShareOptions {
  std::filesystem::path path;
  /// Program and arguments. In each argument, "{file}" stands for a local path and "{name}" for the name in the store.
  std::vector<std::string> put, get;
  std::vector<std::string> list;               ///< prints the names in the store
  std::vector<std::string> remove;             ///< if empty, nothing is removed from the store
  std::chrono::milliseconds timeout{600'000};  ///< for one command
  std::size_t keep = 2;                        ///< number of shared snapshots that stay
  [[nodiscard]] bool shares() const noexcept { return !path.empty() || !put.empty(); }
  friend bool operator==(const ShareOptions&, const ShareOptions&) = default;
};

struct StateOptions {
  std::filesystem::path directory;
  std::chrono::seconds snapshot_every{600};  ///< 0: no limit of time
  std::uint64_t snapshot_log_bytes = std::uint64_t{1} << 30;
  std::size_t keep_snapshots = 2;
  ShareOptions share{};
  friend bool operator==(const StateOptions&, const StateOptions&) = default;
};

/// What an instance does while another one owns the application.
struct StandbyOptions {
  bool warm = true;  ///< it holds the graph and follows the owner's batches; otherwise it only tells whether it could take over
  friend bool operator==(const StandbyOptions&, const StandbyOptions&) = default;
};

/// How an application is divided among several instances that work at the same time. Without slots it is not: one works, and
/// the others stand by.
struct WorkersOptions {
  static constexpr std::uint32_t most_slots = 64;
  std::uint32_t slots = 0;  ///< the same in all instances, for ever; 0: the application is not divided
  bool spare = false;       ///< this instance takes over slots of others that end, and else has none
  std::string name{};       ///< begins the name of the worker; empty: the host's name
  /// A worker that gets on with nothing for so long ends itself, so that others take its slots over. 0: never.
  std::chrono::milliseconds hang_after{600'000};
  friend bool operator==(const WorkersOptions&, const WorkersOptions&) = default;
};

struct SinkOptions {
  enum class Kind : std::uint8_t { kafka, file, console, webhook, slack, teams, pagerduty };
  enum class Each : std::uint8_t { batch, alert };
  std::string name;
  Kind kind = Kind::console;
  std::string topic;               ///< kafka
  std::filesystem::path path;      ///< file
  std::uint64_t rotate_bytes = 0;  ///< file: size at which a new file begins; 0: never
  std::size_t keep_files = 0;      ///< file: number of rotated files that stay; 0: all
  // The kinds from webhook on send requests (sends_requests). What is said of a webhook holds for all of them.
  std::string url;                                      ///< webhook; may be secret
  std::map<std::string, std::string> headers;           ///< webhook; values may be secrets
  std::string body;                                     ///< webhook only: a template (AlertTemplate); empty: the usual form
  std::string content_type = "application/json";        ///< of `body`
  Each each = Each::batch;                              ///< what a request with `body` is made of
  std::string link;                                     ///< slack, teams, pagerduty: a template of a URL; empty: no link
  std::size_t max_messages = 0;                         ///< slack, teams: most messages of a batch; 0: no limit
  std::chrono::milliseconds min_interval{0};            ///< webhook: between the starts of two requests
  std::string routing_key;                              ///< pagerduty; secret
  std::string severity = "error";                       ///< pagerduty: critical, error, warning or info
  std::map<std::string, std::string> severities;        ///< pagerduty: by query, where it differs
  std::chrono::milliseconds timeout{5'000};             ///< webhook: for one request
  std::chrono::milliseconds max_backoff{60'000};        ///< longest wait between tries of a failed delivery
  std::size_t refused_tries = 0;                        ///< webhook: give up after so many refusals (4xx); 0: never
  std::size_t max_tries = 100;                          ///< webhook: give up after so many failures in a row; 0: never
  std::chrono::milliseconds give_up_after{86'400'000};  ///< webhook: give up after failures for so long; 0: never
  std::filesystem::path dead_letters;                   ///< webhook: file for what is given up; if empty, it is only logged
  Signs signs = Signs::both;
  TimeForm times = TimeForm::microseconds;
  std::uint64_t rate_limit = 0;  ///< most alerts of one query in one interval; 0: no limit
  std::chrono::milliseconds rate_interval{1'000};

  /// Whether alerts go to a server by HTTP. It gets them, whichever instance works.
  [[nodiscard]] bool sends_requests() const noexcept { return kind >= Kind::webhook; }
  /// Whether a match that vanished counts for rate_limit. One that ends an incident must not be left out.
  [[nodiscard]] bool limits_vanished() const noexcept { return kind != Kind::pagerduty; }
  friend bool operator==(const SinkOptions&, const SinkOptions&) = default;
};

/// What happens to a query that exceeds its budget in a batch. Either it is suspended until the queries are loaded again, or
/// the service stops before the batch is committed.
enum class OverBudget : std::uint8_t { suspend, stop };

/// The budget of one query in one batch.
struct ServiceBudget {
  QueryBudget limits;
  OverBudget then = OverBudget::suspend;
  friend bool operator==(const ServiceBudget&, const ServiceBudget&) = default;
};

struct ServiceQuery {
  Query query;
  std::string where;  ///< file and line, for messages
  QueryOptions options;
  std::vector<std::string> sinks;  ///< names; without any, its matches are only counted
  bool report_existing = false;    ///< when it is added, alerts report matches that already exist
  ServiceBudget budget;
  std::string text{};      ///< the pattern as it was written; empty if a query graph was read
  bool over_http = false;  ///< made over HTTP, not in the configuration file
  friend bool operator==(const ServiceQuery&, const ServiceQuery&) = default;
};

struct HttpOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 9464;  ///< 0: any free port
  bool enabled = true;
  std::vector<std::string> hosts = {};  ///< names for the service, besides those that are always accepted (HttpHosts)
  bool any_host = false;                ///< accepts any name
  std::string admin_token = {};         ///< secret: what a request for a change must have; empty: nobody may change queries
  friend bool operator==(const HttpOptions&, const HttpOptions&) = default;
};

struct LoggingOptions {
  std::string level = "info";  ///< trace, debug, info, warn, error
  bool json = false;
  friend bool operator==(const LoggingOptions&, const LoggingOptions&) = default;
};

struct ServiceOptions {
  std::string application;  ///< determines the transactional id, the groups and the topic of commit records
  KafkaProperties kafka;    ///< for every client
  std::chrono::milliseconds transaction_timeout{60'000};
  InputOptions input;
  StartGraph start_graph;
  BatchingOptions batching;
  ExistingOptions existing{};
  EngineOptions engine;
  StateOptions state;
  StandbyOptions standby;
  WorkersOptions workers{};
  std::vector<SinkOptions> sinks;
  std::vector<ServiceQuery> queries;
  HttpOptions http;
  LoggingOptions logging;
  std::chrono::milliseconds shutdown_timeout{30'000};
  friend bool operator==(const ServiceOptions&, const ServiceOptions&) = default;
};

}  // namespace deltamatch::ingest
