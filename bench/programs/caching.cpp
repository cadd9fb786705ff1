// What caches of several sizes would serve, without a device. For each batch of a stream, every policy chooses lists to cache.
// The choice is compared with the look-ups that matching the batch makes, counted exactly.
//
// Policies are none, degree, k-hop, random-walk, and truth, which knows the counts. `random-walk%50` chooses what half of the
// cache holds. The other half is a ring that keeps what is missed, as on a device. With `random-walk%auto` shares are tried, as
// there. Look-ups are made in the order of a device with many warps. Prints a JSON line for each query set, policy and size. It
// has means for each batch, and an estimate of the time of a device.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "base/seconds.hpp"
#include "bench/harness/bench_options.hpp"
#include "bench/harness/from_options.hpp"
#include "bench/harness/result_lines.hpp"
#include "bench/harness/ring_model.hpp"
#include "deltamatch/error.hpp"
#include "engine/storage/bulk_loader.hpp"
#include "estimate/access_prior.hpp"
#include "estimate/estimator.hpp"
#include "estimate/selection.hpp"
#include "estimate/selector.hpp"
#include "gpu/mirror/ring_trial.hpp"
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
  double filled_lists = 0;  // copied to the ring
  double filled_bytes = 0;
  double ring_share = 0;  // summed over batches
  double cached_bytes = 0;
  double matching = 0;  // of a device, estimated
  double estimating = 0;
  double selecting = 0;
};

// What matching a batch looks up.
struct Batch {
  const graph::DataGraph& graph;
  std::span<const match::PassWork> passes;
  std::span<const match::QueryTask> tasks;
  const match::Programs& programs;
  const std::vector<estimate::Access>& truth;
  std::span<const std::uint64_t> order;  // keys of the look-ups
  const estimate::BytesOf& bytes;
};

// A policy of --policies: how lists are chosen, and the share of the cache that is a ring.
struct Policy {
  std::string name;
  std::string chooser;
  double ring_share = 0;
  bool tries_shares = false;
};

Policy parse_caching_policy(const std::string& words) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::usage, "--policies", "'" + words + "' " + why,
                "take none, degree, k-hop, random-walk or truth, and a share such as %50 or %auto");
  };
  Policy policy{.name = words, .chooser = words};
  if (const std::size_t at = words.find('%'); at != std::string::npos) {
    policy.chooser.resize(at);
    policy.tries_shares = words.substr(at) == "%auto";
    unsigned percent = 0;
    const char* const end = words.data() + words.size();
    const bool stated = std::from_chars(words.data() + at + 1, end, percent).ptr == end && percent <= 100;
    if (!policy.tries_shares && !stated) refuse("has no percentage");
    policy.ring_share = percent / 100.0;
  }
  const auto choosers = {"none", "degree", "k-hop", "random-walk", "truth"};
  if (std::ranges::find(choosers, policy.chooser) == choosers.end()) refuse("is not offered");
  return policy;
}

class Cache {
 public:
  Cache(const Policy& policy, std::size_t budget, unsigned every, const BenchOptions& options, Workers& workers)
      : policy_(policy),
        budget_(budget),
        estimator_(workers, settings(options)),
        prior_(workers),
        selector_(workers),
        workers_(&workers),
        every_(every),
        fixed_(options.walks > 0) {
    divide(policy.tries_shares ? trial_.share() : policy.ring_share);
  }

  void choose(const Batch& batch) {
    if (policy_.tries_shares && trial_.share() != ring_share_) {
      divide(trial_.share());
      selector_ = estimate::Selector(*workers_);
      cached_.clear();
      chances_ = 0;
    }
    if (chances_++ % every_ != 0) return;
    estimate::Selection selection;
    const auto start = Clock::now();
    auto chosen = start;
    if (policy_.chooser == "degree") {
      selection = estimate::select_by_degree(batch.graph, batch.bytes, chosen_budget_, workers_);
    } else if (policy_.chooser == "k-hop") {
      selection = estimate::select_within(batch.graph, batch.passes, estimate::hops_of(batch.tasks), batch.bytes,
                                          chosen_budget_, workers_);
    } else if (policy_.chooser == "truth") {
      selection = estimate::select(batch.truth, batch.bytes, chosen_budget_, workers_);
    } else if (policy_.chooser == "random-walk") {
      const estimate::Accesses& expected = estimator_.run(batch.graph, batch.passes, batch.tasks, batch.programs);
      chosen = Clock::now();
      selection = selector_.select(prior_.posterior_of(batch.graph, expected, batch.bytes, chosen_budget_), batch.bytes,
                                   chosen_budget_, {.batches = static_cast<double>(every_)});
    }
    served.estimating += std::chrono::duration<double>(chosen - start).count();
    served.selecting += seconds_since(chosen);
    take(selection.hot, batch.bytes);
  }

  // `sizes`: bytes by key of all lists that are looked up.
  void serve(const Batch& batch, const std::vector<std::uint32_t>& sizes) {
    double missed = 0;
    double hits = 0;
    if (ring_) forget_changed(batch);
    const std::uint64_t lists_before = ring_ ? ring_->filled_lists() : 0;
    const std::uint64_t bytes_before = ring_ ? ring_->filled_bytes() : 0;
    for (const std::uint64_t key : batch.order) {
      const double read = sizes[key] + estimate::miss_bytes;
      served.read_bytes += read;
      if ((key < cached_.size() && cached_[key]) || (ring_ && ring_->look_up(key, sizes[key]))) {
        ++hits;
      } else {
        missed += read;
      }
    }
    if (ring_) {
      served.filled_lists += static_cast<double>(ring_->filled_lists() - lists_before);
      served.filled_bytes += static_cast<double>(ring_->filled_bytes() - bytes_before);
    }
    served.look_ups += static_cast<double>(batch.order.size());
    served.hits += hits;
    served.missed_bytes += missed;
    served.cached_bytes += static_cast<double>(bytes_);
    std::vector<estimate::Accessed> all;
    for (const estimate::Access& access : batch.truth) {
      const std::uint64_t key = key_of(access.at);
      all.push_back({access.times, key < cached_.size() && cached_[key], sizes[key]});
    }
    const double share = 0.05;
    served.coverage += estimate::top_lists(all, {&share, 1}).front().coverage;
    const double seconds = missed / bus + hits * hit_seconds;
    served.matching += seconds;
    served.ring_share += ring_share_;
    std::size_t anchors = 0;
    for (const match::PassWork& pass : batch.passes) anchors += pass.anchors.size();
    trial_.matched(seconds, anchors);
    if (!fixed_) estimator_.matched(seconds * host_cores / workers_->size());
    ++served.batches;
  }

  [[nodiscard]] const Policy& policy() const noexcept { return policy_; }
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

  // Makes the rest of the cache a ring, which is empty.
  void divide(double ring_share) {
    ring_share_ = ring_share;
    const auto of_ring = static_cast<std::size_t>(ring_share * static_cast<double>(budget_));
    chosen_budget_ = budget_ - of_ring;
    ring_.reset();
    if (of_ring > 0) ring_.emplace(of_ring);
  }

  // Lists that are no longer chosen make room.
  void take(const std::vector<StoredVertex>& hot, const estimate::BytesOf& bytes) {
    std::vector<bool> now(hot.empty() ? 0 : key_of(hot.back()) + 1);
    bytes_ = 0;
    for (const StoredVertex& at : hot) {
      const std::uint64_t key = key_of(at);
      if (key >= now.size()) now.resize(key + 1);  // k-hop orders by hops
      const std::size_t size = bytes(at);
      bytes_ += size;
      now[key] = true;
      if (key < cached_.size() && cached_[key]) continue;
      ++served.moved_lists;
      served.moved_bytes += static_cast<double>(size);
    }
    cached_ = std::move(now);
  }

  // The ring loses lists that this batch changes. A device also loses them when the batch has been settled.
  void forget_changed(const Batch& batch) {
    const auto forget = [&](VertexId vertex) { ring_->drop(estimate::key_of({vertex, graph::StoreKind::base})); };
    for (const VertexId vertex : changed_) forget(vertex);
    changed_.clear();
    for (const match::PassWork& pass : batch.passes) {
      for (const graph::Edge& edge : pass.anchors) changed_.insert(changed_.end(), {edge.tail, edge.head});
    }
    for (const VertexId vertex : changed_) forget(vertex);
  }

  Policy policy_;
  std::size_t budget_;
  double ring_share_ = 0;
  std::size_t chosen_budget_ = 0;  // the rest is the ring
  gpu::RingTrial trial_;
  std::optional<RingModel> ring_;
  estimate::Estimator estimator_;
  estimate::AccessPrior prior_;
  estimate::Selector selector_;
  Workers* workers_;
  unsigned every_;
  bool fixed_;  // the number of walks
  unsigned chances_ = 0;
  std::vector<bool> cached_;  // by key
  std::size_t bytes_ = 0;
  std::vector<VertexId> changed_;  // by the last batch
};

// Only records what is looked up. The counts that an engine gets from it are 0.
class Rehearsal final : public match::Matcher {
 public:
  Rehearsal(Workers& workers, std::vector<Cache>& caches, std::size_t warps)
      : caches_(&caches), warps_(warps), truth_(workers) {}

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
    estimate::Trace trace;
    const estimate::Accesses& truth = truth_.count(graph, passes, tasks, programs, &trace);
    const std::vector<std::uint64_t> order = order_of(trace, warps_);
    trace = {};
    for (const estimate::Access& access : truth.lists) {
      const std::uint64_t key = key_of(access.at);
      if (key >= sizes_.size()) sizes_.resize(std::max<std::size_t>(key + 1, 2 * sizes_.size()));
      sizes_[key] = static_cast<std::uint32_t>(bytes(access.at));
    }
    const Batch batch{graph, passes, tasks, programs, truth.lists, order, bytes};
    for (Cache& cache : *caches_) {
      cache.choose(batch);
      cache.serve(batch, sizes_);
    }
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return truth_.bytes(); }

 private:
  std::vector<Cache>* caches_;
  std::size_t warps_;
  estimate::Estimator truth_;
  std::vector<std::uint32_t> sizes_;  // by key
};

class RehearsalBackend final : public Backend {
 public:
  RehearsalBackend(std::vector<Cache>& caches, std::size_t warps) : caches_(&caches), warps_(warps) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "rehearsal"; }
  [[nodiscard]] BackendCapabilities capabilities() const noexcept override { return {.own_memory = true}; }
  [[nodiscard]] graph::SlabAllocator& slabs() noexcept override { return graph::heap_slabs(); }
  [[nodiscard]] std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override {
    return std::make_unique<Rehearsal>(workers, *caches_, warps_);
  }

 private:
  std::vector<Cache>* caches_;
  std::size_t warps_;
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
               {"policy", cache.policy().name},
               {"budget", cache.budget()},
               {"batches", n},
               {"look_ups", sum.look_ups / n},
               {"hits", sum.hits / sum.look_ups},
               {"bus_saved", 1 - sum.missed_bytes / sum.read_bytes},
               {"bus_bytes", (sum.missed_bytes + sum.moved_bytes) / n},
               {"coverage", sum.coverage / n},
               {"moved_lists", sum.moved_lists / n},
               {"moved_bytes", sum.moved_bytes / n},
               {"filled_lists", sum.filled_lists / n},
               {"filled_bytes", sum.filled_bytes / n},
               {"ring_share", sum.ring_share / n},
               {"cached_bytes", sum.cached_bytes / n},
               {"matching", sum.matching / n},
               {"estimating", sum.estimating / n},
               {"selecting", sum.selecting / n}});
}

int run(const BenchOptions& options, std::size_t size, const std::vector<std::string>& budgets, unsigned every,
        std::size_t warps, Report& report) {
  std::vector<Policy> policies;
  for (const std::string& words : options.policies) policies.push_back(parse_caching_policy(words));
  Workers workers(options.threads);
  Graph graph = make_graph(options, workers);
  const std::size_t count = options.batches + options.warmup;
  const std::vector<Change> changes = draw_changes(graph, size * count, options.seed);
  report.line({{"kind", "graph"}, {"graph", graph.name}, {"edges", graph.edges.size()}, {"threads", workers.size()}});
  for (const QuerySet& set : read_queries(options)) {
    std::vector<Cache> caches;
    for (const Policy& policy : policies) {
      for (const std::string& budget : budgets) caches.emplace_back(policy, parse_bytes(budget), every, options, workers);
    }
    Engine engine = engine::BulkLoader::load({.directed = options.directed,
                                              .threads = options.threads,
                                              .backend = std::make_shared<RehearsalBackend>(caches, warps)},
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
  std::size_t warps = 2112;
  bench::add_stream_options(app, options);
  app.add_option("--policies", options.policies, "none, degree, k-hop, random-walk, truth; %50: half of the cache is a ring")
      ->delimiter(',');
  app.add_option("--batch", batch, "Updates in a batch")->check(CLI::PositiveNumber);
  app.add_option("--budgets", budgets, "Sizes of caches")->delimiter(',');
  app.add_option("--every", every, "A choice holds for so many batches")->check(CLI::PositiveNumber);
  app.add_option("--warps", warps, "Warps of the device, for the order of look-ups")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    bench::Report report(options.out);
    return bench::run(options, batch, budgets, every, warps, report);
  } catch (const std::exception& error) {
    std::cerr << "bench_caching: " << error.what() << '\n';
    return 1;
  }
}
