// What the programs that time the steps of an update share: the stream, the runs and the table.
//
// The stream inserts a share of a synthetic graph's edges in batches, then deletes them in the same order. The number of edges
// is checked after every half. So programs with the same options can be compared row by row.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "deltamatch/update.hpp"
#include "generate/chung_lu.hpp"
#include "generate/rmat.hpp"
#include "generate/synthetic_stream.hpp"

namespace deltamatch::update_steps {

using Clock = std::chrono::steady_clock;

inline constexpr std::size_t load_size = std::size_t{1} << 16;  // updates at a time while the start graph is loaded

struct Options {
  std::string graph = "chung-lu";
  std::string edges = "simple";
  unsigned scale = 20;
  double insertions = 0.1;
  std::size_t batch = 1000;
  unsigned threads = 1;
  unsigned repeat = 5;

  [[nodiscard]] EdgeModel model() const {
    return edges == "keyed" ? EdgeModel::keyed : edges == "events" ? EdgeModel::events : EdgeModel::simple;
  }
};

inline void add_options(CLI::App& app, Options& options) {
  app.add_option("--graph", options.graph, "chung-lu (labelled, 1 M edges) or rmat")
      ->check(CLI::IsMember({"chung-lu", "rmat"}));
  app.add_option("--edges", options.edges, "the model of edges")->check(CLI::IsMember({"simple", "keyed", "events"}));
  app.add_option("--scale", options.scale, "rmat: 2^scale vertices, ten edges each")->check(CLI::Range(4, 26));
  app.add_option("--insertions", options.insertions, "share of the edges that is inserted and deleted")
      ->check(CLI::Range(0.001, 0.9));
  app.add_option("--batch", options.batch, "updates in a batch")->check(CLI::Range(1, 1 << 20));
  app.add_option("--repeat", options.repeat, "runs, of which the median counts")->check(CLI::Range(1, 100));
}

inline generate::Stream make_stream(const Options& options) {
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

/// Declares the vertices of a graph.
inline UpdateBatch declare(const generate::Graph& of) {
  UpdateBatch batch;
  for (std::uint32_t v = 0; v < of.vertices; ++v) {
    const std::string label = of.labels.empty() ? "" : std::to_string(of.labels[v]);
    Update update;
    update.kind = UpdateKind::insert_vertex;
    update.source = std::int64_t{v};
    update.source_label = label;
    batch.add(update);
  }
  return batch;
}

enum Step : std::size_t { look_up, resolve, stage, settle, commit, steps };
inline constexpr std::array<const char*, steps> step_names = {"look up", "resolve and net", "stage", "settle", "commit"};
using Times = std::array<double, steps>;

/// Adds the time since the last call to a step.
class Laps {
 public:
  void done(Step step) {
    const auto now = Clock::now();
    times[step] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  Times times{};

 private:
  Clock::time_point last_ = Clock::now();
};

inline Times operator+(Times a, const Times& b) {
  for (std::size_t i = 0; i < steps; ++i) a[i] += b[i];
  return a;
}

inline double total(const Times& times) {
  double sum = 0;
  for (const double time : times) sum += time;
  return sum;
}

/// `Path` has run(batch), which returns the times of the steps, edges() and bytes().
template <class Path>
void measure(const Options& options, Path& path) {
  const generate::Stream stream = make_stream(options);
  const Records records(stream, options.model());
  path.run(declare(stream.graph));
  const std::size_t start = stream.start;
  const std::size_t end = stream.graph.edges.size();
  for (std::size_t i = 0; i < start; i += load_size) path.run(records.batch(i, std::min(i + load_size, start), true));
  fmt::print("{} vertices, {} edges to start with, {} inserted and deleted, {}, batches of {}, {} threads\n",
             stream.graph.vertices, start, end - start, options.edges, options.batch, options.threads);
  const auto check = [&](std::size_t edges) {
    if (path.edges() != edges) throw std::runtime_error(fmt::format("the graph has {} edges, not {}", path.edges(), edges));
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
  fmt::print("{:.1f} bytes an edge\n", static_cast<double>(path.bytes()) / static_cast<double>(path.edges()));
}

}  // namespace deltamatch::update_steps
