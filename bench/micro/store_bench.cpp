// The data graph under updates: an R-MAT graph of 10 M edges. A tenth of them is inserted and deleted again, in batches of
// 8192.
//
// Three ways run in turn. The baseline is a sorted std::vector per vertex. The store takes net batches of dense numbers, as the
// baseline does. The engine without queries adds ids, labels and netting.
//
// Edges and neighbours after the insertions must equal those of the baseline before a time is printed. `bytes_per_edge` is what
// the lists take, without the dictionary. DELTAMATCH_BENCH_SCALE=17 in the environment makes the graph smaller (2^scale
// vertices, ten edges each).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/engine.hpp"
#include "generate/rmat.hpp"
#include "generate/synthetic_stream.hpp"
#include "graph/data_graph.hpp"

namespace {

using deltamatch::generate::Edge;
using Edges = std::span<const Edge>;

constexpr std::size_t batch_size = 8192;
constexpr std::size_t load_size = std::size_t{1} << 16;  // updates at a time while the start graph is loaded

/// The graph, and the edges that are inserted and deleted again.
struct Input {
  deltamatch::generate::Stream stream;
  [[nodiscard]] Edges start() const { return stream.start_edges(); }
  [[nodiscard]] Edges changing() const { return stream.inserted_edges(); }
  /// Insertions batch by batch, then deletions in the same order.
  [[nodiscard]] std::size_t batches() const { return 2 * half(); }
  [[nodiscard]] bool inserts(std::size_t batch) const { return batch < half(); }
  [[nodiscard]] Edges edges(std::size_t batch) const { return changing().subspan(batch % half() * batch_size, batch_size); }
  [[nodiscard]] std::size_t half() const { return changing().size() / batch_size; }
};

const Input& input() {
  static const Input made = [] {
    const char* const scale = std::getenv("DELTAMATCH_BENCH_SCALE");
    const deltamatch::generate::RmatOptions options{.scale = scale == nullptr ? 20U : static_cast<unsigned>(std::stoul(scale)),
                                                    .edge_factor = 10};
    Input input{deltamatch::generate::make_stream(deltamatch::generate::rmat(options), {.insertions = 0.1})};
    if (input.half() == 0) throw std::invalid_argument("DELTAMATCH_BENCH_SCALE is too small for a batch: use 13 or more");
    return input;
  }();
  return made;
}

/// The baseline: neighbours by vertex, sorted.
class Vectors {
 public:
  explicit Vectors(const Input& from) : lists_(from.stream.graph.vertices) {
    for (const auto& [a, b] : from.start()) {
      lists_[a].push_back(b);
      lists_[b].push_back(a);
    }
    for (auto& list : lists_) std::sort(list.begin(), list.end());
  }

  void apply(Edges edges, bool insert) {
    for (const auto& [a, b] : edges) {
      change(lists_[a], b, insert);
      change(lists_[b], a, insert);
    }
  }

  [[nodiscard]] const std::vector<std::uint32_t>& list(std::uint32_t vertex) const { return lists_[vertex]; }
  [[nodiscard]] std::uint32_t vertices() const { return static_cast<std::uint32_t>(lists_.size()); }

 private:
  static void change(std::vector<std::uint32_t>& list, std::uint32_t other, bool insert) {
    const auto place = std::lower_bound(list.begin(), list.end(), other);
    const bool there = place != list.end() && *place == other;
    if (insert && !there) list.insert(place, other);
    if (!insert && there) list.erase(place);
  }

  std::vector<std::vector<std::uint32_t>> lists_;
};

/// The store with dense numbers.
class Store {
 public:
  Store(const Input& from, unsigned threads) : workers_(threads), graph_(false, false) {
    for (std::uint32_t v = 0; v < from.stream.graph.vertices; ++v) {
      graph_.dictionary.create(static_cast<std::int64_t>(v), deltamatch::empty_label);
    }
    for (std::size_t i = 0; i < from.start().size(); i += load_size) {
      apply(net(from.start().subspan(i, std::min(load_size, from.start().size() - i)), true));
    }
  }

  [[nodiscard]] static deltamatch::graph::NetBatch net(Edges edges, bool insert) {
    deltamatch::graph::NetBatch batch;
    auto& changed = insert ? batch.inserted : batch.removed;
    for (const auto& [a, b] : edges) changed.push_back({std::min(a, b), std::max(a, b), deltamatch::empty_label});
    std::sort(changed.begin(), changed.end());
    return batch;
  }

  void apply(const deltamatch::graph::NetBatch& batch) {
    graph_.stage(batch, workers_);
    graph_.settle(workers_);
  }

  [[nodiscard]] const deltamatch::graph::DataGraph& graph() const { return graph_; }

  [[nodiscard]] bool equals(const Vectors& other) const {
    const auto relation =
        graph_.relations().find(deltamatch::graph::Direction::both, deltamatch::empty_label, deltamatch::empty_label);
    for (std::uint32_t v = 0; v < other.vertices(); ++v) {
      if (!std::ranges::equal(graph_.base().ids(v, relation), other.list(v))) return false;
    }
    return true;
  }

 private:
  deltamatch::Workers workers_;
  deltamatch::graph::DataGraph graph_;
};

deltamatch::UpdateBatch updates(Edges edges, bool insert) {
  deltamatch::UpdateBatch batch;
  deltamatch::Update update;
  update.kind = insert ? deltamatch::UpdateKind::insert_edge : deltamatch::UpdateKind::delete_edge;
  for (const auto& [a, b] : edges) {
    update.source = static_cast<std::int64_t>(a);
    update.target = static_cast<std::int64_t>(b);
    batch.add(update);
  }
  return batch;
}

deltamatch::Engine loaded_engine(const Input& from, unsigned threads) {
  deltamatch::Engine engine({.directed = false, .threads = threads});
  for (std::size_t i = 0; i < from.start().size(); i += load_size) {
    engine.load(updates(from.start().subspan(i, std::min(load_size, from.start().size() - i)), true));
  }
  return engine;
}

bool equals(const deltamatch::Engine& engine, const Vectors& other) {
  std::size_t place = 0;  // edges come by source, then target: the baseline's upper halves, one after the other
  std::vector<Edge> expected;
  for (std::uint32_t v = 0; v < other.vertices(); ++v) {
    for (const std::uint32_t u : other.list(v)) {
      if (v < u) expected.emplace_back(v, u);
    }
  }
  bool same = true;
  engine.for_each([&](const deltamatch::Update& update) {
    if (update.kind != deltamatch::UpdateKind::insert_edge) return;
    same = same && place < expected.size() && update.source == deltamatch::Id(std::int64_t{expected[place].first}) &&
           update.target == deltamatch::Id(std::int64_t{expected[place].second});
    ++place;
  });
  return same && place == expected.size();
}

/// Runs the batches again and again.
template <class Batches, class Apply>
void measure(benchmark::State& state, const Batches& batches, Apply&& apply) {
  std::size_t next = 0;
  for (auto _ : state) {
    apply(batches[next]);
    next = next + 1 == batches.size() ? 0 : next + 1;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch_size));
}

void vectors(benchmark::State& state) {
  const Input& from = input();
  Vectors baseline(from);
  std::vector<std::pair<Edges, bool>> batches;
  for (std::size_t b = 0; b < from.batches(); ++b) batches.emplace_back(from.edges(b), from.inserts(b));
  measure(state, batches, [&](const auto& batch) { baseline.apply(batch.first, batch.second); });
}

/// The baseline after the first batches.
Vectors reference(const Input& from) {
  Vectors baseline(from);
  for (std::size_t b = 0; b < from.half(); ++b) baseline.apply(from.edges(b), true);
  return baseline;
}

void store(benchmark::State& state) {
  const Input& from = input();
  Store graph(from, static_cast<unsigned>(state.range(0)));
  std::vector<deltamatch::graph::NetBatch> batches;
  for (std::size_t b = 0; b < from.batches(); ++b) batches.push_back(Store::net(from.edges(b), from.inserts(b)));
  for (std::size_t b = 0; b < from.half(); ++b) graph.apply(batches[b]);
  if (!graph.equals(reference(from))) return state.SkipWithError("the lists differ from the baseline's");
  for (std::size_t b = from.half(); b < from.batches(); ++b) graph.apply(batches[b]);
  measure(state, batches, [&](const auto& batch) { graph.apply(batch); });
  state.counters["bytes_per_edge"] =
      static_cast<double>(graph.graph().adjacency_bytes()) / static_cast<double>(graph.graph().edges());
}

void engine(benchmark::State& state) {
  const Input& from = input();
  deltamatch::Engine graph = loaded_engine(from, static_cast<unsigned>(state.range(0)));
  std::vector<deltamatch::UpdateBatch> batches;
  for (std::size_t b = 0; b < from.batches(); ++b) batches.push_back(updates(from.edges(b), from.inserts(b)));
  for (std::size_t b = 0; b < from.half(); ++b) graph.process(batches[b]);
  if (!equals(graph, reference(from))) return state.SkipWithError("the edges differ from the baseline's");
  for (std::size_t b = from.half(); b < from.batches(); ++b) graph.process(batches[b]);
  deltamatch::StepSeconds steps;
  measure(state, batches, [&](const auto& batch) { steps += graph.process(batch).seconds; });
  const auto per_update = [&](double seconds) {
    return 1e9 * seconds / static_cast<double>(state.iterations() * static_cast<std::int64_t>(batch_size));
  };
  state.counters["apply_ns"] = per_update(steps.apply);
  state.counters["settle_ns"] = per_update(steps.settle);
  const deltamatch::GraphStatistics figures = graph.graph();
  state.counters["bytes_per_edge"] = static_cast<double>(figures.adjacency_bytes) / static_cast<double>(figures.edges);
  state.counters["dictionary_bytes_per_vertex"] =
      static_cast<double>(figures.dictionary_bytes) / static_cast<double>(figures.vertices);
}

BENCHMARK(vectors)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(store)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(engine)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
