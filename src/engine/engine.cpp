#include "deltamatch/engine.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/batch/division.hpp"
#include "engine/engine_impl.hpp"
#include "engine/storage/bulk_loader.hpp"
#include "engine/storage/graph_updates.hpp"
#include "engine/storage/snapshot.hpp"
#include "graph/batch_digest.hpp"

namespace deltamatch {

using engine::QueryFamily;
using engine::StandingQuery;

// Rebinds the queries that name a label which has been added to the graph or removed from it, and looks up their texts anew.
void Engine::Impl::bind_anew() {
  for (auto& [id, family] : standing) family->bind_anew(graph);
}

/// How long after its oldest edge a match of the query is reported; 0 if it has no WITHIN.
Timestamp Engine::Impl::report_span(const StandingQuery& query) const noexcept {
  if (!query.query.within) return 0;
  Timestamp span = 0;
  const bool beyond = __builtin_add_overflow(query.query.within->microseconds, options.allowed_lateness, &span) ||
                      __builtin_add_overflow(span, query.wait ? query.wait->greatest() : 0, &span);
  return beyond ? INT64_MAX : span;
}

// A sixteenth of the least WITHIN of a query that counts, as of a window.
Timestamp Engine::Impl::longest_rise() const noexcept {
  Timestamp least = 0;
  for (const auto& [id, query] : standing) {
    if (!query->query.within || query->query.emit_final || !query->variants.front()->bound.counts_something()) continue;
    const Timestamp rise = std::max<Timestamp>(1, query->query.within->microseconds / 16);
    least = least == 0 ? rise : std::min(least, rise);
  }
  return least;
}

Timestamp Engine::Impl::report_span(const QueryFamily& query) const noexcept {
  Timestamp span = 0;
  for (const auto& variant : query.variants) span = std::max(span, report_span(*variant));
  return span;
}

/// How many of a variant's matches are in the slots of this engine.
Count Engine::Impl::own(const QueryFamily& family, const StandingQuery& variant, const engine::Delivery::Batch& found) const {
  if (share.whole()) return found.ids.size();
  const auto at = std::ranges::find(family.variants, &variant, [](const auto& known) { return known.get(); });
  const auto number = static_cast<std::size_t>(at - family.variants.begin());
  const engine::OwnMatches own(share, graph, family.once ? &family.once->binding(number) : nullptr);
  Count count = 0;
  for (std::size_t i = 0; i < found.ids.size(); ++i)
    count += own.has(found.match(i, variant.bound.vertices(), variant.bound.edges.size())) ? 1 : 0;
  return count;
}

/// Keeps edges for a span from the next batch on; 0: for ever. A window that is an option of the engine stays. Strong
/// guarantee.
void Engine::Impl::retain(Timestamp span) {
  if (options.window > 0 || span == (window ? window->span() : 0)) return;
  auto fresh = span > 0 ? std::make_unique<graph::Window>(span) : nullptr;
  for (VertexId v = 0; fresh && v < graph.dictionary.capacity(); ++v) {
    graph.for_each_edge(v, false, [&](const graph::Edge& edge, Timestamp time) { fresh->note(edge, time); });
  }
  resolver.set_window(fresh.get(), fresh != nullptr);
  if (deletions) deletions->window_changed();
  window = std::move(fresh);
}

void Engine::Impl::commit(Purpose purpose) noexcept {
  if (purpose == Purpose::start || purpose == Purpose::load) {
    resolver.commit();
  } else {
    digest.now = resolver.commit(digest.now, batches + 1);
  }
}

/// Whether a standing query reads attributes of vertices.
bool Engine::Impl::reads_vertices() const noexcept {
  return std::ranges::any_of(standing, [](const auto& entry) {
    return std::ranges::any_of(entry.second->variants,
                               [](const auto& variant) { return variant->bound.reads_vertex_attributes(); });
  });
}

bool Engine::Impl::remembers() const noexcept {
  return std::ranges::any_of(standing, [](const auto& entry) { return entry.second->once != nullptr; });
}

bool Engine::Impl::waits() const noexcept {
  return std::ranges::any_of(standing, [](const auto& entry) { return entry.second->query.emit_final; });
}

engine::ParkedMemory Engine::Impl::park(const QueryFamily& query) const {
  return {query.query.name, query_fingerprint(query.query, query.options), query.once->memory().state(watermark)};
}

/// What all queries remember, whether they stand or did so until now; in an order that depends on nothing else.
std::vector<engine::ParkedMemory> Engine::Impl::memories() const {
  std::vector<engine::ParkedMemory> all = parked;
  for (const auto& [id, query] : standing) {
    if (query->once) all.push_back(park(*query));
  }
  std::erase_if(all, [](const engine::ParkedMemory& memory) { return memory.once.empty(); });
  std::ranges::stable_sort(all, {},
                           [](const engine::ParkedMemory& memory) { return std::tie(memory.name, memory.fingerprint); });
  return all;
}

namespace {

/// Begins the running digest anew at its end, if the vertices have other numbers by then.
class DigestOfNumbers {
 public:
  DigestOfNumbers(const graph::DataGraph& graph, RunningDigest& digest) noexcept
      : graph_(&graph), digest_(&digest), numbering_(graph.dictionary.numbering()) {}
  ~DigestOfNumbers() {
    if (graph_->dictionary.numbering() == numbering_) return;
    const Hash128 begin = graph::numbering_hash(*graph_);
    *digest_ = {begin, begin};
  }
  DigestOfNumbers(const DigestOfNumbers&) = delete;
  DigestOfNumbers& operator=(const DigestOfNumbers&) = delete;

 private:
  const graph::DataGraph* graph_;
  RunningDigest* digest_;
  std::uint64_t numbering_;
};

}  // namespace

QueryFamily& Engine::Impl::find(QueryId query) {
  for (const auto& [id, entry_query] : standing) {
    if (id == query) return *entry_query;
  }
  throw Error("query", "no standing query has the id " + std::to_string(static_cast<std::uint32_t>(query)),
              "use the id that add_query returned, until the query is removed");
}

std::string query_fingerprint(const Query& query, const QueryOptions& options) {
  const query::Fingerprint bits = query::fingerprint_of_variants(query, options.mode, options.count);
  return to_string(MatchId{options.induced ? ~bits.high : bits.high, bits.low});
}

Engine::Engine(const EngineOptions& options) : impl_(std::make_shared<Impl>(options)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

QueryId Engine::add_query(const Query& query, const QueryOptions& options) {
  const NewQuery added{query, options};
  return replace_queries({}, std::span(&added, 1)).front();
}

void Engine::remove_query(QueryId query) {
  const bool remembers = impl_->find(query).once != nullptr;
  static_cast<void>(replace_queries(std::span(&query, 1), {}));
  if (remembers) impl_->parked.pop_back();
}

std::vector<QueryId> Engine::replace_queries(std::span<const QueryId> removed, std::span<const NewQuery> added) {
  const Impl::Call call(impl_);
  for (const QueryId query : removed) call->find(query);
  const auto is_removed = [&](const auto& entry) { return std::ranges::find(removed, entry.first) != removed.end(); };
  std::set<std::string_view> names;
  for (const auto& entry : call->standing) {
    if (!is_removed(entry)) names.insert(entry.second->query.name);
  }
  std::vector<std::unique_ptr<QueryFamily>> fresh;
  for (const auto& [query, options] : added) {
    if (!names.insert(query.name).second && !query.name.empty()) {
      throw Error(ErrorKind::configuration, "query " + query.name, "another standing query has this name",
                  "give each query its own name");
    }
    fresh.push_back(std::make_unique<QueryFamily>(query, options, call->graph, call->options.allowed_lateness));
    if (!query.emit_final) continue;
    for (const auto& variant : fresh.back()->variants) {
      variant->wait = std::make_unique<engine::FinalWait>(variant->query, call->options.allowed_lateness, call->options.window);
      variant->wait->begin(variant->bound, call->watermark);
    }
  }
  std::vector<engine::ParkedMemory> parked = call->parked;
  for (const QueryId query : removed) {
    if (const QueryFamily& gone = call->find(query); gone.once) parked.push_back(call->park(gone));
  }
  for (const auto& query : fresh) {
    if (!query->once) continue;
    const auto own = std::ranges::find_if(parked, [&](const engine::ParkedMemory& memory) {
      return memory.name == query->query.name && memory.fingerprint == query_fingerprint(query->query, query->options);
    });
    if (own == parked.end()) continue;
    query->once->memory().restore(own->once);
    parked.erase(own);
  }
  Timestamp retained = 0;  // 0: for ever
  bool bounded = true;
  const auto retain_for = [&](const QueryFamily& query) {
    bounded = bounded && query.query.within;
    retained = std::max(retained, call->report_span(query));
  };
  for (const auto& entry : call->standing) {
    if (!is_removed(entry)) retain_for(*entry.second);
  }
  for (const auto& query : fresh) retain_for(*query);
  if (call->deletions && call->options.window == 0 && !bounded) {
    throw Error(ErrorKind::configuration, "order",
                "order by time needs a window, or WITHIN in every query, because deletions are remembered for it",
                "set a window, end each pattern with WITHIN TIME, or order by arrival");
  }
  std::vector<QueryId> ids(fresh.size());
  call->standing.reserve(call->standing.size() + fresh.size());
  call->retain(bounded ? retained : 0);
  // From here on, nothing fails.
  std::erase_if(call->standing, is_removed);
  call->parked = std::move(parked);
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    ids[i] = QueryId{call->next_query++};
    call->standing.emplace_back(ids[i], std::move(fresh[i]));
  }
  call->watches_vertices = call->reads_vertices();
  return ids;
}

BatchResult Engine::load(const UpdateBatch& batch, OnReject on_reject) {
  const Impl::Call call(impl_);
  return call->run(batch, {.on_reject = on_reject}, Impl::Purpose::load);
}

BatchResult Engine::process(const UpdateBatch& batch, OnReject on_reject, MatchSink* sink, const Upcoming& upcoming) {
  const Impl::Call call(impl_);
  return call->run(batch, {.on_reject = on_reject, .sink = sink, .upcoming = upcoming}, Impl::Purpose::process);
}

std::optional<BatchResult> Engine::process(const UpdateBatch& batch, const BatchOptions& options) {
  const Impl::Call call(impl_);
  try {
    return call->run(batch, options, Impl::Purpose::process);
  } catch (const Stopped&) {
    return std::nullopt;
  }
}

Count Engine::waiting(QueryId query) {
  const Impl::Call call(impl_);
  call->bind_anew();
  const QueryFamily& family = call->find(query);
  if (!family.query.emit_final) return 0;
  call->graph.resolve_all();
  const std::vector<graph::Resolved> resolved = call->graph.resolved();
  Count waiting = 0;
  for (const auto& variant : family.variants) {
    match::FinalBatch now;
    now.rule = variant->wait->rule();
    now.resolved = resolved;
    now.watermark = call->watermark;
    const match::DueEdges edges = engine::waiting_edges(variant->bound, now.rule, now.watermark);
    const engine::Delivery::Batch found =
        variant->delivery.translate(call->graph, match::find_waiting(variant->bound, now, edges));
    waiting += call->own(family, *variant, found);
  }
  return waiting;
}

void Engine::budget(QueryId query, const QueryBudget& budget) { Impl::Call(impl_)->find(query).budget = budget; }

BatchResult Engine::absorb(const UpdateBatch& batch, bool record_by_record) {
  const Impl::Call call(impl_);
  return call->run(batch, {.on_reject = OnReject::skip, .record_by_record = record_by_record && call->remembers()},
                   Impl::Purpose::absorb);
}

void Engine::spool(const SpoolOptions& options) { Impl::Call(impl_)->listing.configure(options); }

void Engine::limit_labels(std::uint64_t most) { Impl::Call(impl_)->label_limit = most; }

void Engine::take_share(const Share& share) {
  const Impl::Call call(impl_);
  if ((call->remembers() || !call->parked.empty()) && !share.within(call->share)) {
    throw Error(ErrorKind::usage, "share", "what ALERT ONCE remembers is there for the slots of the present share only",
                "take slots before the first batch, and only give up some of them afterwards");
  }
  call->share = share;
}
const Share& Engine::share() const noexcept { return impl_->share; }

Timestamp Engine::retention() const noexcept { return impl_->retains() ? impl_->window->span() : 0; }

void Engine::retain(Timestamp retention) {
  const Impl::Call call(impl_);
  if (call->options.schema.model != EdgeModel::simple) call->retain(retention);
}

bool Engine::watches_vertices() const noexcept { return impl_->watches_vertices; }
void Engine::watch_vertices(bool watched) {
  const Impl::Call call(impl_);
  call->watches_vertices = watched || call->reads_vertices();
}

RunningDigest Engine::digest() const noexcept { return impl_->digest; }
void Engine::begin_digest() {
  const Impl::Call call(impl_);
  const Hash128 begin = graph::numbering_hash(call->graph);
  call->digest = {begin, begin};
}

std::uint64_t Engine::batch() const noexcept { return impl_->batches; }
std::optional<Timestamp> Engine::watermark() const noexcept { return impl_->watermark; }

StaticResult Engine::match(const Query& query, const StaticOptions& options, MatchSink* sink) {
  const Impl::Call call(impl_);
  const DigestOfNumbers digest(call->graph, call->digest);
  if (sink != nullptr && !options.query.list) {
    throw Error(ErrorKind::configuration, "sink", "the query does not list its matches",
                "set QueryOptions::list, or give no sink");
  }
  if (auto cliques = engine::match_clique(call->clique_scene(), query, options)) return std::move(*cliques);
  return engine::match_whole(call->scene(call->needs_cpu(options)), query, options, sink);
}

SampleResult Engine::sample(const Query& query, const SampleOptions& options) {
  const Impl::Call call(impl_);
  return engine::sample_whole(call->scene(true), query, options);
}

BackendStatistics Engine::backend_statistics() const {
  BackendStatistics statistics = impl_->matcher->statistics();
  statistics.backend = impl_->backend->name();
  if (!impl_->dense_sets) return statistics;
  for (BackendMetric& metric : statistics.metrics) {
    if (metric.name != backend_metrics::kernel_seconds) continue;
    metric.value = statistics.real(metric.name) + impl_->dense_sets->kernel_seconds();
  }
  return statistics;
}

std::string Engine::explain(const Query& query, const QueryOptions& options) {
  const Impl::Call call(impl_);
  const engine::QueryFamily family(query, options, call->graph, call->options.allowed_lateness);
  const plan::BoundQuery& bound = family.variants.back()->bound;
  call->graph.resolve_all();
  return engine::variants_text(family) + plan::to_text(bound, plan::make_delta_plans(bound), {});
}

std::string Engine::explain(const Query& query, const StaticOptions& options, FilterReport* filtered) {
  const Impl::Call call(impl_);
  if (std::string cliques = engine::explain_clique(call->clique_scene(), query, options); !cliques.empty()) return cliques;
  Query asked = query;
  asked.once.reset();  // whole graphs are matched without it
  const engine::QueryFamily family(asked, options.query, call->graph, call->options.allowed_lateness);
  return engine::variants_text(family) +
         engine::explain_whole(call->scene(call->needs_cpu(options)), family.variants.back()->query, options, filtered);
}

std::string Engine::explain(QueryId query) {
  const Impl::Call call(impl_);
  call->bind_anew();
  const QueryFamily& family = call->find(query);
  StandingQuery& standing = *family.variants.back();
  if (!standing.planned) call->graph.resolve_all();
  std::optional<double> closure;
  standing.refresh_plans(closure);
  return engine::variants_text(family) + plan::to_text(standing.bound, standing.plans, standing.actuals);
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
                     (impl_->window ? impl_->window->bytes() : 0) + (impl_->deletions ? impl_->deletions->bytes() : 0);
  for (const auto& [id, query] : impl_->standing) {
    if (query->once) statistics.bytes += query->once->memory().bytes();
    for (const auto& variant : query->variants) statistics.bytes += variant->wait ? variant->wait->bytes() : 0;
  }
  return statistics;
}

void Engine::for_each(const std::function<void(const Update&)>& take) const {
  engine::for_each_update(Impl::Call(impl_)->graph, take);
}

Engine engine::BulkLoader::load(const EngineOptions& options, const BulkGraph& bulk) {
  if (options.window != 0) {
    throw Error(ErrorKind::configuration, "bulk load", "the edges have no times, but the graph has a window",
                "load them as updates");
  }
  if (!bulk.labels.empty() && bulk.labels.size() != bulk.vertices)
    throw Error(
        "bulk load",
        "there are " + std::to_string(bulk.labels.size()) + " labels for " + std::to_string(bulk.vertices) + " vertices",
        "give one label for each vertex, or none");
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
  return Engine::Impl::Call(engine.impl_)->run(batch, {.on_reject = on_reject}, Engine::Impl::Purpose::start);
}

engine::LoadedShare engine::BulkLoader::load(Engine& engine, GraphFile& file, const EdgeDemand* demand) {
  const LoadedShare share = file.load(demand, engine.impl_->graph, engine.impl_->workers);
  engine.impl_->watermark = file.watermark();
  return share;
}

const LabelTable& engine::BulkLoader::vertex_labels(const Engine& engine) noexcept { return engine.impl_->graph.vertex_labels; }
const LabelTable& engine::BulkLoader::edge_labels(const Engine& engine) noexcept { return engine.impl_->graph.edge_labels; }

void engine::BulkLoader::save(const Engine& engine, const std::filesystem::path& path) {
  write_graph_file(path, engine.impl_->graph, engine.impl_->watermark);
}

void Engine::analyze(bool on) { Impl::Call(impl_)->analyzing = on; }

const EngineOptions& Engine::options() const noexcept { return impl_->options; }

void Engine::save(const std::filesystem::path& path, std::string_view annotation) const {
  const Impl::Call call(impl_);
  std::vector<engine::ParkedMemory> memories = call->memories();
  if (!call->share.whole() && !memories.empty()) {
    throw Error(ErrorKind::usage, "snapshot", "it would hold only a share of what ALERT ONCE remembers",
                "save an engine that owns all slots");
  }
  engine::write_snapshot(
      path,
      {call->options.directed, call->options.window, call->batches, call->watermark, std::string(annotation),
       call->options.schema, call->options.allowed_lateness, call->options.order, call->options.self_loops, call->digest},
      call->graph,
      call->deletions ? call->deletions->entries(call->window.get(), call->watermark) : std::vector<graph::Deletions::Entry>(),
      std::move(memories));
}

std::string Engine::annotation(const std::filesystem::path& path) { return engine::read_snapshot_header(path).annotation; }

Engine Engine::restore(const std::filesystem::path& path, unsigned threads, std::shared_ptr<Backend> backend) {
  const engine::SnapshotHeader header = engine::read_snapshot_header(path);
  Engine engine({.directed = header.directed,
                 .threads = threads,
                 .window = header.window,
                 .allowed_lateness = header.lateness,
                 .order = header.order,
                 .schema = header.schema,
                 .self_loops = header.self_loops,
                 .backend = std::move(backend)});
  Impl& impl = *engine.impl_;
  engine::read_snapshot(path, impl.graph, impl.workers, impl.deletions.get(), &impl.parked);
  impl.batches = header.batch;
  impl.watermark = header.watermark;
  header.digest ? static_cast<void>(impl.digest = *header.digest) : engine.begin_digest();
  if (impl.window) {
    for (VertexId v = 0; v < impl.graph.dictionary.capacity(); ++v) {
      impl.graph.for_each_edge(v, false, [&](const graph::Edge& edge, Timestamp time) { impl.window->note(edge, time); });
    }
  }
  return engine;
}

}  // namespace deltamatch
