// Where does an update's time go, from a record to a settled graph?
//
// Runs the steps that the engine runs, without queries, and prints what each takes. The stream inserts a share of a synthetic
// graph's edges in batches, then deletes them in the same order. The number of edges is checked after every half.
//
//   bench_update_path --graph chung-lu --edges simple --batch 1000    the labelled stream of the comparison with RapidFlow
//   bench_update_path --graph rmat --scale 20 --batch 8192            the stream of bench_store
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/update.hpp"
#include "generate/chung_lu.hpp"
#include "generate/rmat.hpp"
#include "generate/synthetic_stream.hpp"
#include "graph/batch_resolver.hpp"
#include "graph/data_graph.hpp"

namespace {

using namespace deltamatch;
using Clock = std::chrono::steady_clock;

constexpr std::size_t load_size = std::size_t{1} << 16;  // updates at a time while the start graph is loaded

struct Options {
  std::string graph = "chung-lu";
  std::string edges = "simple";
  unsigned scale = 20;
  double insertions = 0.1;
  std::size_t batch = 1000;
  unsigned threads = 1;
  unsigned repeat = 5;
};

generate::Stream make_stream(const Options& options) {
  const bool rmat = options.graph == "rmat";
  return generate::make_stream(rmat ? generate::rmat({.scale = options.scale, .edge_factor = 10}) : generate::chung_lu(),
                               {.insertions = options.insertions, .edge_labels = rmat ? 0U : 1U});
}

/// The updates of edges. An edge's key is its place in the stream.
class Records {
 public:
  explicit Records(const generate::Stream& stream, EdgeModel model) : stream_(&stream), model_(model) {}

  [[nodiscard]] UpdateBatch batch(std::size_t begin, std::size_t end, bool insert) const {
    UpdateBatch batch;
    for (std::size_t i = begin; i < end; ++i) {
      const generate::Edge& edge = stream_->graph.edges[i];
      Update update;
      update.kind = insert ? UpdateKind::insert_edge : UpdateKind::delete_edge;
      update.source = std::int64_t{edge.first};
      update.target = std::int64_t{edge.second};
      update.label = stream_->options.edge_labels > 0 ? "0" : "";
      Properties key;
      key.key = Id(static_cast<std::int64_t>(i));
      if (model_ == EdgeModel::keyed) update.properties = &key;
      if (model_ == EdgeModel::events && insert) update.time = static_cast<Timestamp>(i);
      batch.add(update);
    }
    return batch;
  }

 private:
  const generate::Stream* stream_;
  EdgeModel model_;
};

enum Step : std::size_t { look_up, resolve, stage, settle, commit, steps };
constexpr std::array<const char*, steps> step_names = {"look up", "resolve and net", "stage", "settle", "commit"};
using Times = std::array<double, steps>;

Schema schema_of(EdgeModel model) {
  Schema schema;
  schema.model = model;
  return schema;
}

class Path {
 public:
  Path(EdgeModel model, unsigned threads)
      : workers_(threads), graph_(false, false, graph::heap_slabs(), schema_of(model)), resolver_(graph_, nullptr, workers_) {}

  void declare(const generate::Graph& of) {
    UpdateBatch batch;
    for (std::uint32_t v = 0; v < of.vertices; ++v) {
      const std::string label = of.labels.empty() ? "" : std::to_string(of.labels[v]);
      Update update;
      update.kind = UpdateKind::insert_vertex;
      update.source = std::int64_t{v};
      update.source_label = label;
      batch.add(update);
    }
    run(batch);
  }

  Times run(const UpdateBatch& batch) {
    Times times{};
    workers_.stand_by([&] { times = run_steps(batch); });
    return times;
  }

  [[nodiscard]] const graph::DataGraph& graph() const { return graph_; }

 private:
  Times run_steps(const UpdateBatch& batch) {
    Times times{};
    auto last = Clock::now();
    const auto done = [&](Step step) {
      const auto now = Clock::now();
      times[step] += std::chrono::duration<double>(now - last).count();
      last = now;
    };
    if (workers_.size() == 1) {  // otherwise resolving does it, with all threads
      resolver_.anticipate(batch, {});
      done(look_up);
    }
    const graph::ResolvedBatch& resolved = resolver_.resolve(batch, OnReject::stop, std::nullopt);
    done(resolve);
    graph_.stage(resolved.net, workers_);
    done(stage);
    graph_.settle(workers_);
    done(settle);
    resolver_.commit();
    done(commit);
    return times;
  }

  Workers workers_;
  graph::DataGraph graph_;
  graph::BatchResolver resolver_;
};

Times operator+(Times a, const Times& b) {
  for (std::size_t i = 0; i < steps; ++i) a[i] += b[i];
  return a;
}

double total(const Times& times) {
  double sum = 0;
  for (const double time : times) sum += time;
  return sum;
}

void measure(const Options& options) {
  const generate::Stream stream = make_stream(options);
  const EdgeModel model = options.edges == "keyed"    ? EdgeModel::keyed
                          : options.edges == "events" ? EdgeModel::events
                                                      : EdgeModel::simple;
  const Records records(stream, model);
  Path path(model, options.threads);
  path.declare(stream.graph);
  const std::size_t start = stream.start;
  const std::size_t end = stream.graph.edges.size();
  for (std::size_t i = 0; i < start; i += load_size) path.run(records.batch(i, std::min(i + load_size, start), true));
  fmt::print("{} vertices, {} edges to start with, {} inserted and deleted, {}, batches of {}, {} threads\n",
             stream.graph.vertices, start, end - start, options.edges, options.batch, options.threads);
  const auto check = [&](std::size_t edges) {
    if (path.graph().edges() != edges)
      throw std::runtime_error(fmt::format("the graph has {} edges, not {}", path.graph().edges(), edges));
  };
  check(start);
  fmt::print("{:<16}", "");
  for (const char* name : step_names) fmt::print("{:>17}", name);
  fmt::print("{:>17}\n", "all");
  std::array<std::vector<Times>, 2> runs;
  for (unsigned r = 0; r < options.repeat; ++r) {
    for (const bool insert : {true, false}) {
      std::vector<UpdateBatch> batches;
      for (std::size_t i = start; i < end; i += options.batch)
        batches.push_back(records.batch(i, std::min(i + options.batch, end), insert));
      Times sum{};
      for (const UpdateBatch& batch : batches) sum = sum + path.run(batch);
      check(insert ? end : start);
      runs[insert ? 0 : 1].push_back(sum);
    }
  }
  for (const bool insert : {true, false}) {
    std::vector<Times>& of = runs[insert ? 0 : 1];
    std::ranges::sort(of, {}, total);
    const auto per_update = [&](double seconds) { return 1e9 * seconds / static_cast<double>(end - start); };
    for (const bool best : {false, true}) {
      const Times& run = of[best ? 0 : of.size() / 2];
      fmt::print("{:<16}", fmt::format("{}, {}", insert ? "insert" : "delete", best ? "best" : "median"));
      for (const double time : run) fmt::print("{:>14.0f} ns", per_update(time));
      fmt::print("{:>14.0f} ns\n", per_update(total(run)));
    }
  }
  fmt::print("{:.1f} bytes an edge\n",
             static_cast<double>(path.graph().adjacency_bytes()) / static_cast<double>(path.graph().edges()));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Where an update's time goes, from a record to a settled graph");
  app.add_option("--graph", options.graph, "chung-lu (labelled, 1 M edges) or rmat")
      ->check(CLI::IsMember({"chung-lu", "rmat"}));
  app.add_option("--edges", options.edges, "the model of edges")->check(CLI::IsMember({"simple", "keyed", "events"}));
  app.add_option("--scale", options.scale, "rmat: 2^scale vertices, ten edges each")->check(CLI::Range(4, 26));
  app.add_option("--insertions", options.insertions, "share of the edges that is inserted and deleted")
      ->check(CLI::Range(0.001, 0.9));
  app.add_option("--batch", options.batch, "updates in a batch")->check(CLI::Range(1, 1 << 20));
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 256));
  app.add_option("--repeat", options.repeat, "runs, of which the median counts")->check(CLI::Range(1, 100));
  CLI11_PARSE(app, argc, argv);
  try {
    measure(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_update_path: {}\n", error.what());
    return 1;
  }
  return 0;
}
