// What an engine holds, and the steps of a batch that its parts share. Internal to engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/digest.hpp"
#include "deltamatch/engine.hpp"
#include "engine/batch/anticipation.hpp"
#include "engine/batch/batch_listing.hpp"
#include "engine/batch/batch_watch.hpp"
#include "engine/batch/plan_trials.hpp"
#include "engine/batch/standing_query.hpp"
#include "engine/listing/once_state.hpp"
#include "engine/whole/clique_match.hpp"
#include "engine/whole/static_match.hpp"
#include "graph/batch_resolver.hpp"
#include "graph/data_graph.hpp"
#include "graph/deletions.hpp"
#include "match/backend.hpp"
#include "match/matcher.hpp"

namespace deltamatch {

struct Engine::Impl {
  explicit Impl(const EngineOptions& wanted)
      : options(wanted),
        backend(wanted.backend ? wanted.backend : make_cpu_backend()),
        capabilities(backend->capabilities()),
        workers(wanted.threads),
        graph(wanted.directed, wanted.window > 0, backend->slabs(), (validate(wanted.schema), wanted.schema)),
        window(wanted.window > 0 ? std::make_unique<graph::Window>(wanted.window) : nullptr),
        resolver(graph, window.get(), workers),
        matcher(backend->make_matcher(workers)) {
    if (wanted.window < 0)
      throw Error(ErrorKind::configuration, "window", "the span is negative", "give a positive span, or 0 for none");
    if (wanted.allowed_lateness < 0)
      throw Error(ErrorKind::configuration, "allowed lateness", "the span is negative", "give a positive span, or 0 for none");
    if (wanted.order == EventOrder::time) {
      if (wanted.schema.model == EdgeModel::simple && wanted.window == 0)
        throw Error(ErrorKind::configuration, "order", "order by time needs a window, because deletions are remembered for it",
                    "set a window, or order by arrival");
      deletions = std::make_unique<graph::Deletions>(wanted.schema.model, wanted.directed);
      resolver.order_by_time(deletions.get());
    }
    if (wanted.self_loops == SelfLoops::keep) graph.keep_loops();
    if (capabilities.own_memory) graph.track_changes();
  }

  // A call of the engine while it runs (engine.cpp).
  class Call;
  enum class Purpose : std::uint8_t { start, load, absorb, process };
  // One batch on its way through the steps (run_batch.cpp).
  class BatchRun;
  // Takes a batch through its steps. Throws Stopped.
  BatchResult run(const UpdateBatch& batch, const BatchOptions& wanted, Purpose purpose);
  engine::QueryFamily& find(QueryId query);
  void bind_anew();
  /// Commits the batch of the resolver. The running digest covers it, unless it loads a graph.
  void commit(Purpose purpose) noexcept;
  [[nodiscard]] bool reads_vertices() const noexcept;
  /// Whether a standing query remembers what it has reported.
  [[nodiscard]] bool remembers() const noexcept;
  /// Whether a standing query waits for what is final.
  [[nodiscard]] bool waits() const noexcept;
  /// Sets what a query remembers aside, so that one with the same name and definition can go on with it.
  [[nodiscard]] engine::ParkedMemory park(const engine::QueryFamily& query) const;
  [[nodiscard]] std::vector<engine::ParkedMemory> memories() const;
  [[nodiscard]] Timestamp report_span(const engine::StandingQuery& query) const noexcept;
  /// By how much a batch may move the watermark, because counts are compared at its end; 0: by any time.
  [[nodiscard]] Timestamp longest_rise() const noexcept;
  [[nodiscard]] Timestamp report_span(const engine::QueryFamily& query) const noexcept;
  void retain(Timestamp span);
  [[nodiscard]] Count own(const engine::QueryFamily& family, const engine::StandingQuery& variant,
                          const engine::Delivery::Batch& found) const;
  /// Whether edges are kept for the conditions of the queries, and no longer.
  [[nodiscard]] bool retains() const noexcept { return window && options.window == 0; }
  match::Matcher& on_cpu() {
    if (options.backend && !cpu_matcher) cpu_matcher = match::make_cpu_matcher(workers);
    return cpu_matcher ? *cpu_matcher : *matcher;
  }
  // Whether CPU cores match a whole graph in the backend's place.
  [[nodiscard]] bool needs_cpu(const StaticOptions& whole) const {
    return !capabilities.whole_graph || !matcher->takes_whole(whole.query.mode, whole.induced);
  }
  engine::StaticScene scene(bool cpu) {
    return {graph, cpu ? on_cpu() : *matcher, workers, watermark, standing.empty() && !window, listing.spooling()};
  }

  engine::CliqueScene clique_scene() {
    if (capabilities.cliques && !dense_sets) dense_sets = backend->make_dense_set_counter();
    return {graph, workers, dense_sets.get()};
  }

  EngineOptions options;
  std::shared_ptr<Backend> backend;
  BackendCapabilities capabilities;
  Workers workers;
  graph::DataGraph graph;
  std::unique_ptr<graph::Window> window;
  std::unique_ptr<graph::Deletions> deletions;  // null unless time orders records
  graph::BatchResolver resolver;
  engine::Anticipation anticipation;
  engine::PlanTrials trials;
  engine::BatchWatch watch;
  engine::BatchListing listing;
  std::unique_ptr<match::Matcher> matcher;
  std::unique_ptr<match::Matcher> cpu_matcher;         // used beside a backend's, made when first needed
  std::unique_ptr<match::DenseSetCounter> dense_sets;  // made when first needed; null if the backend counts no cliques
  std::vector<std::pair<QueryId, std::unique_ptr<engine::QueryFamily>>> standing;
  std::vector<engine::ParkedMemory> parked;  // of queries that stood before, until the next batch
  std::uint32_t next_query = 0;
  std::uint64_t batches = 0;
  std::optional<Timestamp> watermark;
  RunningDigest digest;
  Share share;
  bool watches_vertices = false;
  std::uint64_t label_limit = default_label_limit;
  bool analyzing = false;
  std::atomic<bool> called = false;  // a call runs
};

/// A call of the engine while it runs. What it calls (sinks, planners, functions in options) may not call the engine. It shares
/// what the engine holds, so it ends well even if a sink replaces the engine.
class Engine::Impl::Call {
 public:
  explicit Call(std::shared_ptr<Impl> engine) : engine_(std::move(engine)) {
    if (engine_->called.exchange(true)) {
      throw Error(ErrorKind::usage, "engine", "a sink, a planner, another callback or another thread called it during a call",
                  "call the engine after the call that runs has returned; threads that share it lock a mutex around each call");
    }
  }
  ~Call() { engine_->called = false; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Impl* operator->() const noexcept { return engine_.get(); }

 private:
  std::shared_ptr<Impl> engine_;
};

}  // namespace deltamatch
