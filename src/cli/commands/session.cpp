#include "cli/commands/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "base/seconds.hpp"
#include "cli/commands/interrupt.hpp"
#include "cli/options/cuts.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/values.hpp"
#include "deltamatch/error.hpp"
#include "engine/storage/bulk_loader.hpp"
#include "ingest/batch/time_span.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::cli {
namespace {

constexpr std::size_t load_batch = std::size_t{1} << 14;
constexpr std::size_t usual_batch = 8192;
constexpr std::chrono::milliseconds grace{500};  // for the batch that was being read when the run was to end

using Clock = std::chrono::steady_clock;

/// The share of all sources that has been read, while the one at `index` is being read.
std::optional<double> fraction(const std::vector<std::unique_ptr<ingest::UpdateStream>>& sources, std::size_t index) {
  const ingest::Progress progress = sources[index]->progress();
  if (!progress.bytes_total || *progress.bytes_total == 0) return std::nullopt;
  const double share = static_cast<double>(progress.bytes_read) / static_cast<double>(*progress.bytes_total);
  return (static_cast<double>(index) + share) / static_cast<double>(sources.size());
}

ingest::BatchLimits limits_of(const ReplayOptions& stream, Timestamp window) {
  const std::size_t unset = stream.batch_span > 0 ? 0 : usual_batch;
  return ingest::BatchLimits{.max_updates = stream.batch.value_or(unset), .max_span = stream.batch_span}.within_window(window);
}

std::optional<std::vector<ingest::Cut>> cuts_of(const ReplayOptions& stream) {
  if (stream.cuts.empty()) return std::nullopt;
  return read_cuts(stream.cuts);
}

}  // namespace

std::vector<NamedPath> input_paths(const GraphOptions& graph, const ReplayOptions& stream, const QuerySelection& queries) {
  std::vector<NamedPath> inputs{{"--snapshot", graph.snapshot}};
  const auto add = [&inputs](std::string_view option, const std::vector<std::string>& paths) {
    for (const std::string& path : paths) inputs.push_back({option, path});
  };
  add("--graph", graph.graphs);
  add("--labels", graph.labels);
  add("--updates", stream.updates);
  inputs.push_back({"--cuts", stream.cuts});
  add("--query", query_paths(queries.sources));
  return inputs;
}

Session::Session(GraphOptions graph, const ReplayOptions& stream) : max_refused_(graph.max_refused), progress_(graph.progress) {
  check(graph, stream);
  check_writable(graph.dead_letters);
  Timestamp window = stream.window;
  const std::shared_ptr<Backend> backend = make_backend(graph.backend);
  if (!graph.snapshot.empty()) {
    engine_ = std::make_unique<Engine>(Engine::restore(graph.snapshot, graph.threads, backend));
    const EngineOptions& saved = engine_->options();
    if (stream.window != 0 && stream.window != saved.window) {
      throw Error(ErrorKind::usage, "--window", fmt::format("the snapshot {} was made with another window", graph.snapshot),
                  "leave --window out: a snapshot brings its own");
    }
    if (stream.allowed_lateness != 0 && stream.allowed_lateness != saved.allowed_lateness) {
      throw Error(ErrorKind::usage, "--allowed-lateness",
                  fmt::format("the snapshot {} was made with another lateness", graph.snapshot),
                  "leave --allowed-lateness out: a snapshot brings its own");
    }
    if (stream.order && *stream.order != saved.order) {
      throw Error(ErrorKind::usage, "--order", fmt::format("the snapshot {} was made with the other order", graph.snapshot),
                  "leave --order out: a snapshot brings its own");
    }
    if (graph.self_loops && *graph.self_loops != saved.self_loops) {
      throw Error(ErrorKind::usage, "--self-loops",
                  fmt::format("the snapshot {} was made of a graph that {} self-loops", graph.snapshot,
                              saved.self_loops == SelfLoops::keep ? "keeps" : "leaves out"),
                  "leave --self-loops out: a snapshot brings its own");
    }
    if (graph.directed && *graph.directed != saved.directed) {
      throw Error(
          ErrorKind::usage, *graph.directed ? "--directed" : "--undirected",
          fmt::format("the snapshot {} holds {} graph", graph.snapshot, saved.directed ? "a directed" : "an undirected"),
          "leave the option out: a snapshot brings its own direction");
    }
    window = saved.window;
    graph.schema.take_from(fmt::format("the snapshot {}", graph.snapshot), saved.schema);
  }
  Inputs inputs(graph, stream);
  if (!engine_) {  // what is wrong with these is told first
    inputs.settle_schema(graph.schema);
    if (stream.order == EventOrder::time && window == 0 && graph.schema.schema().model == EdgeModel::simple) {
      throw Error(ErrorKind::usage, "--order time", "deletions would be remembered for ever, because there is no window",
                  "give --window, or --edges keyed or events and patterns that end with WITHIN TIME");
    }
  }
  open(graph, stream, window, std::move(inputs));
  if (engine_ && !graph.directed) check_updates_of_snapshot(graph.snapshot);
  if (!engine_) {
    engine_ = std::make_unique<Engine>(EngineOptions{.directed = decide_direction(graph),
                                                     .threads = graph.threads,
                                                     .window = window,
                                                     .allowed_lateness = stream.allowed_lateness,
                                                     .order = stream.order.value_or(EventOrder::arrival),
                                                     .schema = graph.schema.schema(),
                                                     .self_loops = graph.self_loops.value_or(SelfLoops::leave_out),
                                                     .backend = backend});
  }
  engine_->limit_labels(graph.max_labels);
}

// Streams that say undirected contradict a directed graph.
void Session::check_updates_of_snapshot(const std::string& snapshot) const {
  for (const auto& source : updates_) {
    if (!engine_->options().directed || !source->says_undirected()) continue;
    throw Error(ErrorKind::usage, "inputs",
                fmt::format("{} is undirected, but the snapshot {} holds a directed graph", source->name(), snapshot),
                "add --directed to read all edges as directed");
  }
}

void Session::open(const GraphOptions& graph, const ReplayOptions& stream, Timestamp window, Inputs inputs) {
  graph_files_ = std::move(inputs.graph_files);
  const ingest::BatchLimits load_limits = ingest::BatchLimits{.max_updates = load_batch}.within_window(window);
  if (graph.on_error == ingest::OnError::dead_letter) letters_ = ingest::make_dead_letter_file(graph.dead_letters);
  const auto open_all = [&](std::vector<ingest::Input>& opened, const InputOptions& input, const ingest::BatchLimits& limits,
                            Sources& sources, const std::optional<std::vector<ingest::Cut>>& cuts = std::nullopt) {
    for (ingest::Input& one : opened) {
      ingest::ReadOptions options = read_options(graph, input, limits, window, letters_);
      options.codec.whole = &sources == &graphs_;
      options.cuts = cuts;
      options.watch_ids = graph.labels.size() + graph.graphs.size() + stream.updates.size() > 1;
      sources.push_back(ingest::open_stream(std::move(one), options));
    }
  };
  open_all(inputs.labels, graph.labels_input, load_limits, labels_);
  open_all(inputs.graphs, graph.graph_input, load_limits, graphs_);
  const ingest::BatchLimits limits = limits_of(stream, window);
  const auto cuts = cuts_of(stream);
  if (!cuts) batch_span_ = limits.max_span;
  open_all(inputs.updates, stream.input, limits, updates_, cuts);
  check_graph_files(graph);
}

// Refuses options about records if no input has records.
void Session::check_graph_files(const GraphOptions& graph) const {
  if (graph_files_.empty()) return;
  if (graph.schema.edges == EdgeModel::keyed) {
    throw Error(ErrorKind::usage, "--edges",
                fmt::format("the edges of the graph file {} have no keys", graph_files_[0]->name()),
                "choose --edges events, or give the start graph as csv or jsonl");
  }
  const auto refuse_if = [&](bool given, std::string_view option) {
    if (!given) return;
    throw Error(ErrorKind::usage, fmt::format("--{}", option),
                fmt::format("the graph file {} holds no records that it could be about", graph_files_[0]->name()),
                "leave it out");
  };
  const InputOptions& input = graph.graph_input;
  const auto of_input = [&](bool given, std::string_view option) { refuse_if(given, input.prefix + std::string(option)); };
  of_input(input.format.has_value(), "format");
  if (!graphs_.empty()) return;
  const ingest::CodecOptions& codec = input.codec;
  of_input(!codec.columns.empty(), "columns");
  of_input(!codec.op_values.empty(), "op-values");
  of_input(codec.envelope != ingest::Envelope::none, "envelope");
  of_input(codec.separator != 0, "separator");
  of_input(codec.decimal != ingest::Decimal::strict, "decimal");
  of_input(codec.header.has_value(), "header");
  of_input(codec.time_unit.has_value(), "time-unit");
  of_input(!codec.time_format.empty(), "time-format");
  of_input(!codec.edge_label.empty(), "edge-label");
  refuse_if(codec.negative_ids, "negative-ids");
  if (!labels_.empty() || !updates_.empty()) return;
  refuse_if(graph.ids.has_value(), "ids");
  refuse_if(graph.on_error != ingest::OnError::fail, "on-error");
  refuse_if(graph.max_record != ingest::default_max_record, "max-record");
  refuse_if(graph.max_labels != Engine::default_label_limit, "max-labels");
}

bool Session::decide_direction(const GraphOptions& graph) const {
  std::optional<bool> directed = graph.directed;
  for (const auto& file : graph_files_) {
    if (directed && *directed != file->directed()) {
      throw Error(
          ErrorKind::usage, graph.directed ? *directed ? "--directed" : "--undirected" : "inputs",
          fmt::format("the graph file {} holds {} graph", file->name(), file->directed() ? "a directed" : "an undirected"),
          graph.directed ? "leave the option out: a graph file brings its own direction" : "name graph files of one direction");
    }
    directed = file->directed();
  }
  if (graph.directed) return *graph.directed;
  const ingest::UpdateStream* first = nullptr;
  for (const Sources* sources : {&graphs_, &updates_}) {
    for (const auto& source : *sources) {
      if (!source->format()) continue;  // an empty file fits any direction
      if (first == nullptr) first = source.get();
      if (source->directed() == first->directed()) continue;
      const auto kind = [](const ingest::UpdateStream& input) {
        return fmt::format("{} ({}) is {}", input.name(), ingest::format_name(*input.format()),
                           input.directed() ? "directed" : "undirected");
      };
      throw Error(ErrorKind::usage, "inputs", fmt::format("{}, but {}", kind(*first), kind(*source)),
                  "add --directed or --undirected for all of them");
    }
  }
  if (directed && first != nullptr && first->directed() != *directed) {
    throw Error(
        ErrorKind::usage, "inputs",
        fmt::format("{} is {}, but the graph file is not", first->name(), first->directed() ? "directed" : "undirected"),
        fmt::format("add --{1} to read all edges as {0}", *directed ? "directed" : "undirected",
                    *directed ? "directed" : "undirected"));
  }
  if (directed) return *directed;
  return first == nullptr || first->directed();
}

void Session::heed(const std::vector<NamedQuery>& queries) {
  reads_times_ = std::ranges::any_of(queries, [](const NamedQuery& named) { return ingest::reads_times(named.query); });
  const auto heeds =
      std::ranges::find_if(queries, [](const NamedQuery& named) { return ingest::allows_lateness(named.query); });
  if (heeds != queries.end()) heeds_order_ = heeds->query.name;
  for (const NamedQuery& named : queries) named_labels_.add(named.query);
}

std::optional<BackendStatistics> Session::backend() const {
  if (!engine_->options().backend) return std::nullopt;
  return engine_->backend_statistics();
}

void Session::load_as_updates(engine::GraphFile& file) {
  const Timestamp window = engine_->options().window;
  if (window > 0 && !file.timed()) {
    throw Error(ErrorKind::usage, "--window", fmt::format("the edges of the graph file {} have no times", file.name()),
                "write it with --times, or leave --window out");
  }
  UpdateBatch batch;
  ingest::TimeSpan span;
  const auto flush = [&] {
    const BatchResult result = engine::BulkLoader::load(*engine_, batch);
    if (!result.rejects.empty()) {
      throw Error(file.name(), fmt::format("an edge or vertex is refused ({})", reject_name(result.rejects[0].reason)),
                  result.rejects[0].reason == RejectReason::label_limit ? "raise --max-labels"
                                                                        : "give vertices the same labels in all inputs");
    }
    batch.clear();
    span = {};
  };
  const ingest::BatchLimits limits = ingest::BatchLimits{.max_updates = load_batch}.within_window(window);
  file.for_each([&](const Update& update) {
    if (batch.size() >= load_batch) flush();
    if (limits.max_span > 0 && update.time && !span.widen(*update.time, limits.max_span)) {
      flush();
      span.widen(*update.time, limits.max_span);
    }
    batch.add(update);
  });
  if (file.watermark()) batch.set_watermark(std::max(*file.watermark(), engine_->watermark().value_or(*file.watermark())));
  flush();
}

void Session::load_files(Report& report, const engine::EdgeDemand* demand) {
  if (!graph_files_.empty()) label_use_.give_up();
  const EngineOptions& options = engine_->options();
  const bool alone =
      graph_files_.size() == 1 && graphs_.empty() && labels_.empty() && options.window == 0 && options.schema == Schema{};
  for (const auto& file : graph_files_) {
    if (alone) {
      named_labels_.look(*file);
      report.loaded = engine::BulkLoader::load(*engine_, *file, demand);
    } else {
      load_as_updates(*file);
      if (!file->timed() && reads_times_) {
        report.notes.warn({"time_absent", file->name(), "no edge has a time, but a query reads times",
                           "write the file with --times, or leave times out of the queries"});
      }
    }
  }
  graph_files_.clear();
}

void Session::load(Report& report, const engine::EdgeDemand* demand) {
  const Clock::time_point start = Clock::now();
  if (letters_) letters_->commit();  // the file of an earlier run is kept until here
  ingest::PositionedBatch batch;
  for (const Sources* sources : {&labels_, &graphs_}) {
    std::uint64_t done = 0;
    for (std::size_t index = 0; index < sources->size(); ++index) {
      ingest::UpdateStream& source = *(*sources)[index];
      Vain vain(engine_->options());
      while (source.next(batch)) {
        const BatchResult result = engine::BulkLoader::load(*engine_, batch.updates, source.on_reject());
        vain.add(batch.updates, result);
        if (sources == &labels_)
          label_use_.add_labels(batch.updates);
        else
          label_use_.add_edges(batch.updates);
        report.unused.ignored += result.ignored;
        source.settle(batch, result.rejects);
        done += result.consumed;
        progress_.show("records loaded", done, fraction(*sources, index));
      }
      conclude(source, report, vain);
      report.notes.tell_empty(source);
    }
    if (sources == &labels_) load_files(report, demand);
  }
  progress_.clear();
  named_labels_.look(*engine_);
  if (updates_.empty()) compare_ids(report);
  if (updates_.empty()) tell_absent_labels(report);
  report.load = seconds_since(start);
}

/// Ends an input.
void Session::conclude(ingest::UpdateStream& source, Report& report, const Vain& vain) {
  progress_.clear();
  report.unused.add(source.refused());
  report.notes.take(source, max_refused_);
  constexpr std::uint64_t many = 10;  // more than one in this many
  if (auto absent = vain.absent.warning(source.name())) report.notes.warn(std::move(*absent));
  if (reads_times_) {
    if (auto absent = vain.times.warning(source.name(), source.advice_on_times())) report.notes.warn(std::move(*absent));
  }
  tell_order(source, report, vain);
  if (engine_->options().window == 0 || vain.late <= source.records() / many) return;
  report.notes.warn({"late", source.name(), "more than a tenth of the records arrive older than the window and are skipped",
                     "put the records in order of time, check times and their unit, or use a longer --window", vain.late});
}

/// Warns of records that come too late for matches of a query.
void Session::tell_order(const ingest::UpdateStream& source, Report& report, const Vain& vain) const {
  if (heeds_order_.empty() || vain.order.count() == 0) return;
  report.notes.warn(vain.order.warning(
      source.where(vain.order.first()), heeds_order_,
      fmt::format("sort the file with deltamatch convert --order time --to binary {} sorted.dmu and the options that say how "
                  "to read it, and replay sorted.dmu without them; if no pattern counts, --allowed-lateness {} is enough",
                  source.name() == "stdin" ? "FILE" : ingest::shell_quoted(source.name()), vain.order.longest_text())));
}

/// Says nothing if records were left out, which may have the labels.
void Session::tell_absent_labels(Report& report) const {
  if (report.unused.ignored.late > 0 || report.notes.refused().total() > 0) return;
  for (const engine::AbsentLabel& label : named_labels_.absent(*engine_)) {
    std::string remedy = "check how the data spell it";
    if (label.none) {
      remedy = fmt::format("name the columns that hold labels ({}), {}or leave the label out of the pattern",
                           label.of_vertex ? "source_label, target_label" : "label",
                           label.of_vertex ? "" : "give all edges one (--edge-label), ");
    } else if (!label.meant.empty()) {
      remedy = fmt::format("did you mean '{}'?", label.meant);
    }
    report.notes.warn({"label_absent", "query " + label.query, label.what(), std::move(remedy)});
  }
}

bool Session::ended() const noexcept { return interrupted() || (limits_.until && Clock::now() >= *limits_.until); }

void Session::show(const BatchProgress& progress, const Report& report) {
  std::string text = fmt::format("batch {} is being matched: {}", engine_->batch() + 1, human_seconds(progress.seconds));
  if (progress.matches > 0) text += fmt::format(", {} matches so far", grouped(progress.matches));
  if (progress.query) text += fmt::format(", query {}", report.deltas[static_cast<std::size_t>(*progress.query)].name);
  progress_.show(text, std::nullopt, std::nullopt);
}

/// Compares the ids of each input with those of the inputs before it. An id quoted in one file and bare in another joins
/// nothing. Other differences show if no vertex with a label occurs in an edge.
void Session::compare_ids(Report& report) const {
  std::vector<const ingest::UpdateStream*> before;
  bool told = false;
  const auto compare = [&](const ingest::UpdateStream& source) {
    for (const ingest::UpdateStream* other : before) {
      if (auto warning = ingest::compare_ids(source.doubts(), source.name(), other->doubts(), other->name())) {
        report.notes.warn(std::move(*warning));
        told = true;
        return;
      }
    }
  };
  for (const Sources* sources : {&labels_, &graphs_, &updates_}) {
    for (const auto& source : *sources) {
      compare(*source);
      before.push_back(source.get());
    }
  }
  if (told || labels_.empty() || ended_) return;
  if (auto warning = label_use_.warning(labels_.front()->name())) report.notes.warn(std::move(*warning));
}

void Session::run(Report& report, MatchSink* sink, const OnBatch& on_batch, const Limits& limits) {
  limits_ = limits;
  report.batch_span = batch_span_;
  if (limits.max_matches) {
    for (std::size_t query = 0; query < report.deltas.size(); ++query)
      engine_->budget(QueryId{static_cast<std::uint32_t>(query)}, {.time = {}, .matches = limits.max_matches});
  }
  for (std::size_t index = 0; index < updates_.size(); ++index) run_source(index, report, sink, on_batch);
  compare_ids(report);
  progress_.clear();
  report.interrupted = interrupted();
  report.timed_out = !report.interrupted && ended_;
  if (!report.interrupted && !report.timed_out) tell_absent_labels(report);
}

void Session::release_inputs() noexcept {
  for (Sources* sources : {&labels_, &graphs_, &updates_}) sources->clear();
}

void Session::run_source(std::size_t index, Report& report, MatchSink* sink, const OnBatch& on_batch) {
  ingest::UpdateStream& source = *updates_[index];
  std::uint64_t refused_by_engine = 0;  // counted among the updates that were taken
  Vain vain(engine_->options());
  const auto count_refused = [&] {
    report.updates += source.refused().total() - refused_by_engine;
    conclude(source, report, vain);
  };
  BatchOptions options;
  options.on_reject = source.on_reject();
  options.sink = sink;
  options.record_by_record = true;
  options.upcoming = [&source](const std::stop_token& stop) { return source.upcoming(stop); };
  std::optional<Clock::time_point> last;  // until when the last batch may be matched, once reading was stopped
  const auto stop_reading = [&] {
    if (!ended()) return false;
    last = Clock::now() + grace;
    return true;
  };
  options.stop = [&] { return last ? Clock::now() >= *last : ended(); };
  if (progress_.enabled()) options.progress = [&](const BatchProgress& progress) { show(progress, report); };
  ingest::PositionedBatch batch;
  try {
    while (!(ended_ = ended_ || ended()) && source.next(batch, stop_reading)) {
      label_use_.add_edges(batch.updates);
      vain.order.add(batch, engine_->watermark());
      bool more = true;
      while (more) {
        const std::optional<BatchResult> result = engine_->process(batch.updates, options);
        if (!result) break;
        if (result->cut) batch.hold_back(result->consumed);
        report.add(*result);
        named_labels_.look(*engine_);
        refused_by_engine += result->rejects.size();
        vain.add(batch.updates, *result);
        on_batch(*result, batch);
        source.settle(batch, result->rejects);
        progress_.show("updates", report.updates, fraction(updates_, index));
        more = result->cut;
        if (more) batch.drop_first(result->consumed);
      }
      if (more) {
        ended_ = true;
        report.abandoned = engine_->batch() + 1;
        break;
      }
    }
    ended_ = ended_ || last;
  } catch (...) {
    count_refused();
    throw;
  }
  count_refused();
  if (!ended_) report.notes.tell_empty(source);
}

std::vector<QueryId> register_queries(Engine& engine, const std::vector<NamedQuery>& queries, const QueryOptions& options,
                                      const MatchingOrders& orders, Report& report) {
  std::vector<QueryId> ids;
  for (std::size_t number = 0; number < queries.size(); ++number) {
    const NamedQuery& query = queries[number];
    ids.push_back(engine.add_query(query.query, orders.apply(options, number)));
    QueryTotals& totals = report.deltas.emplace_back();
    totals.name = query.query.name;
    totals.once = query.query.once.has_value();
  }
  return ids;
}

}  // namespace deltamatch::cli
