// Options that several subcommands share. Each name has its help and its check in one place.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/command.hpp"
#include "cli/options/make_backend.hpp"
#include "cli/options/paths.hpp"
#include "cli/options/queries.hpp"
#include "cli/options/schema_options.hpp"
#include "cli/terminal/progress.hpp"
#include "deltamatch/engine.hpp"
#include "ingest/sink/match_form.hpp"
#include "ingest/sink/picture.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::cli {

/// How the files of one role (stream, start graph, vertex labels) are read.
struct InputOptions {
  std::string prefix;  ///< of the options' names: "", "graph-" or "labels-"
  std::optional<ingest::Format> format;
  ingest::CodecOptions codec;
};

/// The data graph before the first batch, and what holds for every input.
struct GraphOptions {
  std::vector<std::string> graphs;
  InputOptions graph_input;
  std::vector<std::string> labels;
  InputOptions labels_input;
  std::string snapshot;
  std::optional<bool> directed;  ///< nothing: as the inputs' formats or the snapshot say
  SchemaOptions schema;
  std::optional<SelfLoops> self_loops;  ///< nothing: left out, or as the snapshot says
  std::optional<ingest::IdKind> ids;
  std::size_t max_record = ingest::default_max_record;
  std::uint64_t max_labels = Engine::default_label_limit;  ///< most different labels at a time, of vertices and of edges
  ingest::OnError on_error = ingest::OnError::fail;
  std::string dead_letters;
  double max_refused = 0.5;                                        ///< share of an input's records
  std::optional<Timestamp> max_ahead = Timestamp{86'400'000'000};  ///< microseconds; nothing: no limit
  unsigned threads = 0;
  BackendOptions backend;
  ProgressMode progress = ProgressMode::automatic;
};

/// The stream of updates, and how it is cut.
struct ReplayOptions {
  std::vector<std::string> updates;
  InputOptions input;
  std::optional<std::uint64_t> batch;
  Timestamp batch_span = 0;
  std::string cuts;  ///< path; empty: not given
  Timestamp window = 0;
  Timestamp allowed_lateness = 0;
  std::optional<EventOrder> order;  ///< nothing: by arrival, or as the snapshot says
};

struct QuerySelection {
  std::vector<std::string> sources;
  MatchMode mode = MatchMode::isomorphism;
  std::optional<CountMode> count;   ///< default: subgraphs for isomorphism, else embeddings
  bool induced = false;             ///< of standing queries
  std::vector<std::string> orders;  ///< --matching-order; see MatchingOrders

  [[nodiscard]] QueryOptions options(bool list) const;
};

/// Throws Error(usage) if `--matching-order` is given with an option that follows no order.
void check_no_order(const QuerySelection& queries, std::string_view option);

/// How a whole graph is matched.
struct WholeOptions {
  bool induced = false;
  Filter filter = Filter::automatic;
  FilterWithout filter_without;
  CountFrom count_from = CountFrom::automatic;

  [[nodiscard]] bool given() const noexcept {
    return induced || filter != Filter::automatic || filter_without.any() || count_from != CountFrom::automatic;
  }
  [[nodiscard]] StaticOptions options(const QueryOptions& query) const;
  /// Throws Error(usage) if the options contradict each other or `mode`.
  void check(MatchMode mode) const;
};

enum class Emit { none, digest, matches };

/// Where matches go, until the end of the run.
struct Listing {
  std::unique_ptr<MatchSink> sink;             ///< null: nothing is written
  std::vector<ingest::PictureSink*> pictures;  ///< what the sink hands matches on to, as far as it draws them

  /// Writes the pictures. Returns lines for standard error that say what they do not show. Call it once.
  [[nodiscard]] std::string finish() const;
};

struct EmitOptions {
  Emit emit = Emit::none;
  std::vector<std::string> out;  ///< none: not given
  std::string out_format;
  std::optional<ingest::TimeForm> times;
  std::optional<ingest::Signs> signs;  ///< replay
  std::string batches;                 ///< replay; empty: not given
  std::optional<char> sheet;           ///< the decimal sign of CSV for a spreadsheet, and of pages
  std::optional<std::uint64_t> draw;   ///< most matches of a query in a picture
  bool json = false;
  bool csv = false;

  /// Throws Error(usage) if the options contradict each other.
  void check() const;
  /// Throws Error(runtime) if a file cannot be written. Call it after all checks of usage, whose errors come first.
  void check_outputs() const;
  [[nodiscard]] bool matches_to_stdout() const;
  /// The files of matches, each as the option that names it.
  [[nodiscard]] std::vector<NamedPath> outputs() const;
  /// Whether standard output holds lines for programs. The table then goes to standard error.
  [[nodiscard]] bool lines_to_stdout() const { return matches_to_stdout() || batches == "-"; }
  /// The signs that are listed.
  [[nodiscard]] ingest::Signs listed_signs() const { return signs.value_or(ingest::Signs::both); }
  /// Opens the output of matches, if they are written. `engine`: its options. `queries` are all whose matches will come.
  [[nodiscard]] Listing make_listing(const EngineOptions& engine, const std::vector<NamedQuery>& queries) const;

 private:
  [[nodiscard]] std::vector<std::string> paths() const;
  [[nodiscard]] std::string format(const std::string& path) const;
  /// Whether matches are written, and one of the files has one of these formats.
  [[nodiscard]] bool writes(std::initializer_list<std::string_view> formats) const;
  std::unique_ptr<MatchSink> open(const std::string& path, const EngineOptions& engine, std::span<const Query> queries,
                                  Listing& listing) const;
};

/// `--directed`, `--undirected`.
void add_direction_options(const Command& command, std::optional<bool>& directed);
/// `--labels` and how they are read.
void add_labels_options(const Command& command, GraphOptions& options);
/// Options about start graph, snapshot, vertex labels, direction, bad records, threads, backend and progress. In commands
/// without a stream the graph is the input. Its reading options are then --format … instead of --graph-format ….
void add_graph_options(const Command& command, GraphOptions& options, bool has_stream, DeviceUse use = DeviceUse::caches_lists);
/// Options about how the one input of a command is read, its ids, and bad records.
void add_conversion_options(const Command& command, GraphOptions& common, InputOptions& input);
/// Returns the option --updates.
Option add_replay_options(const Command& command, ReplayOptions& options);
/// Returns the option --query.
Option add_query_options(const Command& command, QuerySelection& options);
/// `--matching-order`.
void add_matching_order_option(const Command& command, QuerySelection& options);
void add_whole_options(const Command& command, WholeOptions& options);
void add_emit_options(const Command& command, EmitOptions& options);
/// `--signs`.
void add_signs_option(const Command& command, EmitOptions& options);
void add_json_option(const Command& command, bool& json);

/// Checks options against each other. Throws Error(usage). Opens nothing.
void check(const GraphOptions& graph, const ReplayOptions& stream);

/// Refuses --allowed-lateness without a query that has WITHIN. Throws Error(usage).
void check_lateness(const ReplayOptions& stream, const std::vector<NamedQuery>& queries);

/// Refuses to order records by time if there is neither a window nor a WITHIN in every query. `snapshot` brought the order,
/// unless it is empty. Throws Error(usage).
void check_order(const EngineOptions& engine, const std::string& snapshot, const std::vector<NamedQuery>& queries);

/// Refuses a query that does not fit a graph of this kind, before the graph is read. Throws as Engine::add_query does.
void check_fit(const EngineOptions& engine, const std::vector<NamedQuery>& queries, const QueryOptions& options);

/// The options of ingest for one input. `letters` is null unless refused records are kept.
[[nodiscard]] ingest::ReadOptions read_options(const GraphOptions& common, const InputOptions& input,
                                               const ingest::BatchLimits& limits, Timestamp window,
                                               std::shared_ptr<ingest::DeadLetterSink> letters);

}  // namespace deltamatch::cli
