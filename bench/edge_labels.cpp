// Many edge labels: what each costs in memory and how long its lists take to find, in the store and in partitions by label.
//
// Before a time is told, all ways have given the same neighbours for every look-up that is timed. Times: medians over rounds in
// which the ways take turns.
//
//   bench_edge_labels --labels 1 16 256 1000 [--vertices 1000000 --edges 10000000] [--schema]
//   bench_edge_labels --file EDGES          lines of: vertex vertex label, all small numbers
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/parallel.hpp"
#include "base/seconds.hpp"
#include "generate/chung_lu.hpp"
#include "generate/distinct_edges.hpp"
#include "generate/random.hpp"
#include "generate/synthetic_stream.hpp"
#include "graph/data_graph.hpp"
#include "label_partitions.hpp"

namespace {

using namespace deltamatch;  // NOLINT(google-build-using-namespace)
using bench::LabelEdges;
using Clock = std::chrono::steady_clock;

struct Options {
  std::uint32_t vertices = 1'000'000;
  std::uint64_t edges = 10'000'000;
  std::vector<std::uint32_t> labels{1, 16, 256, 1000};
  bool schema = false;
  bool unnumbered = false;
  std::string file;
  std::size_t look_ups = 1'000'000;
  int rounds = 7;
};

struct Input {
  std::string name;
  VertexId vertices = 0;
  std::vector<LabelEdges> edges;  // by label
};

void sort_edges(Input& input) {
  for (LabelEdges& edges : input.edges) {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  }
}

void add(Input& input, std::uint32_t label, VertexId a, VertexId b) {
  input.edges[label].push_back({std::min(a, b), std::max(a, b)});
}

/// A power-law graph whose edges bear any label, as `deltamatch generate chung-lu` writes it.
Input any_labels(const Options& options, std::uint32_t labels) {
  const generate::Stream stream =
      generate::make_stream(generate::chung_lu({.vertices = options.vertices, .edges = options.edges, .vertex_labels = 1}),
                            {.insertions = 0, .edge_labels = labels});
  Input input{"any", options.vertices, std::vector<LabelEdges>(labels)};
  for (const generate::Edge& edge : stream.start_edges()) add(input, stream.edge_label(edge), edge.first, edge.second);
  sort_edges(input);
  return input;
}

/// Edges as in a database with a schema: half as many kinds of vertices as labels, each label between two kinds (four labels
/// end at a kind). Numbers say nothing of kinds.
Input schema_labels(const Options& options, std::uint32_t labels) {
  generate::Random random(1);
  std::vector<VertexId> numbers(options.vertices);
  for (VertexId v = 0; v < options.vertices; ++v) numbers[v] = v;
  random.shuffle(std::span(numbers));
  const std::uint32_t kinds = std::max<std::uint32_t>(1, labels / 2);
  const std::uint32_t size = options.vertices / kinds;
  const auto draw = [&](std::uint32_t kind) {
    return numbers[kind * size + std::min(random.below(size), random.below(size))];  // low ones more often
  };
  Input input{"schema", options.vertices, std::vector<LabelEdges>(labels)};
  for (std::uint32_t label = 0; label < labels; ++label) {
    const std::uint32_t kind = label % kinds;
    const auto other = static_cast<std::uint32_t>((std::uint64_t{label} * 7 + 3) % kinds);
    for (std::uint64_t i = 0; i < options.edges / labels; ++i) {
      const VertexId a = draw(kind);
      const VertexId b = draw(other);
      if (a != b) add(input, label, a, b);
    }
  }
  sort_edges(input);
  return input;
}

Input from_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  Input input{path.substr(path.rfind('/') + 1), 0, {}};
  VertexId a = 0;
  VertexId b = 0;
  std::uint32_t label = 0;
  while (file >> a >> b >> label) {
    input.vertices = std::max({input.vertices, a + 1, b + 1});
    if (label >= input.edges.size()) input.edges.resize(label + 1);
    if (a != b) add(input, label, a, b);
  }
  if (!file.eof()) throw std::runtime_error(path + ": lines are to be: vertex vertex label");
  sort_edges(input);
  return input;
}

/// The store, filled at once from edges in blocks, as a graph file is loaded.
class Store {
 public:
  Store(VertexId vertices, std::span<const LabelEdges> edges) : graph_(false, false) {
    Workers workers(1);
    std::vector<graph::EdgeBlock> blocks;
    for (std::uint32_t label = 0; label < edges.size(); ++label) {
      const LabelId id = graph_.edge_labels.intern("l" + std::to_string(label));
      blocks.push_back({.edge_label = id, .runs = {std::span(edges[label])}, .edges = edges[label].size()});
    }
    const graph::LabelPart all{empty_label, 0, vertices};
    graph_.build(std::span(&all, 1), blocks, workers);
    for (std::uint32_t label = 0; label < edges.size(); ++label) {
      relations_.push_back(graph_.relations().find(graph::Direction::both, label + 1, empty_label));
    }
  }
  [[nodiscard]] std::span<const VertexId> find(std::uint32_t label, VertexId vertex) const noexcept {
    const std::uint32_t* ids = nullptr;
    const std::uint32_t* tags = nullptr;
    std::uint32_t size = 0;
    graph_.base().find(vertex, relations_[label], ids, tags, size);
    return {ids, size};
  }
  [[nodiscard]] std::size_t bytes() const { return graph_.adjacency_bytes(); }
  /// Of lists and directories alone, without rows and room: what Engine::match tells of an edge label.
  [[nodiscard]] std::size_t list_bytes() const {
    std::size_t bytes = 0;
    for (const auto& figures : graph_.base().figures()) bytes += 8 * figures.lists + 4 * figures.entries;
    return bytes;
  }
  [[nodiscard]] std::size_t lists() const {
    std::size_t lists = 0;
    for (const auto& figures : graph_.base().figures()) lists += figures.lists;
    return lists;
  }

 private:
  graph::DataGraph graph_;
  std::vector<graph::RelationId> relations_;
};

/// The same filled by batches of changes, so that blocks have room to grow. Gives its memory.
std::size_t bytes_of_streamed(const Input& input) {
  graph::DataGraph graph(false, false);
  Workers workers(1);
  for (VertexId v = 0; v < input.vertices; ++v) graph.dictionary.create(std::int64_t{v}, empty_label);
  std::vector<graph::Edge> edges;
  for (std::uint32_t label = 0; label < input.edges.size(); ++label) {
    const LabelId id = graph.edge_labels.intern("l" + std::to_string(label));
    for (const auto& [tail, head] : input.edges[label]) edges.push_back({tail, head, id});
  }
  generate::Random(2).shuffle(std::span(edges));
  graph::NetBatch batch;
  for (std::size_t i = 0; i < edges.size();) {
    batch.clear();
    for (const std::size_t end = std::min(edges.size(), i + 65536); i < end; ++i) batch.inserted.push_back(edges[i]);
    std::sort(batch.inserted.begin(), batch.inserted.end());
    graph.stage(batch);
    graph.settle(workers);
  }
  return graph.adjacency_bytes();
}

template <class Index>
class Partitions {
 public:
  explicit Partitions(std::span<const LabelEdges> edges) {
    for (const LabelEdges& label : edges) all_.emplace_back(bench::make_rows(label));
  }
  [[nodiscard]] std::span<const VertexId> find(std::uint32_t label, VertexId vertex) const noexcept {
    return all_[label].find(vertex);
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const auto& partition : all_) bytes += sizeof(partition) + partition.bytes();
    return bytes;
  }
  [[nodiscard]] std::size_t pieces() const {
    std::size_t size = 0;
    for (const auto& partition : all_) size += partition.index().size();
    return size;
  }

 private:
  std::vector<bench::Partition<Index>> all_;
};

struct LookUp {
  std::uint32_t label;
  VertexId vertex;
};

struct LookUps {
  std::string name;
  std::vector<LookUp> original;
  std::vector<LookUp> renumbered;
};

/// Ends of random edges under their label (`all`), the same of the most frequent label (`one`), and random vertices under
/// random labels (`any`), which mostly have none.
std::vector<LookUps> draw(const Input& input, std::span<const VertexId> to, std::size_t count) {
  generate::Random random(3);
  std::vector<std::uint64_t> ends;
  std::uint64_t total = 0;
  std::uint32_t largest = 0;
  for (std::uint32_t label = 0; label < input.edges.size(); ++label) {
    ends.push_back(total += input.edges[label].size());
    if (input.edges[label].size() > input.edges[largest].size()) largest = label;
  }
  const auto end_of = [&](std::uint32_t label, std::uint64_t edge) {
    const graph::EdgeEnds& ends_of_edge = input.edges[label][edge];
    return LookUp{label, random.below(2) == 0 ? ends_of_edge.tail : ends_of_edge.head};
  };
  std::vector<LookUps> sets{{"all", {}, {}}, {"one", {}, {}}, {"any", {}, {}}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t edge = random.below(total);
    const auto label = static_cast<std::uint32_t>(std::upper_bound(ends.begin(), ends.end(), edge) - ends.begin());
    sets[0].original.push_back(end_of(label, edge - (label == 0 ? 0 : ends[label - 1])));
    sets[1].original.push_back(end_of(largest, random.below(input.edges[largest].size())));
    sets[2].original.push_back(
        {static_cast<std::uint32_t>(random.below(input.edges.size())), static_cast<VertexId>(random.below(input.vertices))});
  }
  for (LookUps& set : sets) {
    for (const auto& [label, vertex] : set.original) set.renumbered.push_back({label, to[vertex]});
  }
  return sets;
}

/// Nanoseconds for a look-up that reads where the list is and its first entry.
template <class Ways>
double nanoseconds_of(const Ways& ways, std::span<const LookUp> look_ups) {
  const auto start = Clock::now();
  std::uint64_t sum = 0;
  for (const auto& [label, vertex] : look_ups) {
    const std::span<const VertexId> list = ways.find(label, vertex);
    sum += list.size();
    if (!list.empty()) sum += list[0];
  }
  asm volatile("" : : "r"(sum));
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(look_ups.size());
}

struct Way {
  std::string name;
  std::size_t bytes;
  std::size_t pieces;  ///< lists, intervals or slots
  bool renumbered;     ///< its vertices have the numbers by labels
  std::function<double(std::span<const LookUp>)> time;
  std::function<std::span<const VertexId>(const LookUp&)> find;
};

template <class Index>
Way way(std::string name, bool renumbered, const Index& index, std::size_t pieces) {
  return {std::move(name),
          index.bytes(),
          pieces,
          renumbered,
          [&index](std::span<const LookUp> look_ups) { return nanoseconds_of(index, look_ups); },
          [&index](const LookUp& look_up) { return index.find(look_up.label, look_up.vertex); }};
}

/// Throws where ways differ from the first in the neighbours that they give. `from`: the vertex by number.
void check(std::span<const Way> ways, std::span<const LookUps> sets, std::span<const VertexId> from) {
  std::vector<VertexId> found;
  for (const LookUps& set : sets) {
    for (std::size_t i = 0; i < set.original.size(); ++i) {
      const auto expected = ways[0].find(set.original[i]);
      for (const Way& other : ways.subspan(1)) {
        const auto list = other.find(other.renumbered ? set.renumbered[i] : set.original[i]);
        found.assign(list.begin(), list.end());
        if (other.renumbered) {
          for (VertexId& vertex : found) vertex = from[vertex];
          std::sort(found.begin(), found.end());
        }
        if (!std::ranges::equal(expected, found)) throw std::runtime_error(other.name + ": other neighbours");
      }
    }
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// What has the numbers by labels.
struct Numbered {
  Numbered(const Input& input, std::span<const VertexId> to) {
    for (const LabelEdges& label : input.edges) edges.push_back(bench::renumbered(label, to));
    store.emplace(input.vertices, edges);
    intervals.emplace(edges);
  }
  std::vector<LabelEdges> edges;
  std::optional<Store> store;
  std::optional<Partitions<bench::Intervals>> intervals;
};

void measure(const Input& input, const Options& options) {
  std::uint64_t edges = 0;
  for (const LabelEdges& label : input.edges) edges += label.size();
  const auto start = Clock::now();
  std::vector<VertexId> to(input.vertices);
  std::iota(to.begin(), to.end(), 0U);
  if (!options.unnumbered) to = bench::number_by_labels(input.vertices, input.edges);
  const double numbering = seconds_since(start);
  std::vector<VertexId> from(to.size());
  for (VertexId v = 0; v < to.size(); ++v) from[to[v]] = v;

  const Store store(input.vertices, input.edges);
  const Partitions<bench::Intervals> intervals(input.edges);
  const Partitions<bench::Slots> slots(input.edges);
  std::vector<Way> ways{way("store", false, store, store.lists()), way("intervals", false, intervals, intervals.pieces()),
                        way("hash", false, slots, slots.pieces())};
  std::optional<Numbered> numbered;
  if (!options.unnumbered) {
    numbered.emplace(input, to);
    ways.push_back(way("store, numbered by labels", true, *numbered->store, numbered->store->lists()));
    ways.push_back(way("intervals, numbered by labels", true, *numbered->intervals, numbered->intervals->pieces()));
  }
  const std::vector<LookUps> sets = draw(input, to, options.look_ups);
  check(ways, sets, from);

  std::vector<std::vector<std::vector<double>>> times(ways.size(), std::vector<std::vector<double>>(sets.size()));
  for (int round = 0; round <= options.rounds; ++round) {  // the first is for the caches
    for (std::size_t s = 0; s < sets.size(); ++s) {
      for (std::size_t w = 0; w < ways.size(); ++w) {
        const double taken = ways[w].time(ways[w].renumbered ? sets[s].renumbered : sets[s].original);
        if (round > 0) times[w][s].push_back(taken);
      }
    }
  }
  const auto mib = [](std::size_t bytes) { return static_cast<double>(bytes) / 1048576; };
  std::printf(
      "%s: %u vertices, %llu edges, %zu labels; numbered by labels in %.2f s; store filled by batches: %.1f MiB; lists and "
      "directories of the store alone: %.1f MiB\n",
      input.name.c_str(), input.vertices, static_cast<unsigned long long>(edges), input.edges.size(), numbering,
      mib(bytes_of_streamed(input)), mib(store.list_bytes()));
  for (std::size_t w = 0; w < ways.size(); ++w) {
    std::printf("  %-30s %10zu pieces %8.1f MiB %9.4f MiB a label %6.1f bytes an edge", ways[w].name.c_str(), ways[w].pieces,
                mib(ways[w].bytes), mib(ways[w].bytes) / static_cast<double>(input.edges.size()),
                static_cast<double>(ways[w].bytes) / static_cast<double>(edges));
    for (std::size_t s = 0; s < sets.size(); ++s) std::printf("  %s %6.1f ns", sets[s].name.c_str(), median(times[w][s]));
    std::printf("\n");
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Memory and look-up time of many edge labels");
  app.add_option("--vertices", options.vertices)->check(CLI::Range(2U, 1U << 30));
  app.add_option("--edges", options.edges);
  app.add_option("--labels", options.labels)->check(CLI::Range(1U, 1U << 20));
  app.add_flag("--schema", options.schema, "Each label joins two kinds of vertices");
  app.add_flag("--unnumbered", options.unnumbered,
               "Without the numbers by labels, which take long where labels are many and mixed");
  app.add_option("--file", options.file, "Lines: vertex vertex label");
  app.add_option("--look-ups", options.look_ups)->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!options.file.empty()) {
      measure(from_file(options.file), options);
      return 0;
    }
    for (const std::uint32_t labels : options.labels) {
      measure(options.schema ? schema_labels(options, labels) : any_labels(options, labels), options);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_edge_labels: %s\n", error.what());
    return 1;
  }
  return 0;
}
