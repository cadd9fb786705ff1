// Mining by method, on a power-law graph that is made here. If DELTAMATCH_DATA names the folder of the real data sets, also on
// those of snap-static.
//
// Every answer is checked before a time is printed: against plain enumeration, or against another method if that would take too
// long. One thread, so that only the methods differ. threads/... shows what more threads gain.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/mine.hpp"
#include "ingest/stream.hpp"

namespace {

using namespace deltamatch;
using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

constexpr std::array method_names = {"automatic", "formulas", "pairs", "extend"};

/// Chung-Lu: both ends of each edge are drawn with weights that follow a power law of exponent 2.5.
SimpleGraph power_law(std::uint32_t vertices, std::size_t edges) {
  std::mt19937_64 random(1);
  std::vector<double> weights(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v) weights[v] = std::pow(v + 10.0, -1 / 1.5);
  std::discrete_distribution<std::uint32_t> draw(weights.begin(), weights.end());
  Edges list(edges);
  for (auto& [u, v] : list) {
    u = draw(random);
    v = draw(random);
  }
  return {vertices, list};
}

/// Nothing if there is no such file.
std::optional<SimpleGraph> read_real(const std::string& name) {
  const char* const root = std::getenv("DELTAMATCH_DATA");
  const std::string path = root == nullptr ? "" : std::string(root) + "/snap-static/" + name;
  if (path.empty() || !std::filesystem::exists(path)) return std::nullopt;
  ingest::ReadOptions options;
  options.on_error = ingest::OnError::skip;
  options.limits.max_updates = 1U << 14;
  const auto source = ingest::open_stream(path, options);
  Engine engine(EngineOptions{.directed = false, .threads = 1});
  ingest::PositionedBatch batch;
  while (source->next(batch)) (void)engine.load(batch.updates, OnReject::skip);
  return SimpleGraph::of(engine);
}

struct Case {
  std::string name;
  SimpleGraph graph;
  unsigned enumerable;  ///< up to so many vertices, plain enumeration ends soon
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> made{{"power-law-2k", power_law(2000, 8000), 5}};
    const std::array files = {std::pair("ca-condmat-cc1", 4U), std::pair("facebook-combined", 3U),
                              std::pair("email-enron", 3U)};
    for (const auto& [name, enumerable] : files) {
      if (auto graph = read_real(std::string(name) + ".jlg")) made.push_back({name, *graph, enumerable});
    }
    return made;
  }();
  return all;
}

std::vector<Count> counts(const Case& c, unsigned k, MotifMethod method, unsigned threads = 1) {
  MotifOptions options;
  options.method = method;
  options.run.threads = threads;
  std::vector<Count> found;
  for (const Motif& motif : count_motifs(c.graph, k, options).motifs) found.push_back(motif.count);
  return found;
}

/// By case and k: the count that every method must find.
const std::vector<Count>& truth(const Case& c, unsigned k) {
  static std::map<std::pair<std::string, unsigned>, std::vector<Count>> known;
  auto [entry, fresh] = known.try_emplace({c.name, k});
  if (fresh) entry->second = counts(c, k, k <= c.enumerable ? MotifMethod::extend : MotifMethod::pairs);
  return entry->second;
}

void bench_motifs(benchmark::State& state, const Case& c, unsigned k, MotifMethod method, unsigned threads) {
  if (counts(c, k, method, threads) != truth(c, k)) return state.SkipWithError("wrong counts");
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(counts(c, k, method, threads));
}

void bench_cliques(benchmark::State& state, const Case& c, std::optional<unsigned> k, bool list) {
  MineOptions options{.threads = 1};
  const auto all = count_cliques(c.graph, std::nullopt, options).counts;
  const auto run = [&]() -> Count {
    if (list) return list_cliques(c.graph, *k, std::nullopt, options, [](std::span<const std::uint32_t>) {}).listed;
    const auto found = count_cliques(c.graph, k, options).counts;
    return k ? (found.size() > *k ? found[*k] : 0) : Count{found.size()};
  };
  const Count expected = k ? (all.size() > *k ? all[*k] : 0) : Count{all.size()};
  if (run() != expected) return state.SkipWithError("wrong counts");
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(run());
}

void bench_quasi(benchmark::State& state, const Case& c, unsigned k, double density) {
  MineOptions options{.threads = 1};
  const unsigned edges = edges_of_density(k, density);
  const auto total = [](const auto& list) {
    Count sum = 0;
    for (const Count count : list) sum += count;
    return sum;
  };
  MotifOptions dense;
  dense.where = Condition::parse("edges >= " + std::to_string(edges));
  dense.run = options;
  Count expected = 0;
  for (const Motif& motif : count_motifs(c.graph, k, dense).motifs) expected += motif.count;
  if (total(count_quasi_cliques(c.graph, k, edges, options).by_missing) != expected) return state.SkipWithError("wrong counts");
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(count_quasi_cliques(c.graph, k, edges, options));
}

template <class F>
void add(const std::string& name, F&& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
}

bool register_all() {
  for (const Case& c : cases()) {
    for (unsigned k = 3; k <= c.enumerable + 1 && k <= 5; ++k) {
      for (const MotifMethod method : {MotifMethod::formulas, MotifMethod::pairs, MotifMethod::extend}) {
        if (method == MotifMethod::extend && k > c.enumerable) continue;
        const std::string name =
            "motifs/" + c.name + "/k:" + std::to_string(k) + '/' + method_names[static_cast<std::size_t>(method)];
        add(name, [&c, k, method](benchmark::State& state) { bench_motifs(state, c, k, method, 1); });
      }
    }
    for (const unsigned k : {4U, 5U, 7U}) {
      const std::string name = "cliques/" + c.name + "/k:" + std::to_string(k);
      add(name + "/count", [&c, k](benchmark::State& state) { bench_cliques(state, c, k, false); });
      add(name + "/list", [&c, k](benchmark::State& state) { bench_cliques(state, c, k, true); });
    }
    add("cliques/" + c.name + "/all", [&c](benchmark::State& state) { bench_cliques(state, c, std::nullopt, false); });
    add("quasi-cliques/" + c.name + "/k:5/density:0.9", [&c](benchmark::State& state) { bench_quasi(state, c, 5, 0.9); });
  }
  const Case& made = cases().front();
  add("motifs/" + made.name + "/k:6/pairs",
      [&made](benchmark::State& state) { bench_motifs(state, made, 6, MotifMethod::pairs, 1); });
  for (const unsigned threads : {1U, 2U, 4U}) {
    benchmark::RegisterBenchmark(
        ("threads/" + made.name + "/k:6/pairs/threads:" + std::to_string(threads)).c_str(),
        [&made, threads](benchmark::State& state) { bench_motifs(state, made, 6, MotifMethod::pairs, threads); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
