// The life cycle of a batch: apply (resolve, net, stage) > estimate > cache > match > deliver > settle.
// Every step that can fail comes before the first change that cannot be undone. Settling cannot fail.
#include "deltamatch/engine.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "base/checked.hpp"
#include "base/seconds.hpp"
#include "engine/batch/anticipation.hpp"
#include "engine/batch/batch_listing.hpp"
#include "engine/batch/batch_watch.hpp"
#include "engine/batch/plan_trials.hpp"
#include "engine/batch/standing.hpp"
#include "engine/storage/bulk_loader.hpp"
#include "engine/storage/graph_updates.hpp"
#include "engine/storage/snapshot.hpp"
#include "engine/whole/clique_match.hpp"
#include "engine/whole/static_match.hpp"
#include "estimate/estimator.hpp"
#include "graph/batch_resolver.hpp"
#include "match/backend.hpp"
#include "match/matcher.hpp"

namespace deltamatch {

using engine::Standing;

namespace {

using Clock = std::chrono::steady_clock;

// What each level of the plans found in a batch: indexed by query, plan and level.
using LevelCounts = std::vector<std::vector<std::vector<double>>>;

struct Matched {  // what one query found in one pass
  std::vector<match::PlanResult> plans;
  Count count = 0;
  MatchDigest digest;  // only if the query lists matches
};

}  // namespace

struct Engine::Impl {
  explicit Impl(const EngineOptions& wanted)
      : options(wanted),
        workers(wanted.threads),
        graph(wanted.directed, wanted.window > 0, wanted.backend ? wanted.backend->slabs() : graph::heap_slabs()),
        window(wanted.window > 0 ? std::make_unique<graph::Window>(wanted.window) : nullptr),
        resolver(graph, window.get(), workers),
        matcher(wanted.backend ? wanted.backend->make_matcher(workers) : match::make_cpu_matcher(workers)) {
    if (wanted.window < 0) throw Error(ErrorKind::configuration, "window", "negative", "give a positive span, or 0 for none");
    if (wanted.backend) graph.track_changes();
  }

  enum class Purpose : std::uint8_t { start, load, absorb, process };
  // Takes a batch through its steps. Throws Stopped.
  BatchResult run(const UpdateBatch& batch, const BatchOptions& wanted, Purpose purpose);
  // `told`: listed matches are delivered afterwards.
  void match_all(const graph::ResolvedBatch& resolved, const BatchOptions& wanted, BatchResult& result, LevelCounts& levels,
                 std::vector<Matched>& removed, std::vector<Matched>& added);
  void try_plans(std::span<const match::PassWork> passes);
  std::vector<match::QueryResult> match_rounds(std::span<const match::PassWork> passes, std::span<match::QueryTask> tasks,
                                               const std::function<void()>& open_listing, match::MatchSteps& steps);
  void match_alone(std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
                   std::span<match::QueryResult> results, match::MatchSteps& steps);
  void net_rebound(std::size_t query, Matched& removed, Matched& added) const;
  void shorten(std::size_t query, bool told, QueryDelta& delta) const;
  LevelCounts analyze(std::span<const match::PassWork> passes, std::vector<match::QueryTask> tasks);
  [[nodiscard]] std::vector<Matched> gather(match::Pass pass, std::span<const match::QueryTask> tasks,
                                            std::span<match::QueryResult> results) const;
  void deliver(const graph::ResolvedBatch& resolved, std::span<const QueryDelta> deltas, bool report_partial, MatchSink& sink);
  Standing& find(QueryId query);
  void bind_anew();
  match::Matcher& on_cpu() {
    if (options.backend && !cpu_matcher) cpu_matcher = match::make_cpu_matcher(workers);
    return cpu_matcher ? *cpu_matcher : *matcher;
  }
  // If a match can only be checked for being induced at its end, a backend with its own memory leaves the query to the CPU.
  [[nodiscard]] static bool left_to_cpu(const StaticOptions& options) {
    return options.induced && options.query.mode != MatchMode::isomorphism;
  }
  engine::StaticScene scene(bool cpu) {
    return {graph, cpu ? on_cpu() : *matcher, workers, watermark, standing.empty() && !window};
  }

  engine::CliqueScene clique_scene() {
    if (options.backend && !dense_sets) dense_sets = options.backend->make_dense_set_counter();
    return {graph, workers, dense_sets.get()};
  }

  EngineOptions options;
  Workers workers;
  graph::DataGraph graph;
  std::unique_ptr<graph::Window> window;
  graph::BatchResolver resolver;
  engine::Anticipation anticipation;
  engine::PlanTrials trials;
  engine::BatchWatch watch;
  engine::BatchListing listing;
  std::unique_ptr<match::Matcher> matcher;
  std::unique_ptr<match::Matcher> cpu_matcher;         // used beside a backend's, made when first needed
  std::unique_ptr<match::DenseSetCounter> dense_sets;  // made when first needed; null without a backend
  std::vector<std::pair<QueryId, std::unique_ptr<Standing>>> standing;
  std::uint32_t next_query = 0;
  std::uint64_t batches = 0;
  std::optional<Timestamp> watermark;
  std::uint64_t label_limit = default_label_limit;
  bool analyzing = false;
};

// The records that are still in `results` are spooled as well.
std::vector<Matched> Engine::Impl::gather(match::Pass pass, std::span<const match::QueryTask> tasks,
                                          std::span<match::QueryResult> results) const {
  std::vector<Matched> matched(tasks.size());
  for (std::size_t q = 0; q < tasks.size(); ++q) {
    matched[q].count = match::total(tasks[q], results[q].plans);
    if (tasks[q].list) {
      tasks[q].taker->take(results[q].records, pass);
      results[q].records = {};
      matched[q].digest = listing.digest(q, pass == match::Pass::added);
    }
    matched[q].plans = std::move(results[q].plans);
  }
  return matched;
}

// Walks all plans and returns what their levels find.
LevelCounts Engine::Impl::analyze(std::span<const match::PassWork> passes, std::vector<match::QueryTask> tasks) {
  for (match::QueryTask& task : tasks) task.list = true;
  const std::vector<graph::Resolved> resolved = graph.resolved();
  estimate::Estimator walker(workers);
  LevelCounts found(standing.size());
  const estimate::Accesses& counted = walker.count(graph, passes, tasks, match::make_programs(tasks, resolved));
  for (std::size_t q = 0; q < standing.size(); ++q) {
    for (std::size_t p = 0; p < standing[q].second->actuals.size(); ++p) {
      plan::PlanActuals& actuals = standing[q].second->actuals[p];
      actuals.partial_matches.resize(counted.plans[q][p].partial_matches.size());  // here, because it may fail
      found[q].push_back(counted.plans[q][p].partial_matches);
    }
  }
  return found;
}

void Engine::Impl::try_plans(std::span<const match::PassWork> passes) {
  if (!trials.due(passes)) return;
  std::vector<Standing*> queries;
  queries.reserve(standing.size());
  for (const auto& [id, query] : standing) queries.push_back(query.get());
  trials.run(graph, passes, queries, on_cpu(), watch.stop());
}

// Matches all queries together. If a budget is exceeded and nobody knows by which query, matches each query alone.
std::vector<match::QueryResult> Engine::Impl::match_rounds(std::span<const match::PassWork> passes,
                                                           std::span<match::QueryTask> tasks,
                                                           const std::function<void()>& open_listing,
                                                           match::MatchSteps& steps) {
  std::vector<match::QueryResult> results(2 * tasks.size());
  const auto clear = [&] {
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i] = {};
      results[i].plans.resize(tasks[i % tasks.size()].plans->plans.size());
    }
  };
  open_listing();
  clear();
  if (passes[0].anchors.empty() && passes[1].anchors.empty()) return results;
  const StopFlag* stop = watch.begin_round();
  matcher->match(graph, passes, tasks, results, stop, steps);
  leave_if(watch.stop());
  if (watch.end_round()) {
    open_listing();
    clear();
    match_alone(passes, tasks, results, steps);
  }
  return results;
}

void Engine::Impl::match_alone(std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
                               std::span<match::QueryResult> results, match::MatchSteps& steps) {
  for (std::size_t q = 0; q < tasks.size(); ++q) {
    std::vector<match::QueryResult> found{std::move(results[q]), std::move(results[tasks.size() + q])};
    matcher->match(graph, passes, tasks.subspan(q, 1), found, watch.begin_round(q), steps);
    leave_if(watch.stop());
    results[q] = std::move(found[0]);
    results[tasks.size() + q] = std::move(found[1]);
  }
  static_cast<void>(watch.end_round());
}

// Recounts the matches of a query after a vertex was rebound. A match listed under both signs has not changed.
void Engine::Impl::net_rebound(std::size_t query, Matched& removed, Matched& added) const {
  for (const bool sign : {false, true}) {
    Matched& matched = sign ? added : removed;
    matched.count = 0;
    matched.digest = {};
    listing.for_each(query, sign, UINT64_MAX, [&](const engine::ListedMatch& match) {
      ++matched.count;
      if (standing[query].second->options.list) matched.digest.add(match.id);
    });
  }
}

// Sets what is reported for a query that exceeded its budget.
void Engine::Impl::shorten(std::size_t query, bool told, QueryDelta& delta) const {
  const Standing& of = *standing[query].second;
  if (!of.options.list) return;
  if (told && of.budget.matches) {
    delta.removed = std::min<Count>(delta.removed, *of.budget.matches);
    delta.added = std::min<Count>(delta.added, *of.budget.matches - delta.removed);
  }
  for (const bool sign : {false, true}) {
    MatchDigest& digest = sign ? delta.added_digest : delta.removed_digest;
    digest = {};
    if (!told) continue;
    listing.for_each(query, sign, static_cast<std::uint64_t>(sign ? delta.added : delta.removed),
                     [&](const engine::ListedMatch& match) { digest.add(match.id); });
  }
}

void Engine::Impl::match_all(const graph::ResolvedBatch& resolved, const BatchOptions& wanted, BatchResult& result,
                             LevelCounts& levels, std::vector<Matched>& removed, std::vector<Matched>& added) {
  const std::array<match::PassWork, 2> passes{
      {{match::Pass::removed, resolved.net.removed}, {match::Pass::added, resolved.net.inserted}}};
  for (const auto& [id, query] : standing) query->refresh_plans();
  const auto start = Clock::now();
  try_plans(passes);
  const auto tried = Clock::now();
  std::vector<match::QueryTask> tasks;
  std::vector<const engine::Delivery*> deliveries;
  std::vector<engine::BatchWatch::Followed> followed;
  for (const auto& [id, query] : standing) {
    tasks.push_back({&query->bound, &query->plans, query->options.list || resolved.rebound});
    deliveries.push_back(&query->delivery);
    followed.push_back({id, query->budget});
  }
  watch.follow(followed, workers.size(), matcher->tells_tasks());
  for (std::size_t q = 0; q < tasks.size(); ++q) watch.attach(q, tasks[q]);
  const bool told = wanted.sink != nullptr;
  match::MatchSteps steps;
  std::vector<match::QueryResult> results = match_rounds(
      passes, tasks, [&] { listing.open(graph, tasks, deliveries, resolved.rebound, told || resolved.rebound, watch); }, steps);
  if (!resolved.net.removed.empty() || !resolved.net.inserted.empty()) {
    trials.matched(seconds_since(tried));
    if (analyzing) levels = analyze(passes, tasks);
  }
  result.seconds.estimate = steps.estimate + std::chrono::duration<double>(tried - start).count();
  result.seconds.cache = steps.cache;
  removed = gather(match::Pass::removed, tasks, std::span(results).first(tasks.size()));
  added = gather(match::Pass::added, tasks, std::span(results).last(tasks.size()));
  for (std::size_t q = 0; q < standing.size(); ++q) {
    QueryDelta delta;
    delta.query = standing[q].first;
    delta.shortfall = watch.shortfall(q, checked_add(removed[q].count, added[q].count));
    if (resolved.rebound && delta.complete()) net_rebound(q, removed[q], added[q]);
    if (!resolved.rebound || delta.complete()) {
      delta.added = added[q].count;
      delta.removed = removed[q].count;
      delta.added_digest = added[q].digest;
      delta.removed_digest = removed[q].digest;
    }
    if (!delta.complete()) shorten(q, told && wanted.report_partial, delta);
    result.queries.push_back(delta);
  }
}

void Engine::Impl::deliver(const graph::ResolvedBatch& resolved, std::span<const QueryDelta> deltas, bool report_partial,
                           MatchSink& sink) {
  const std::uint64_t number = batches + 1;
  try {
    sink.begin(number);
    for (std::size_t q = 0; q < standing.size(); ++q) {
      if (!standing[q].second->options.list) continue;
      const QueryDelta& delta = deltas[q];
      std::uint64_t written = 0;
      for (const bool added : {false, true}) {
        const Count matches = added ? delta.added : delta.removed;
        if (!delta.complete() && (!report_partial || matches == 0)) continue;
        const std::uint64_t most = delta.complete() ? UINT64_MAX : static_cast<std::uint64_t>(matches);
        listing.deliver(q, {added, number, resolved.watermark, added ? resolved.net.inserted : resolved.net.removed}, most,
                        sink);
        if (!delta.complete()) written += most;
      }
      if (!delta.complete()) sink.end({standing[q].second->bound.query.name, written, delta.shortfall, number});
    }
    watch.ask();
    sink.commit();
  } catch (...) {
    sink.abort();
    throw;
  }
}

BatchResult Engine::Impl::run(const UpdateBatch& batch, const BatchOptions& wanted, Purpose purpose) {
  BatchResult result;
  const auto start = Clock::now();
  struct Watched {
    engine::BatchWatch& watch;
    ~Watched() { watch.end(); }
  };
  const Watched until_the_end{watch};
  if (wanted.sink != nullptr && !standing.empty() &&
      std::ranges::none_of(standing, [](const auto& entry) { return entry.second->options.list; })) {
    throw Error(ErrorKind::configuration, "sink", "no standing query lists its matches",
                "set QueryOptions::list, or give no sink");
  }
  const bool budgets = std::ranges::any_of(standing, [](const auto& entry) { return entry.second->budget.any(); }) &&
                       purpose == Purpose::process;
  watch.begin(wanted, budgets);
  watch.ask();
  std::optional<BackendStep> step(std::in_place, options.backend.get(), "apply");
  resolver.limit_labels(purpose == Purpose::absorb ? UINT64_MAX : label_limit);
  const graph::ResolvedBatch& resolved = resolver.resolve(
      batch, wanted.on_reject, watermark,
      purpose == Purpose::start ? graph::Relabelling::undeclared : graph::Relabelling::without_edges, watch.stop());
  std::vector<Matched> removed;
  std::vector<Matched> added;
  LevelCounts levels;
  try {
    result.consumed = resolved.consumed;
    result.inserted = resolved.net.inserted.size();
    result.deleted = resolved.net.removed.size();
    result.expired = resolved.expired;
    result.ignored = resolved.ignored;
    result.rejects = resolved.rejects;
    result.watermark = resolved.watermark;
    bind_anew();
    graph.stage(resolved.net, workers);
  } catch (...) {
    resolver.undo();
    throw;
  }
  step.reset();
  const auto staged = Clock::now();
  try {
    watch.ask();
    if (wanted.upcoming && options.backend) anticipation.begin(resolver, wanted.upcoming);
    if (purpose == Purpose::process) {
      match_all(resolved, wanted, result, levels, removed, added);
      watch.ask();
      if (wanted.sink != nullptr) deliver(resolved, result.queries, wanted.report_partial, *wanted.sink);
      listing.clear();
    }
  } catch (...) {
    anticipation.end();
    listing.clear();
    graph.unstage();
    resolver.undo();
    throw;
  }
  const auto matched = Clock::now();
  step.emplace(options.backend.get(), "settle");
  graph.settle(workers);
  result.seconds.anticipate = anticipation.end();
  resolver.commit();
  step.reset();
  watermark = result.watermark;
  if (purpose != Purpose::start && purpose != Purpose::load) result.batch = ++batches;
  if (purpose == Purpose::process) {
    for (std::size_t q = 0; q < standing.size(); ++q) {
      for (std::size_t p = 0; p < standing[q].second->actuals.size(); ++p) {
        plan::PlanActuals& actuals = standing[q].second->actuals[p];
        for (const auto* pass : {&removed[q].plans[p], &added[q].plans[p]}) {
          actuals.anchors += pass->anchors;
          actuals.matches += static_cast<Count>(pass->sum) / standing[q].second->plans.plans[p].count.divisor + pass->found;
        }
        for (std::size_t l = 0; q < levels.size() && l < levels[q][p].size(); ++l)
          actuals.partial_matches[l] += levels[q][p][l];
      }
    }
  }
  result.seconds.apply = std::chrono::duration<double>(staged - start).count();
  result.seconds.match =
      std::chrono::duration<double>(matched - staged).count() - result.seconds.estimate - result.seconds.cache;
  result.seconds.settle = seconds_since(matched);
  return result;
}

// Rebinds the queries that name a label which has been added to the graph or removed from it.
void Engine::Impl::bind_anew() {
  for (auto& [id, query] : standing) {
    if (!query->bound.outdated()) continue;
    auto fresh = std::make_unique<Standing>(query->bound.query, query->options, graph);
    fresh->budget = query->budget;
    query = std::move(fresh);
  }
}

Standing& Engine::Impl::find(QueryId query) {
  for (const auto& [id, standing_query] : standing) {
    if (id == query) return *standing_query;
  }
  throw Error("query", "no such standing query");
}

std::string query_fingerprint(const Query& query, const QueryOptions& options) {
  const query::Fingerprint bits = query::fingerprint(query, options.mode, options.count);
  return to_string(MatchId{bits.high, bits.low});
}

Engine::Engine(const EngineOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

QueryId Engine::add_query(const Query& query, const QueryOptions& options) {
  const auto same_name = [&](const auto& entry) { return entry.second->bound.query.name == query.name; };
  if (!query.name.empty() && std::ranges::any_of(impl_->standing, same_name)) {
    throw Error(ErrorKind::configuration, query.name, "a standing query has this name already",
                "give each query a name of its own");
  }
  auto standing = std::make_unique<Standing>(query, options, impl_->graph);
  const QueryId id{impl_->next_query};
  impl_->standing.emplace_back(id, std::move(standing));
  ++impl_->next_query;
  return id;
}

void Engine::remove_query(QueryId query) {
  impl_->find(query);
  std::erase_if(impl_->standing, [&](const auto& entry) { return entry.first == query; });
}

BatchResult Engine::load(const UpdateBatch& batch, OnReject on_reject) {
  return impl_->run(batch, {.on_reject = on_reject}, Impl::Purpose::load);
}

BatchResult Engine::process(const UpdateBatch& batch, OnReject on_reject, MatchSink* sink, const Upcoming& upcoming) {
  return impl_->run(batch, {.on_reject = on_reject, .sink = sink, .upcoming = upcoming}, Impl::Purpose::process);
}

std::optional<BatchResult> Engine::process(const UpdateBatch& batch, const BatchOptions& options) {
  try {
    return impl_->run(batch, options, Impl::Purpose::process);
  } catch (const Stopped&) {
    return std::nullopt;
  }
}

void Engine::budget(QueryId query, const QueryBudget& budget) { impl_->find(query).budget = budget; }

BatchResult Engine::absorb(const UpdateBatch& batch) {
  return impl_->run(batch, {.on_reject = OnReject::skip}, Impl::Purpose::absorb);
}

void Engine::spool(const SpoolOptions& options) { impl_->listing.configure(options); }

void Engine::limit_labels(std::uint64_t most) noexcept { impl_->label_limit = most; }

std::uint64_t Engine::batch() const noexcept { return impl_->batches; }
std::optional<Timestamp> Engine::watermark() const noexcept { return impl_->watermark; }

StaticResult Engine::match(const Query& query, const StaticOptions& options, MatchSink* sink) {
  if (sink != nullptr && !options.query.list) {
    throw Error(ErrorKind::configuration, "sink", "the query does not list its matches",
                "set QueryOptions::list, or give no sink");
  }
  if (auto cliques = engine::match_clique(impl_->clique_scene(), query, options)) return std::move(*cliques);
  return engine::match_whole(impl_->scene(Impl::left_to_cpu(options)), query, options, sink);
}

SampleResult Engine::sample(const Query& query, const SampleOptions& options) {
  return engine::sample_whole(impl_->scene(true), query, options);
}

CacheStatistics Engine::cache() const {
  CacheStatistics statistics = impl_->matcher->statistics();
  if (impl_->dense_sets) statistics.kernel_seconds += impl_->dense_sets->kernel_seconds();
  return statistics;
}

std::string Engine::explain(const Query& query, const QueryOptions& options) {
  const plan::BoundQuery bound(query, options.mode, options.count, impl_->graph);
  impl_->graph.resolve_all();
  return plan::to_text(bound, plan::make_delta_plans(bound), {});
}

std::string Engine::explain(const Query& query, const StaticOptions& options, FilterReport* filtered) {
  if (std::string cliques = engine::explain_clique(impl_->clique_scene(), query, options); !cliques.empty()) return cliques;
  return engine::explain_whole(impl_->scene(Impl::left_to_cpu(options)), query, options, filtered);
}

std::string Engine::explain(QueryId query) {
  impl_->bind_anew();
  Standing& standing = impl_->find(query);
  if (!standing.planned) impl_->graph.resolve_all();
  standing.refresh_plans();
  return plan::to_text(standing.bound, standing.plans, standing.actuals);
}

GraphStatistics Engine::graph() const {
  GraphStatistics statistics;
  statistics.vertices = impl_->graph.dictionary.size();
  statistics.edges = impl_->graph.edges();
  statistics.adjacency_bytes = impl_->graph.adjacency_bytes();
  statistics.dictionary_bytes = impl_->graph.dictionary.bytes();
  statistics.vertex_labels = impl_->graph.vertex_labels.count() - 1;
  statistics.edge_labels = impl_->graph.edge_labels.count() - 1;
  statistics.label_bytes = impl_->graph.vertex_labels.bytes() + impl_->graph.edge_labels.bytes();
  statistics.bytes = statistics.adjacency_bytes + statistics.dictionary_bytes + statistics.label_bytes +
                     (impl_->window ? impl_->window->bytes() : 0);
  return statistics;
}

void Engine::for_each(const std::function<void(const Update&)>& take) const { engine::for_each_update(impl_->graph, take); }

Engine engine::BulkLoader::load(const EngineOptions& options, const BulkGraph& bulk) {
  if (options.window != 0) {
    throw Error(ErrorKind::configuration, "bulk load", "edges without times under a window", "load them as updates");
  }
  if (!bulk.labels.empty() && bulk.labels.size() != bulk.vertices) throw Error("bulk load", "not as many labels as vertices");
  Engine engine(options);
  Engine::Impl& impl = *engine.impl_;
  std::vector<LabelId> numbers;
  numbers.reserve(bulk.label_names.size());
  for (const std::string& name : bulk.label_names) numbers.push_back(impl.graph.vertex_labels.intern(name));
  std::vector<LabelId> labels(bulk.vertices);
  for (std::size_t v = 0; v < bulk.labels.size(); ++v) labels[v] = numbers.at(bulk.labels[v]);
  impl.graph.build(bulk.edges, labels, impl.workers);
  return engine;
}

BatchResult engine::BulkLoader::load(Engine& engine, const UpdateBatch& batch, OnReject on_reject) {
  return engine.impl_->run(batch, {.on_reject = on_reject}, Engine::Impl::Purpose::start);
}

engine::LoadedShare engine::BulkLoader::load(Engine& engine, GraphFile& file, const EdgeDemand* demand) {
  const LoadedShare share = file.load(demand, engine.impl_->graph, engine.impl_->workers);
  engine.impl_->watermark = file.watermark();
  return share;
}

void engine::BulkLoader::save(const Engine& engine, const std::filesystem::path& path) {
  write_graph_file(path, engine.impl_->graph, engine.impl_->watermark);
}

void Engine::analyze(bool on) noexcept { impl_->analyzing = on; }

const EngineOptions& Engine::options() const noexcept { return impl_->options; }

void Engine::save(const std::filesystem::path& path, std::string_view annotation) const {
  engine::write_snapshot(
      path, {impl_->options.directed, impl_->options.window, impl_->batches, impl_->watermark, std::string(annotation)},
      impl_->graph);
}

std::string Engine::annotation(const std::filesystem::path& path) { return engine::read_snapshot_header(path).annotation; }

Engine Engine::restore(const std::filesystem::path& path, unsigned threads, std::shared_ptr<Backend> backend) {
  const engine::SnapshotHeader header = engine::read_snapshot_header(path);
  Engine engine({.directed = header.directed, .threads = threads, .window = header.window, .backend = std::move(backend)});
  Impl& impl = *engine.impl_;
  engine::read_snapshot(path, impl.graph, impl.workers);
  impl.batches = header.batch;
  impl.watermark = header.watermark;
  if (impl.window) {
    for (VertexId v = 0; v < impl.graph.dictionary.capacity(); ++v) {
      impl.graph.for_each_edge(v, false, [&](const graph::Edge& edge, Timestamp time) { impl.window->note(edge, time); });
    }
  }
  return engine;
}

}  // namespace deltamatch
