#include "cli/config/service_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "cli/config/service_sections.hpp"
#include "cli/options/backend_choice.hpp"
#include "cli/options/small_file.hpp"
#include "deltamatch/error.hpp"
#include "ingest/codec/schema_text.hpp"
#include "ingest/service/http/http_token.hpp"
#include "ingest/service/state/files.hpp"

namespace deltamatch::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr Timestamp century = Timestamp{36'500} * 86'400'000'000;

void read_application(Section& top, std::string& application) {
  constexpr std::size_t longest = 200;  // ".commits" and the like are appended
  if (!top.require("application", "application: fraud-alerts") || !top.name("application", application)) return;
  if (application.size() > longest || !is_topic_name(application)) {
    top.refuse("application", "this cannot begin the name of a topic",
               fmt::format("write up to {} letters, digits, '.', '_' and '-'", longest));
  }
}

/// Refuses a folder that is none.
void check_folder(Section& section, std::string_view key, const std::filesystem::path& folder, std::string_view remedy) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error) || std::filesystem::is_directory(folder, error)) return;
  section.refuse(key, "this is not a directory", remedy);
}

/// Refuses a folder that cannot be made, because its parent is not there.
void check_parent(Section& section, std::string_view key, const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path parent = ingest::folder_of(folder);
  if (std::filesystem::exists(folder, error) || std::filesystem::is_directory(parent, error)) return;
  section.refuse(key, fmt::format("this cannot be made, because there is no directory {}", parent.string()),
                 "make that directory, or correct the path");
}

/// A program and its arguments, of which one or more must name each of the `placeholders`.
void read_command(Section& section, std::string_view key, std::vector<std::string>& command,
                  std::initializer_list<std::string_view> placeholders) {
  if (section.has(key) && section.find(key)->kind != Node::Kind::list) {
    if (section.find(key)->faulty) return;
    return section.refuse(key, "a command is a list of a program and its arguments, and no shell reads it",
                          "write e.g. [rclone, copyto, '{file}', 'remote:bucket/{name}']");
  }
  const Node* const list = section.find_list(key);
  if (list == nullptr) return;
  for (const Node& item : list->items) {
    if (item.faulty) return;
    if (item.kind != Node::Kind::text || (command.empty() && item.text.empty())) {
      return section.refuse(key, "an item is no program or argument", "write texts");
    }
    command.push_back(item.text);
  }
  if (command.empty()) return section.refuse(key, "the command is empty", "write a program and its arguments");
  for (const std::string_view placeholder : placeholders) {
    const auto names = [&](const std::string& argument) { return argument.find(placeholder) != std::string::npos; };
    if (std::none_of(command.begin() + 1, command.end(), names)) {
      section.refuse(key, fmt::format("no argument has {}", placeholder), fmt::format("add {} where it belongs", placeholder));
    }
  }
}

void read_share(Section section, ingest::ShareOptions& share, const std::string& application) {
  constexpr std::size_t longest = 160;  // the names of shared snapshots begin with it
  section.path("path", share.path);
  read_command(section, "put", share.put, {"{file}", "{name}"});
  read_command(section, "get", share.get, {"{file}", "{name}"});
  read_command(section, "list", share.list, {});
  read_command(section, "remove", share.remove, {"{name}"});
  section.duration("timeout", share.timeout, milliseconds(1s), milliseconds(24h));
  section.number("keep", share.keep, 1, 1000);
  section.finish();
  const bool commands = section.has("put") || section.has("get") || section.has("list") || section.has("remove");
  if (section.has("path") && commands) {
    section.refuse("a path and commands are both given", "leave one of them out: a path needs no commands");
  } else if (commands && !(section.has("put") && section.has("get") && section.has("list"))) {
    section.refuse("of the commands put, get and list some are missing", "give all three, or a path");
  }
  if (share.shares() && application.size() > longest) {
    section.refuse(fmt::format("an application with a name of more than {} letters cannot share snapshots", longest),
                   "choose a shorter name, or leave state.share out");
  }
}

void read_state(Section section, ingest::StateOptions& state, const std::string& application) {
  if (section.require("directory", "directory: /var/lib/deltamatch") && section.path("directory", state.directory)) {
    check_folder(section, "directory", state.directory, "name a directory, or a path at which one can be created");
    check_parent(section, "directory", state.directory);
  }
  section.duration("snapshot_every", state.snapshot_every, std::chrono::seconds(1), std::chrono::seconds(30 * 24h), "never");
  section.size("snapshot_log_size", state.snapshot_log_bytes, std::uint64_t{1} << 20);
  section.number("keep_snapshots", state.keep_snapshots, 1, 1000);
  read_share(section.section("share"), state.share, application);
  Section share = section.section("share");
  const std::filesystem::path inside = state.share.path.lexically_relative(state.directory);
  if (!state.share.path.empty() && !inside.empty() && *inside.begin() != "..") {
    share.refuse("path", "this lies in the state directory, and would be lost with it", "name a folder that all instances see");
  } else if (!state.share.path.empty()) {  // its parent may be mounted later
    check_folder(share, "path", state.share.path, "name a directory that all instances see");
  }
  section.finish();
}

/// Reads the model of edges, and the attributes with their types.
void read_schema(Section& section, ingest::CodecOptions& graph) {
  const Problems& problems = section.context().problems;
  const std::size_t before = problems.count();
  constexpr std::array<std::pair<std::string_view, EdgeModel>, 3> models{
      {{"simple", EdgeModel::simple}, {"keyed", EdgeModel::keyed}, {"events", EdgeModel::events}}};
  section.choice("edges", graph.edges, models);
  const bool knows_model = problems.count() == before;
  const auto read = [&](std::string_view key, std::vector<ingest::AttributeColumn>& attributes, ingest::AttributesOf of) {
    const Section names = section.section(key);
    for (const Entry& entry : names.entries()) {
      if (entry.value.faulty) continue;
      try {
        attributes.push_back(ingest::parse_attribute(entry.key, entry.value.text, of, ""));
      } catch (const Error& error) {
        names.refuse(entry.key, error.what(), "");
      }
    }
    if (attributes.size() > ingest::max_attributes)
      section.refuse(key, fmt::format("there are more than {} attributes", ingest::max_attributes), "leave some out");
  };
  read("attributes", graph.attributes, ingest::AttributesOf::edges);
  read("vertex_attributes", graph.vertex_attributes, ingest::AttributesOf::vertices);
  if (graph.edges == EdgeModel::simple && !graph.attributes.empty()) {
    if (knows_model) {
      section.refuse("attributes", "edges of the model simple have no attributes",
                     "write edges: keyed if each edge has a key, or edges: events if each record is an edge of its own");
    }
    graph.attributes.clear();
  }
  section.context().knows_schema = problems.count() == before;
}

void read_start(Section section, ingest::StartGraph& start, const ingest::CodecOptions& graph) {
  section.input_file("snapshot", start.snapshot);
  const Node* const files = section.find_list("files");
  for (std::size_t i = 0; files != nullptr && i < files->items.size(); ++i) {
    Section item = section.item("files", *files, i);
    ingest::StartFile& file = start.files.emplace_back();
    file.codec = graph;
    if (item.require("path", "path: accounts.csv.gz")) item.input_file("path", file.path);
    read_records(item, file.format, file.codec, true);
  }
  section.finish();
  if (section.has("snapshot") && section.has("files")) {
    section.refuse("a snapshot and files are both given", "leave one of them out: a snapshot is a whole graph");
  }
}

/// Returns the edges and attributes as codecs need them.
ingest::CodecOptions read_graph(Section section, ingest::ServiceOptions& service) {
  ingest::CodecOptions graph;
  read_schema(section, graph);
  service.engine.schema = ingest::schema_of(graph);
  section.flag("directed", service.engine.directed);
  section.duration("window", service.engine.window, 1, century, "none");
  section.duration("allowed_lateness", service.engine.allowed_lateness, 1, century, "none");
  constexpr std::array<std::pair<std::string_view, SelfLoops>, 2> loops{
      {{"leave-out", SelfLoops::leave_out}, {"keep", SelfLoops::keep}}};
  section.choice("self_loops", service.engine.self_loops, loops);
  constexpr std::array<std::pair<std::string_view, EventOrder>, 2> orders{
      {{"arrival", EventOrder::arrival}, {"time", EventOrder::time}}};
  EventOrder order{};
  if (section.choice("order", order, orders) && order == EventOrder::time) {
    section.refuse(
        "order", "the service takes records as they come",
        "leave it out, and keep the records of each edge in one partition; deltamatch replay --order time orders files");
  }
  read_start(section.section("start"), service.start_graph, graph);
  section.finish();
  return graph;
}

void read_batch(Section section, ingest::BatchingOptions& batching) {
  section.number("max_updates", batching.max_updates, 1);
  section.duration("max_delay", batching.max_delay, milliseconds(1), milliseconds(1h));
  section.duration("max_span", batching.max_span, 1, century, "none");
  section.duration("max_match_time", batching.max_match_time, milliseconds(1), milliseconds(24h), "never");
  section.finish();
}

void read_existing(Section section, ingest::ExistingOptions& existing) {
  section.duration("max_time", existing.max_time, milliseconds(1), milliseconds(24h));
  section.number("max_matches", existing.max_matches, 1);
  section.size("max_size", existing.max_bytes, std::uint64_t{1} << 20);
  section.finish();
}

void read_gpu(Section section, GpuChoices& gpu) {
  CachePolicy policy{};
  if (section.choice("policy", policy, cache_policy_names) && policy != CachePolicy::automatic) gpu.policy = policy;
  section.size("memory", gpu.memory, 1 << 20, std::uint64_t{1} << 44, "free");
  section.fraction("walks", gpu.walks, GpuOptions::least_walks, GpuOptions::most_walks, "auto");
  WalkCount walk_count{};
  if (section.choice("walk_count", walk_count, walk_count_names) && walk_count != WalkCount::even) gpu.walk_count = walk_count;
  if (const Node* const devices = section.find_list("devices")) {
    for (const Node& item : devices->items) {
      const auto device = read_number(item.text, 0, 1023);
      if (device && std::ranges::find(gpu.devices, static_cast<int>(*device)) != gpu.devices.end()) {
        section.refuse("devices", fmt::format("device {} is named twice", *device), "name each once");
      } else if (device) {
        gpu.devices.push_back(static_cast<int>(*device));
      } else if (!item.faulty) {
        section.refuse("devices", fmt::format("{} is not a device", Section::shown(item)),
                       "write the numbers that nvidia-smi shows: [0, 1]");
      }
    }
  }
  section.finish();
  if (gpu.devices == std::vector<int>{0}) gpu.devices.clear();  // the same as without the key
}

void read_engine(Section section, ServiceConfig& config) {
  std::uint64_t threads = 0;
  if (section.number("threads", threads, 1, 1024, "auto")) config.service.engine.threads = static_cast<unsigned>(threads);
  section.choice("backend", config.backend.name, backend_names());
  read_gpu(section.section("gpu"), config.backend.gpu);
  section.finish();
  if (const auto objected = objection(config.backend, "backend: ")) {
    section.refuse(section.has("backend") ? "backend" : "gpu", objected->what, objected->remedy);
  }
}

/// Reads "host:port" or "[::1]:port".
bool split_address(std::string_view text, ingest::HttpOptions& http) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto port = read_number(text.substr(colon + 1), 0, 65535);
  if (!port || host.empty() || (!bracketed && host.find(':') != std::string_view::npos) ||
      host.find_first_of(" []/") != std::string_view::npos) {
    return false;
  }
  http.host = host;
  http.port = static_cast<std::uint16_t>(*port);
  return true;
}

bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= 253 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_'; });
}

void read_hosts(Section& section, ingest::HttpOptions& http) {
  const Node* const node = section.find("hosts");
  if (node == nullptr || node->faulty) return;
  http.any_host = node->kind == Node::Kind::text && node->text == "any";
  const Node* const list = http.any_host ? nullptr : section.find_list("hosts");
  if (list == nullptr) return;
  for (const Node& host : list->items) {
    if (host.faulty) continue;
    if (host.kind == Node::Kind::text && is_host(host.text)) {
      http.hosts.push_back(host.text);
    } else {
      section.refuse("hosts", fmt::format("{} is not the name of a host", Section::shown(host)),
                     "write names without scheme and port, e.g. [deltamatch.example], or any");
    }
  }
}

/// A token travels in a header, so not every character can be part of one.
void read_admin_token(Section& section, ingest::HttpOptions& http) {
  std::string token;
  if (!section.secret("admin_token", token)) return;
  if (token.size() < ingest::HttpToken::least_length) {
    section.refuse("admin_token", fmt::format("the token has fewer than {} characters", ingest::HttpToken::least_length),
                   "make one: head -c 24 /dev/urandom | base64");
  } else if (!std::ranges::all_of(token, [](unsigned char c) { return std::isgraph(c) != 0; })) {
    section.refuse("admin_token", "the token has a character that is no visible ASCII, or more than one line",
                   "make one: head -c 24 /dev/urandom | base64");
  } else {
    http.admin_token = std::move(token);
  }
}

void read_http(Section section, ingest::HttpOptions& http) {
  const Node* const listen = section.find_text("listen");
  read_hosts(section, http);
  read_admin_token(section, http);
  section.finish();
  if (listen == nullptr) return;
  if (listen->text == "off") {
    http.enabled = false;
  } else if (!split_address(listen->text, http)) {
    section.refuse("listen", fmt::format("{} is not an address with a port", Section::shown(*listen)),
                   "write e.g. 127.0.0.1:9464, or off");
  }
}

void read_log(Section section, ingest::LoggingOptions& logging) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> levels{
      {{"trace", "trace"}, {"debug", "debug"}, {"info", "info"}, {"warn", "warn"}, {"error", "error"}}};
  std::string_view level = logging.level;
  if (section.choice("level", level, levels)) logging.level = level;
  constexpr std::array<std::pair<std::string_view, bool>, 2> formats{{{"text", false}, {"json", true}}};
  section.choice("format", logging.json, formats);
  section.finish();
}

}  // namespace

void read_service(ConfigContext& context, const Node& root, ServiceConfig& config) {
  ingest::ServiceOptions& service = config.service;
  Section top(context, &root, 1, "", "");
  if (root.kind != Node::Kind::map) return;
  read_application(top, service.application);
  if (top.require("state", "state: {directory: /var/lib/deltamatch}"))
    read_state(top.section("state"), service.state, service.application);
  read_shards(top.section("shards"), service);
  read_standby(top.section("standby"), service.standby);
  read_workers(top.section("workers"), service.workers);
  if (top.require("kafka", "kafka: {bootstrap.servers: 'localhost:9092'}")) read_kafka(top.section("kafka"), service.kafka);
  top.duration("transaction_timeout", service.transaction_timeout, milliseconds(1s), milliseconds(24h));
  const ingest::CodecOptions graph = read_graph(top.section("graph"), service);
  if (top.require("input", "input: {topics: [{name: payments, format: json}]}"))
    read_input(top.section("input"), service.input, graph);
  read_batch(top.section("batch"), service.batching);
  read_existing(top.section("existing"), service.existing);
  read_engine(top.section("engine"), config);
  read_sinks(top.section("sinks"), service.sinks);
  for (ingest::SinkOptions& sink : service.sinks) {
    if (sink.sends_requests() && sink.dead_letters.empty())
      sink.dead_letters = service.state.directory / (sink.name + ".dead-letters.jsonl");
  }
  read_budget(top.section("budget"), config.budget);
  read_queries(top, config, config.budget);
  read_http(top.section("http"), service.http);
  read_log(top.section("log"), service.logging);
  top.duration("shutdown_timeout", service.shutdown_timeout, milliseconds(1s), milliseconds(24h));
  top.finish();
  check_together(top, config);
}

ServiceConfig read_service_config(const std::filesystem::path& file, const Environment& environment,
                                  std::optional<std::uint32_t> shard) {
  ConfigContext context{Problems(file.string()), file.parent_path(), {}, {}, {}, {}, {}};
  context.shard = shard;
  Node root = parse_yaml(read_small_file(file, "the configuration"), context.problems);
  if (root.kind == Node::Kind::null) {
    context.problems.raise();
    throw Error(ErrorKind::configuration, file.string(), "there is no configuration in it", "see config/service.yaml");
  }
  const auto with_shard = [&](const std::string& name) {
    return name == shard_variable ? std::optional(std::to_string(shard.value_or(0))) : environment(name);
  };
  expand(root, root.find("shards") == nullptr ? environment : with_shard, context.problems);
  context.files_read.push_back({1, "", file.string()});
  ServiceConfig config;
  read_service(context, root, config);
  context.problems.raise();
  return config;
}

}  // namespace deltamatch::cli
