// What caches of several sizes would serve, without a device. For each batch of a stream, every policy chooses lists to cache.
// The choice is compared with the look-ups that matching the batch makes, counted exactly.
//
// Policies are degree, k-hop, random-walk, and truth, which knows the counts. Prints a JSON line for each query set, policy and
// size. It has means for each batch, and an estimate of the time of a device.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/seconds.hpp"
#include "bench/harness/bench_options.hpp"
#include "bench/harness/from_options.hpp"
#include "bench/harness/result_lines.hpp"
#include "deltamatch/error.hpp"
#include "engine/storage/bulk_loader.hpp"
#include "estimate/access_prior.hpp"
#include "estimate/estimator.hpp"
#include "estimate/selection.hpp"
#include "estimate/selector.hpp"
#include "match/backend.hpp"
#include "match/programs.hpp"

namespace deltamatch::bench {
namespace {

using Clock = std::chrono::steady_clock;
using estimate::StoredVertex;

// What a list takes in a cache, without its directory: entries in units of 16 bytes.
constexpr std::size_t granule = 16;
// How a matching device would read: misses over the bus, hits from its memory.
constexpr double bus = 40e9;
constexpr double hit_seconds = 2e-9;
// Cores beside it. Walks take a share of the time of all of them.
constexpr double host_cores = 16;

// What a cache did over some batches.
struct Served {
  double batches = 0;
  double look_ups = 0;
  double hits = 0;
  double read_bytes = 0;    // of all look-ups
  double missed_bytes = 0;  // over the bus
  double coverage = 0;      // summed over batches, of the 5 % most looked up
  double moved_lists = 0;
  double moved_bytes = 0;
  double cached_bytes = 0;
  double matching = 0;  // of a device, estimated
  double estimating = 0;
  double selecting = 0;
};

class Cache {
 public:
  Cache(std::string policy, std::size_t budget, unsigned every, const BenchOptions& options, Workers& workers)
      : policy_(std::move(policy)),
        budget_(budget),
        estimator_(workers, settings(options)),
        prior_(workers),
        selector_(workers),
        workers_(&workers),
        every_(every),
        fixed_(options.walks > 0) {}

  void choose(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
              const match::Programs& programs, const std::vector<estimate::Access>& truth, const estimate::BytesOf& bytes) {
    if (chances_++ % every_ != 0) return;
    estimate::Selection selection;
    const auto start = Clock::now();
    auto chosen = start;
    if (policy_ == "degree") {
      selection = estimate::select_by_degree(graph, bytes, budget_, workers_);
    } else if (policy_ == "k-hop") {
      selection = estimate::select_within(graph, passes, estimate::hops_of(tasks), bytes, budget_, workers_);
    } else if (policy_ == "truth") {
      selection = estimate::select(truth, bytes, budget_, workers_);
    } else {
      const estimate::Accesses& expected = estimator_.run(graph, passes, tasks, programs);
      chosen = Clock::now();
      selection = selector_.select(prior_.posterior_of(graph, expected, bytes, budget_), bytes, budget_);
    }
    served.estimating += std::chrono::duration<double>(chosen - start).count();
    served.selecting += seconds_since(chosen);
    take(selection.hot, bytes);
  }

  void serve(const std::vector<estimate::Access>& truth, const estimate::BytesOf& bytes) {
    std::vector<estimate::Accessed> all;
    double missed = 0;
    double hits = 0;
    for (const estimate::Access& access : truth) {
      const std::size_t size = bytes(access.at);
      const bool cached = cached_.contains(key_of(access.at));
      const double read = access.times * (static_cast<double>(size) + estimate::miss_bytes);
      served.look_ups += access.times;
      served.read_bytes += read;
      hits += cached ? access.times : 0;
      missed += cached ? 0 : read;
      all.push_back({access.times, cached, size});
    }
    served.hits += hits;
    served.missed_bytes += missed;
    served.cached_bytes += static_cast<double>(bytes_);
    const double share = 0.05;
    served.coverage += estimate::top_lists(all, {&share, 1}).front().coverage;
    const double seconds = missed / bus + hits * hit_seconds;
    served.matching += seconds;
    if (!fixed_) estimator_.matched(seconds * host_cores / workers_->size());
    ++served.batches;
  }

  [[nodiscard]] const std::string& policy() const noexcept { return policy_; }
  [[nodiscard]] std::size_t budget() const noexcept { return budget_; }

  Served served;

 private:
  static estimate::Options settings(const BenchOptions& options) {
    estimate::Options made;
    made.least = GpuOptions::least_walks;
    made.most = GpuOptions::most_walks;

    if (options.walks > 0) made.walks = options.walks;
    return made;
  }

  // Lists that are no longer chosen make room.
  void take(const std::vector<StoredVertex>& hot, const estimate::BytesOf& bytes) {
    std::unordered_map<std::uint64_t, std::size_t> now;
    now.reserve(hot.size());
    bytes_ = 0;
    for (const StoredVertex& at : hot) {
      const std::size_t size = bytes(at);
      bytes_ += size;
      now[key_of(at)] = size;
      if (cached_.contains(key_of(at))) continue;
      ++served.moved_lists;
      served.moved_bytes += static_cast<double>(size);
    }
    cached_ = std::move(now);
  }

  std::string policy_;
  std::size_t budget_;
  estimate::Estimator estimator_;
  estimate::AccessPrior prior_;
  estimate::Selector selector_;
  Workers* workers_;
  unsigned every_;
  bool fixed_;  // the number of walks
  unsigned chances_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> cached_;
  std::size_t bytes_ = 0;
};

// Only records what is looked up. The counts that an engine gets from it are 0.
class Rehearsal final : public match::Matcher {
 public:
  Rehearsal(Workers& workers, std::vector<Cache>& caches) : caches_(&caches), truth_(workers) {}

  void match(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
             std::span<match::QueryResult>, const match::StopFlag*, match::MatchSteps&) override {
    const std::vector<graph::Resolved> resolved = graph.resolved();
    const match::Programs programs = match::make_programs(tasks, resolved);
    const estimate::BytesOf bytes = [&](const StoredVertex& at) -> std::size_t {
      const graph::Adjacency* store = graph.stores()[static_cast<std::size_t>(at.store)];
      if (store == nullptr || at.vertex >= store->vertices()) return 0;
      const std::size_t entries = store->degree(at.vertex) * (store->column() == graph::Column::tag ? 2 : 1);
      return entries == 0 ? 0 : ((entries + 2) * sizeof(std::uint32_t) + granule - 1) / granule * granule;
    };
    const estimate::Accesses& truth = truth_.count(graph, passes, tasks, programs);
    for (Cache& cache : *caches_) {
      cache.choose(graph, passes, tasks, programs, truth.lists, bytes);
      cache.serve(truth.lists, bytes);
    }
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return truth_.bytes(); }

 private:
  std::vector<Cache>* caches_;
  estimate::Estimator truth_;
};

class RehearsalBackend final : public Backend {
 public:
  explicit RehearsalBackend(std::vector<Cache>& caches) : caches_(&caches) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "rehearsal"; }
  [[nodiscard]] BackendCapabilities capabilities() const noexcept override { return {.own_memory = true}; }
  [[nodiscard]] graph::SlabAllocator& slabs() noexcept override { return graph::heap_slabs(); }
  [[nodiscard]] std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override {
    return std::make_unique<Rehearsal>(workers, *caches_);
  }

 private:
  std::vector<Cache>* caches_;
};

UpdateBatch updates(std::span<const Change> changes, bool backwards) {
  UpdateBatch batch;
  for (const Change& change : changes) {
    Update update;
    update.kind = change.insert != backwards ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update.source = std::int64_t{change.edge.first};
    update.target = std::int64_t{change.edge.second};
    batch.add(update);
  }
  return batch;
}

void print(const std::string& query, const Cache& cache, Report& report) {
  const Served& sum = cache.served;
  const double n = sum.batches;
  report.line({{"kind", "caching"},
               {"query", query},
               {"policy", cache.policy()},
               {"budget", cache.budget()},
               {"batches", n},
               {"look_ups", sum.look_ups / n},
               {"hits", sum.hits / sum.look_ups},
               {"bus_saved", 1 - sum.missed_bytes / sum.read_bytes},
               {"coverage", sum.coverage / n},
               {"moved_lists", sum.moved_lists / n},
               {"moved_bytes", sum.moved_bytes / n},
               {"cached_bytes", sum.cached_bytes / n},
               {"matching", sum.matching / n},
               {"estimating", sum.estimating / n},
               {"selecting", sum.selecting / n}});
}

void check(const std::vector<std::string>& policies) {
  for (const std::string& policy : policies) {
    if (policy == "degree" || policy == "k-hop" || policy == "random-walk" || policy == "truth") continue;
    throw Error(ErrorKind::usage, "--policies", "'" + policy + "' is not offered", "take degree, k-hop, random-walk or truth");
  }
}

int run(const BenchOptions& options, std::size_t size, const std::vector<std::string>& budgets, unsigned every,
        Report& report) {
  check(options.policies);
  Workers workers(options.threads);
  Graph graph = make_graph(options, workers);
  const std::size_t count = options.batches + options.warmup;
  const std::vector<Change> changes = draw_changes(graph, size * count, options.seed);
  report.line({{"kind", "graph"}, {"graph", graph.name}, {"edges", graph.edges.size()}, {"threads", workers.size()}});
  for (const QuerySet& set : read_queries(options)) {
    std::vector<Cache> caches;
    for (const std::string& policy : options.policies) {
      for (const std::string& budget : budgets) caches.emplace_back(policy, parse_bytes(budget), every, options, workers);
    }
    Engine engine = engine::BulkLoader::load(
        {.directed = options.directed, .threads = options.threads, .backend = std::make_shared<RehearsalBackend>(caches)},
        {graph.vertices, graph.edges.span(), {}, {}});
    for (const Query& query : set.queries) static_cast<void>(engine.add_query(query));
    for (std::size_t b = 0; b < count; ++b) {
      if (b == options.warmup) {
        for (Cache& cache : caches) cache.served = {};
      }
      static_cast<void>(engine.process(updates(std::span(changes).subspan(b * size, size), false)));
    }
    for (const Cache& cache : caches) print(set.name, cache, report);
  }
  return 0;
}

}  // namespace
}  // namespace deltamatch::bench

int main(int argc, char** argv) {
  using namespace deltamatch;
  CLI::App app{"Tells what caches of several sizes would serve of the look-ups of a stream's batches"};
  bench::BenchOptions options;
  options.policies = {"degree", "random-walk"};
  std::vector<std::string> budgets{"64M"};
  unsigned every = 1;
  std::size_t batch = 4096;
  bench::add_stream_options(app, options);
  app.add_option("--policies", options.policies, "degree, k-hop, random-walk, truth")->delimiter(',');
  app.add_option("--batch", batch, "Updates in a batch")->check(CLI::PositiveNumber);
  app.add_option("--budgets", budgets, "Sizes of caches")->delimiter(',');
  app.add_option("--every", every, "A choice holds for so many batches")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    bench::Report report(options.out);
    return bench::run(options, batch, budgets, every, report);
  } catch (const std::exception& error) {
    std::cerr << "bench_caching: " << error.what() << '\n';
    return 1;
  }
}
