// Where does an update's time go, from a record to a settled graph?
//
// Runs the steps that the engine runs, without queries, and prints what each takes. update_steps.hpp says what the stream is.
// bench_update_floor takes the same one and prints the same table.
//
//   bench_update_path --graph chung-lu --edges simple --batch 1000    the labelled stream of the comparison with RapidFlow
//   bench_update_path --graph rmat --scale 20 --batch 8192            the stream of bench_store
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <exception>
#include <optional>

#include "base/parallel.hpp"
#include "graph/batch_resolver.hpp"
#include "graph/data_graph.hpp"
#include "update_steps.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::update_steps;

Schema schema_of(EdgeModel model) {
  Schema schema;
  schema.model = model;
  return schema;
}

class Path {
 public:
  Path(EdgeModel model, unsigned threads)
      : workers_(threads), graph_(false, false, graph::heap_slabs(), schema_of(model)), resolver_(graph_, nullptr, workers_) {}

  Times run(const UpdateBatch& batch) {
    Times times{};
    workers_.stand_by([&] { times = run_steps(batch); });
    return times;
  }

  [[nodiscard]] std::size_t edges() const { return graph_.edges(); }
  [[nodiscard]] std::size_t bytes() const { return graph_.adjacency_bytes(); }

 private:
  Times run_steps(const UpdateBatch& batch) {
    Laps laps;
    if (workers_.size() == 1) {  // otherwise resolving does it, with all threads
      resolver_.anticipate(batch, {});
      laps.done(look_up);
    }
    const graph::ResolvedBatch& resolved = resolver_.resolve(batch, OnReject::stop, std::nullopt);
    laps.done(resolve);
    graph_.stage(resolved.net, workers_);
    laps.done(stage);
    graph_.settle(workers_);
    laps.done(settle);
    resolver_.commit();
    laps.done(commit);
    return laps.times;
  }

  Workers workers_;
  graph::DataGraph graph_;
  graph::BatchResolver resolver_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Where an update's time goes, from a record to a settled graph");
  add_options(app, options);
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 256));
  CLI11_PARSE(app, argc, argv);
  try {
    Path path(options.model(), options.threads);
    measure(options, path);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_update_path: {}\n", error.what());
    return 1;
  }
  return 0;
}
