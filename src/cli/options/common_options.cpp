#include "cli/options/common_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "cli/options/option_kinds.hpp"
#include "cli/terminal/output.hpp"
#include "ingest/batch/late_records.hpp"
#include "ingest/codec/formats.hpp"
#include "ingest/sink/match_form.hpp"
#include "ingest/sink/sinks.hpp"

namespace deltamatch::cli {
namespace {

using ingest::Envelope;
using ingest::Format;
using ingest::IdKind;
using ingest::OnError;
using ingest::TimeUnit;

/// `what` completes "… of the records of". Vertex labels have no times.
void add_input_options(const Command& command, InputOptions& input, const std::string& prefix, const std::string& what,
                       bool times) {
  input.prefix = prefix;
  const std::string group = "Reading " + what;
  const auto name = [&](const char* option) { return "--" + prefix + option; };
  std::vector<std::pair<std::string, Format>> formats;
  std::vector<std::pair<std::string, Format>> aliases;
  for (const ingest::FormatTraits& traits : ingest::formats()) {
    if (!traits.has_files) continue;
    formats.emplace_back(traits.name, traits.format);
    if (!traits.alias.empty()) aliases.emplace_back(traits.alias, traits.format);
  }
  add_choice(command, name("format"), input.format, "Format (default: recognised by content)", formats, aliases).group(group);
  command
      .add_text(name("columns"), input.codec.columns, "Roles of columns: source,target,time or source=payer,target=payee",
                "LIST")
      .group(group);
  command.add_text(name("op-values"), input.codec.op_values, "Meaning of other operation values, e.g. 'c,r,u=+;d=-'", "LIST")
      .group(group);
  add_choice(command, name("envelope"), input.codec.envelope, "What surrounds the row in a JSON record (default: none)",
             std::vector<std::pair<std::string, Envelope>>{{"none", Envelope::none}, {"debezium", Envelope::debezium}})
      .group(group);
  add_choice(command, name("separator"), input.codec.separator, "Separator of CSV fields (default: recognised by content)",
             std::vector<std::pair<std::string, char>>{{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"bar", '|'}})
      .group(group);
  add_choice(command, name("decimal"), input.codec.decimal,
             "How numbers of attributes are written: 1,200.50 or 1.200,50 (default: 1200.50)",
             std::vector<std::pair<std::string, ingest::Decimal>>{{"point", ingest::Decimal::point},
                                                                  {"comma", ingest::Decimal::comma}})
      .group(group);
  add_choice(command, name("header"), input.codec.header, "Whether CSV has a header (default: no if --columns has positions)",
             std::vector<std::pair<std::string, bool>>{{"yes", true}, {"no", false}})
      .group(group);
  if (!times) return;
  add_choice(command, name("time-unit"), input.codec.time_unit, "Unit of times in numbers (default: s; us for jsonl)",
             std::vector<std::pair<std::string, TimeUnit>>{
                 {"s", TimeUnit::seconds}, {"ms", TimeUnit::milliseconds}, {"us", TimeUnit::microseconds}})
      .group(group);
  command.add_text(name("time-format"), input.codec.time_format, "Form of written times (UTC), e.g. %m/%d/%Y-%H:%M", "FORMAT")
      .group(group);
  command.add_text(name("edge-label"), input.codec.edge_label, "Label of edges whose records have none", "LABEL").group(group);
}

void add_id_option(const Command& command, GraphOptions& options, const std::string& group) {
  add_choice(command, "--ids", options.ids, "What ids of vertices are (default: by the format)",
             std::vector<std::pair<std::string, IdKind>>{
                 {"automatic", IdKind::automatic}, {"integer", IdKind::integer}, {"string", IdKind::string}})
      .group(group);
}

void add_bad_record_options(const Command& command, GraphOptions& options) {
  const std::string group = "Bad records";
  add_choice(command, "--on-error", options.on_error, "What to do with a refused record (default: fail)",
             std::vector<std::pair<std::string, OnError>>{
                 {"fail", OnError::fail}, {"skip", OnError::skip}, {"dead-letter", OnError::dead_letter}})
      .group(group);
  command
      .add_text("--dead-letters", options.dead_letters, "Where --on-error dead-letter writes refused records (JSONL)", "FILE")
      .group(group);
  add_number(command, "--max-record", options.max_record, "Longest record, in bytes (default: 1048576)", 1, 1U << 30)
      .group(group);
  add_number(command, "--max-labels", options.max_labels, "Most different labels of vertices, and of edges (default: 1000000)",
             1, std::uint64_t{1} << 31)
      .group(group);
  add_fraction(command, "--max-refused", options.max_refused,
               "Exit with 1 if a larger share of records is refused (default: 0.5)", 0, 1)
      .group(group);
  command
      .add_value(
          "--max-ahead",
          [&options](const std::string& text) {
            options.max_ahead = text == "none" ? std::nullopt : std::optional(parse_duration(text, "--max-ahead"));
          },
          "How far ahead a single time may move the watermark (default: 1d)", "TIME|none")
      .group(group);
}

/// What the name of a file of matches ends in, and their format.
struct Ending {
  std::string_view ending;
  std::string_view format;
};
constexpr auto endings = std::to_array<Ending>({{"", "jsonl"},
                                                {".jsonl", "jsonl"},
                                                {".ndjson", "jsonl"},
                                                {".json", "jsonl"},
                                                {".txt", "jsonl"},
                                                {".csv", "csv"},
                                                {".dmm", "binary"},
                                                {".html", "html"},
                                                {".htm", "html"},
                                                {".dot", "dot"},
                                                {".gv", "dot"},
                                                {".graphml", "graphml"}});

std::optional<ingest::PictureKind> picture(std::string_view format) {
  if (format == "dot") return ingest::PictureKind::dot;
  if (format == "graphml") return ingest::PictureKind::graphml;
  if (format == "html") return ingest::PictureKind::html;
  return std::nullopt;
}

void add_negative_ids_option(const Command& command, InputOptions& input) {
  command.add_flag("--negative-ids", input.codec.negative_ids, "In t/v/e streams, e -(u+1) -(v+1) deletes the edge u v")
      .group("Reading the stream");
}

}  // namespace

QueryOptions QuerySelection::options(bool list) const {
  const CountMode usual = mode == MatchMode::isomorphism ? CountMode::subgraphs : CountMode::embeddings;
  return {.mode = mode, .count = count.value_or(usual), .list = list, .induced = induced};
}

std::string Listing::finish() const {
  for (ingest::PictureSink* const picture : pictures) picture->finish();
  if (pictures.empty()) return {};
  std::string text;
  for (const ingest::DrawnQuery& query : pictures.front()->queries()) {  // all leave the same out
    if (query.left_out > 0) text += "deltamatch: " + what_is_missing(query) + "; raise --draw for more\n";
  }
  return text;
}

void EmitOptions::check() const {
  for (const std::string& path : paths()) {
    if (emit != Emit::matches || !format(path).empty()) continue;
    std::string known;
    for (const Ending& each : endings) {
      if (!each.ending.empty()) known += fmt::format("{}{}", known.empty() ? "" : " ", each.ending);
    }
    throw Error(ErrorKind::usage, "--out",
                fmt::format("no format of matches has the ending '{}'", std::filesystem::path(path).extension().string()),
                fmt::format("choose one of {}, or say what to write with --out-format", known));
  }
  if (emit != Emit::matches && !(out.empty() && out_format.empty())) {
    throw Error(ErrorKind::usage, out.empty() ? "--out-format" : "--out", "no matches are written", "add --emit matches");
  }
  if (out.size() > 1 && !out_format.empty()) {
    throw Error(ErrorKind::usage, "--out-format", "several files would have one format",
                "leave it out: the name of each file says its format");
  }
  if (std::ranges::count(out, "-") > 1) {
    throw Error(ErrorKind::usage, "--out -", "standard output is named more than once", "leave one of them out");
  }
  if (emit != Emit::matches && (times || signs)) {
    throw Error(ErrorKind::usage, times ? "--times" : "--signs", "no matches are written", "add --emit matches");
  }
  if (times == ingest::TimeForm::iso && writes({"binary"})) {
    throw Error(ErrorKind::usage, "--times iso", "binary matches have times in microseconds",
                "leave it out, or choose another --out-format");
  }
  if (sheet && !writes({"csv", "flat", "html"})) {
    throw Error(ErrorKind::usage, "--sheet", "no CSV is written for a spreadsheet, and no page",
                "add --emit matches and --out FILE with a name in .csv or .html");
  }
  if (sheet && times) {
    throw Error(ErrorKind::usage, "--times", "--sheet writes times as spreadsheets read them", "leave one of the two out");
  }
  if (batches == "-" && (matches_to_stdout() || json)) {
    throw Error(ErrorKind::usage, "--batches -",
                json ? "--json writes to standard output too" : "the matches go to standard output too",
                "write one of them to a file");
  }
  if (json && csv) throw Error(ErrorKind::usage, "--csv", "--json writes to standard output too", "choose one of them");
  if (csv && batches == "-") {
    throw Error(ErrorKind::usage, "--batches -", "--csv writes to standard output too", "write one of them to a file");
  }
  if (matches_to_stdout() && (json || csv)) {
    throw Error(ErrorKind::usage, json ? "--json" : "--csv",
                json ? "the matches and the JSON object both go to standard output"
                     : "the matches and the table both go to standard output",
                "write the matches to a file with --out FILE");
  }
  if (draw && !writes({"html", "dot", "graphml"})) {
    throw Error(ErrorKind::usage, "--draw", "nothing is drawn",
                "add --emit matches and --out FILE with a name in .html, .dot or .graphml");
  }
}

void EmitOptions::check_outputs() const {
  for (const std::string& path : out) check_writable(path);
  check_writable(batches);
}

std::vector<std::string> EmitOptions::paths() const { return out.empty() ? std::vector<std::string>{"-"} : out; }

bool EmitOptions::matches_to_stdout() const {
  return emit == Emit::matches && (out.empty() || std::ranges::find(out, "-") != out.end());
}

std::vector<NamedPath> EmitOptions::outputs() const {
  std::vector<NamedPath> named;
  for (const std::string& path : out) named.push_back({"--out", path});
  return named;
}

std::string EmitOptions::format(const std::string& path) const {
  if (!out_format.empty()) return out_format;
  const std::string ending = std::filesystem::path(path).extension().string();
  const auto* const known = std::ranges::find(endings, ending, &Ending::ending);
  return known == endings.end() ? std::string() : std::string(known->format);
}

bool EmitOptions::writes(std::initializer_list<std::string_view> formats) const {
  const auto is_one = [&](const std::string& path) { return std::ranges::find(formats, format(path)) != formats.end(); };
  return emit == Emit::matches && std::ranges::any_of(paths(), is_one);
}

std::unique_ptr<MatchSink> EmitOptions::open(const std::string& path, const EngineOptions& engine,
                                             std::span<const Query> queries, Listing& listing) const {
  const std::string format = this->format(path);
  const auto drawn = picture(format);
  const ingest::MatchForm form{engine.schema, times.value_or(drawn ? ingest::TimeForm::iso : ingest::TimeForm::microseconds)};
  if (drawn) {
    ingest::PictureOptions how{.kind = *drawn, .directed = engine.directed};
    how.most = draw.value_or(how.most);
    if (drawn == ingest::PictureKind::html) how.sheet = sheet;
    auto made = ingest::make_picture_sink(path, form, queries, how);
    listing.pictures.push_back(made.get());
    return made;
  }
  if (format == "flat" || (format == "csv" && (sheet || engine.schema.model != EdgeModel::simple)))
    return ingest::make_flat_csv_sink(path, form, queries, sheet);
  if (format == "csv") return ingest::make_csv_sink(path, form);
  return format == "binary" ? ingest::make_binary_sink(path, form) : ingest::make_jsonl_sink(path, form);
}

Listing EmitOptions::make_listing(const EngineOptions& engine, const std::vector<NamedQuery>& queries) const {
  Listing listing;
  if (emit != Emit::matches) return listing;
  std::vector<Query> all;
  all.reserve(queries.size());
  for (const NamedQuery& query : queries) all.push_back(query.query);
  std::vector<std::unique_ptr<MatchSink>> sinks;
  for (const std::string& path : paths()) sinks.push_back(open(path, engine, all, listing));
  listing.sink = ingest::make_tee(std::move(sinks));
  if (listed_signs() != ingest::Signs::both) listing.sink = ingest::make_sign_filter(std::move(listing.sink), *signs);
  return listing;
}

void add_direction_options(const Command& command, std::optional<bool>& directed) {
  const Option yes = command.add_flag(
      "--directed", [&directed] { directed = true; }, "Edges have a direction (default, unless the files say otherwise)");
  const Option no =
      command.add_flag("--undirected", [&directed] { directed = false; }, "Edges have no direction (default for t/v/e files)");
  yes.group("Data graph").excludes(no);
  no.group("Data graph");
}

void add_labels_options(const Command& command, GraphOptions& options) {
  command.add_list("--labels", options.labels, "Vertex labels, with the columns vertex,label; repeatable", "FILE")
      .group("Data graph");
  add_input_options(command, options.labels_input, "labels-", "vertex labels", false);
  options.labels_input.codec.vertices = true;
}

void add_graph_options(const Command& command, GraphOptions& options, bool has_stream, DeviceUse use) {
  const std::string group = "Data graph";
  const Option graph = command.add_list("--graph", options.graphs, "Start graph, or - for standard input; repeatable", "FILE");
  const Option snapshot =
      command.add_text("--snapshot", options.snapshot, "Snapshot to start from, in place of --graph", "FILE");
  graph.group(group);
  snapshot.group(group).excludes(graph);
  add_direction_options(command, options.directed);
  add_schema_options(command, options.schema);
  add_id_option(command, options, group);
  add_bad_record_options(command, options);
  const std::string running = "Running";
  add_number(command, "--threads", options.threads, "Threads (default: all that the machine has)", 1, 1024).group(running);
  add_backend_options(command, options.backend, use);
  add_choice(command, "--progress", options.progress, "Progress on standard error (default: auto, only on a terminal)",
             std::vector<std::pair<std::string, ProgressMode>>{
                 {"auto", ProgressMode::automatic}, {"always", ProgressMode::always}, {"never", ProgressMode::never}})
      .group(running);
  add_input_options(command, options.graph_input, has_stream ? "graph-" : "", "the start graph", true);
  add_labels_options(command, options);
}

Option add_replay_options(const Command& command, ReplayOptions& options) {
  const std::string group = "Stream";
  const Option updates =
      command.add_list("--updates", options.updates, "Stream of updates, or - for standard input; repeatable", "FILE")
          .group(group);
  const Option batch =
      add_number(command, "--batch", options.batch, "Most updates in a batch (default: 8192; with --batch-span no limit)", 1)
          .group(group);
  const Option span =
      add_duration(command, "--batch-span", options.batch_span, "Longest event time of a batch, e.g. 1h").group(group);
  command.add_text("--cuts", options.cuts, "Batches of another run, in place of --batch and --batch-span", "FILE")
      .group(group)
      .excludes(batch)
      .excludes(span);
  add_duration(command, "--window", options.window, "Event time that an edge lives after its last insertion, e.g. 24h")
      .group(group);
  add_duration(command, "--allowed-lateness", options.allowed_lateness,
               "How late records may come for matches of patterns WITHIN (default: 0)")
      .group(group);
  add_choice(command, "--order", options.order,
             "Whether an older record loses against a newer one that came before (default: arrival)",
             std::vector<std::pair<std::string, EventOrder>>{{"arrival", EventOrder::arrival}, {"time", EventOrder::time}})
      .group(group);
  add_input_options(command, options.input, "", "the stream", true);
  add_negative_ids_option(command, options.input);
  return updates;
}

void add_conversion_options(const Command& command, GraphOptions& common, InputOptions& input) {
  add_input_options(command, input, "", "the stream", true);
  add_id_option(command, common, "Reading the stream");
  add_negative_ids_option(command, input);
  add_bad_record_options(command, common);
}

Option add_query_options(const Command& command, QuerySelection& options) {
  const std::string group = "Queries";
  const Option queries = command
                             .add_list("--query", options.sources,
                                       "PATTERN, FILE, name=PATTERN, name=FILE or a folder of files; repeatable", "QUERY")
                             .group(group);
  add_choice(command, "--mode", options.mode, "What must differ within a match (default: isomorphism)",
             std::vector<std::pair<std::string, MatchMode>>{{"isomorphism", MatchMode::isomorphism},
                                                            {"edge-distinct", MatchMode::edge_distinct},
                                                            {"homomorphism", MatchMode::homomorphism}})
      .group(group);
  add_choice(command, "--count", options.count,
             "What counts as one match (default: subgraphs with isomorphism, else embeddings)",
             std::vector<std::pair<std::string, CountMode>>{{"subgraphs", CountMode::subgraphs},
                                                            {"embeddings", CountMode::embeddings}})
      .group(group);
  return queries;
}

void check_no_order(const QuerySelection& queries, std::string_view option) {
  if (queries.orders.empty()) return;
  throw Error(ErrorKind::usage, "--matching-order", fmt::format("{} follows no order of vertices", option),
              "leave one of the two out");
}

void add_matching_order_option(const Command& command, QuerySelection& options) {
  command
      .add_list("--matching-order", options.orders, "Names of a query's vertices in the order to match them; repeatable",
                "[QUERY=]A,B,C")
      .group("Queries");
}

StaticOptions WholeOptions::options(const QueryOptions& query) const {
  StaticOptions made;
  made.query = query;
  made.induced = induced;
  made.filter = filter;
  made.filter_without = filter_without;
  made.count_from = count_from;
  return made;
}

void WholeOptions::check(MatchMode mode) const {
  if (filter == Filter::none && filter_without.any()) {
    throw Error(ErrorKind::usage, "--filter-without", "--filter none takes no steps", "leave one of the two out");
  }
  if (count_from != CountFrom::vertices || !(induced || mode == MatchMode::edge_distinct)) return;
  throw Error(ErrorKind::usage, "--count-from vertices",
              induced ? "induced matches are counted from edges" : "edge-distinct matches are counted from edges",
              induced ? "leave it or --induced out" : "leave it out, or choose another --mode");
}

FilterWithout parse_filter_without(const std::string& text) {
  FilterWithout parsed;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string step = text.substr(at, comma - at);
    at = comma + 1;
    if (step == "degree") {
      parsed.degree = true;
    } else if (step == "refine") {
      parsed.refine = true;
    } else if (step == "unite") {
      parsed.unite = true;
    } else {
      throw Error(ErrorKind::usage, "--filter-without", "'" + step + "' is not a step of the filter",
                  "choose from degree, refine and unite, with commas between them");
    }
  }
  return parsed;
}

void add_whole_options(const Command& command, WholeOptions& options) {
  command.add_flag("--induced", options.induced, "Only matches whose vertices are joined by no further edge").group("Queries");
  add_choice<Filter, Filter>(command, "--filter", options.filter, "How far candidates are filtered first (default: auto)",
                             {{"auto", Filter::automatic},
                              {"none", Filter::none},
                              {"label", Filter::label},
                              {"degree", Filter::degree},
                              {"refine", Filter::refine}})
      .group("Queries");
  command
      .add_value(
          "--filter-without", [&options](const std::string& text) { options.filter_without = parse_filter_without(text); },
          "Steps of the filter to leave out: degree, refine, unite", "STEP[,STEP]")
      .group("Queries");
  add_choice<CountFrom, CountFrom>(
      command, "--count-from", options.count_from, "What a count is summed over (default: auto, the cheaper)",
      {{"auto", CountFrom::automatic}, {"edges", CountFrom::edges}, {"vertices", CountFrom::vertices}})
      .group("Queries");
}

void add_json_option(const Command& command, bool& json) {
  command.add_flag("--json", json, "Print one JSON object instead of a table").group("Output");
}

void add_emit_options(const Command& command, EmitOptions& options) {
  const std::string group = "Output";
  add_choice(
      command, "--emit", options.emit, "Count matches, also digest them, or list them (default: none)",
      std::vector<std::pair<std::string, Emit>>{{"none", Emit::none}, {"digest", Emit::digest}, {"matches", Emit::matches}})
      .group(group);
  command.add_list("--out", options.out, "Where --emit matches writes (default: -, standard output); repeatable", "FILE")
      .group(group);
  add_choice(command, "--out-format", options.out_format, "Format of the matches (default: by the name of the file, or jsonl)",
             std::vector<std::pair<std::string, std::string>>{{"jsonl", "jsonl"},
                                                              {"csv", "csv"},
                                                              {"flat", "flat"},
                                                              {"binary", "binary"},
                                                              {"html", "html"},
                                                              {"dot", "dot"},
                                                              {"graphml", "graphml"}})
      .group(group);
  add_number(command, "--draw", options.draw, "Most matches of each query in html, dot and graphml (default: 1000)", 1)
      .group(group);
  add_choice(command, "--times", options.times, "Times of matches: microseconds, or ISO 8601 in UTC (default: us)",
             std::vector<std::pair<std::string, ingest::TimeForm>>{{"us", ingest::TimeForm::microseconds},
                                                                   {"iso", ingest::TimeForm::iso}})
      .group(group);
  add_choice(command, "--sheet", options.sheet,
             "Write CSV that a double click opens in a spreadsheet, or a page, with the decimal sign of your country",
             std::vector<std::pair<std::string, char>>{{"point", '.'}, {"comma", ','}})
      .group(group);
  add_json_option(command, options.json);
  command.add_flag("--csv", options.csv, "Print the row of each query as CSV instead of a table").group(group);
}

void add_signs_option(const Command& command, EmitOptions& options) {
  add_choice(command, "--signs", options.signs, "Which matches are listed (default: both)",
             std::vector<std::pair<std::string, ingest::Signs>>{
                 {"both", ingest::Signs::both}, {"new", ingest::Signs::added}, {"removed", ingest::Signs::removed}})
      .group("Output");
}

void check(const GraphOptions& graph, const ReplayOptions& stream) {
  if ((graph.on_error == OnError::dead_letter) == graph.dead_letters.empty()) {
    throw Error(ErrorKind::usage, graph.dead_letters.empty() ? "--on-error dead-letter" : "--dead-letters",
                "it needs the other option of dead letters", "give both --on-error dead-letter and --dead-letters FILE");
  }
  std::ptrdiff_t readers = 0;
  for (const auto* paths : {&graph.graphs, &graph.labels, &stream.updates}) readers += std::ranges::count(*paths, "-");
  if (readers > 1) {
    throw Error(ErrorKind::usage, "-", "standard input is named more than once", "give the other inputs as files");
  }
  if (!stream.cuts.empty() && stream.updates.size() > 1) {
    throw Error(ErrorKind::usage, "--cuts", "there are several streams to cut", "put them into one file");
  }
}

void check_lateness(const ReplayOptions& stream, const std::vector<NamedQuery>& queries) {
  if (stream.allowed_lateness == 0) return;
  if (std::ranges::any_of(queries, [](const NamedQuery& named) { return ingest::allows_lateness(named.query); })) return;
  throw Error(ErrorKind::usage, "--allowed-lateness",
              "no query has WITHIN, EMIT FINAL or ALERT ONCE, so no record can come too late for one",
              "end a pattern with WITHIN TIME, or leave it out; with --window, edges that come too late are always left out");
}

void check_order(const EngineOptions& engine, const std::string& snapshot, const std::vector<NamedQuery>& queries) {
  if (engine.order == EventOrder::arrival || engine.window > 0) return;
  const auto unbounded = std::ranges::find_if(queries, [](const NamedQuery& named) { return !named.query.within; });
  if (unbounded == queries.end() && !queries.empty()) return;
  const std::string query = queries.empty() ? "" : fmt::format(" and the query {} has no WITHIN", unbounded->query.name);
  if (snapshot.empty()) {
    throw Error(ErrorKind::usage, "--order time",
                fmt::format("deletions would be remembered for ever, because there is no window{}", query),
                "give --window, or end each pattern with WITHIN TIME");
  }
  throw Error(ErrorKind::usage, snapshot,
              fmt::format("its deletions would be remembered for ever, because it was made with --order time and without a "
                          "window{}{}",
                          query.empty() ? "" : ",", query),
              "end each pattern with WITHIN TIME; match and explain --whole take any pattern");
}

void check_fit(const EngineOptions& engine, const std::vector<NamedQuery>& queries, const QueryOptions& options) {
  Engine empty(
      EngineOptions{.directed = engine.directed, .threads = 1, .schema = engine.schema, .self_loops = engine.self_loops});
  for (const NamedQuery& named : queries) empty.add_query(named.query, options);
}

ingest::ReadOptions read_options(const GraphOptions& common, const InputOptions& input, const ingest::BatchLimits& limits,
                                 Timestamp window, std::shared_ptr<ingest::DeadLetterSink> letters) {
  ingest::ReadOptions options;
  options.format = input.format;
  options.codec = input.codec;
  common.schema.apply(options.codec);
  options.codec.ids = common.ids;
  options.codec.directed = common.directed;
  options.limits = limits;
  options.on_error = common.on_error;
  options.letters = std::move(letters);
  options.max_record = common.max_record;
  options.max_ahead = common.max_ahead;
  options.window = window;
  options.spelling.prefix = input.prefix;
  return options;
}

}  // namespace deltamatch::cli
