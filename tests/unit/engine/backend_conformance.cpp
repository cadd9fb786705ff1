// What every backend promises. Changes are compared with the oracle, whole graphs and mining with the CPU.
#include "unit/engine/backend_conformance.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/mine.hpp"
#include "graph/data_graph.hpp"
#include "match/backend.hpp"
#include "support/oracle.hpp"

namespace deltamatch::test {
namespace {

/// Updates of a small graph with two edge labels. About a third of them delete edges.
class SmallStream {
 public:
  explicit SmallStream(std::uint32_t seed) : random_(seed) {}

  std::vector<Update> next(std::size_t count) {
    std::vector<Update> updates;
    while (updates.size() < count) {
      Update update;
      update.kind = random_() % 3 == 0 ? UpdateKind::delete_edge : UpdateKind::insert_edge;
      const auto source = static_cast<std::int64_t>(random_() % vertices);
      update.source = source;
      update.target = (source + 1 + static_cast<std::int64_t>(random_() % (vertices - 1))) % std::int64_t{vertices};
      update.label = random_() % 2 == 0 ? "T" : "U";
      updates.push_back(update);
    }
    return updates;
  }

 private:
  static constexpr std::uint32_t vertices = 9;
  std::mt19937 random_;
};

UpdateBatch batch_of(const std::vector<Update>& updates) {
  UpdateBatch batch;
  for (const Update& update : updates) batch.add(update);
  return batch;
}

struct StandingQuery {
  std::string pattern;
  QueryOptions options;
};

/// Patterns in all modes, counted and listed.
std::vector<StandingQuery> all_modes(bool directed) {
  const std::string arrow = directed ? "->" : "-";
  const auto edge = [&](const char* a, const char* b, const char* label = "") {
    return "(" + std::string(a) + ")-" + (*label == 0 ? "" : "[:" + std::string(label) + "]") + arrow + "(" + b + ")";
  };
  std::vector<StandingQuery> all;
  for (const std::string& pattern : {edge("a", "b") + ", " + edge("b", "c") + ", " + edge("c", "a"),
                                     edge("a", "b", "T") + ", " + edge("b", "c", "U") + ", " + edge("c", "d", "T"),
                                     edge("a", "b") + ", " + edge("b", "c") + ", " + edge("c", "d") + ", " + edge("d", "a")}) {
    for (const bool list : {false, true}) {
      all.push_back({pattern, {.list = list}});
      for (const MatchMode mode : {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism}) {
        all.push_back({pattern, {.mode = mode, .count = CountMode::embeddings, .list = list}});
      }
    }
  }
  return all;
}

/// Counts what it gets, by query and sign. Fails at once if told so.
class CountingSink final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& match) override {
    if (fails) throw std::runtime_error("the sink is full");
    ++counts[{std::string(match.query), match.added}];
  }
  void commit() override {}
  void abort() noexcept override { ++aborts; }

  std::map<std::pair<std::string, bool>, std::uint64_t> counts;
  bool fails = false;
  int aborts = 0;
};

Engine engine_on(std::shared_ptr<Backend> backend, bool directed, const std::vector<StandingQuery>& queries) {
  Engine engine({.directed = directed, .threads = 2, .backend = std::move(backend)});
  for (std::size_t q = 0; q < queries.size(); ++q) {
    engine.add_query(parse_pattern(queries[q].pattern, "q" + std::to_string(q)), queries[q].options);
  }
  return engine;
}

void expect_same(const BatchResult& got, const BatchResult& expected) {
  ASSERT_EQ(got.queries.size(), expected.queries.size());
  EXPECT_EQ(got.batch, expected.batch);
  EXPECT_EQ(got.inserted, expected.inserted);
  EXPECT_EQ(got.deleted, expected.deleted);
  for (std::size_t q = 0; q < expected.queries.size(); ++q) {
    EXPECT_TRUE(got.queries[q].added == expected.queries[q].added) << q;
    EXPECT_TRUE(got.queries[q].removed == expected.queries[q].removed) << q;
    EXPECT_EQ(got.queries[q].added_digest, expected.queries[q].added_digest) << q;
    EXPECT_EQ(got.queries[q].removed_digest, expected.queries[q].removed_digest) << q;
  }
}

std::size_t missing_from(const oracle::Answer& a, const oracle::Answer& b) {
  return static_cast<std::size_t>(std::ranges::count_if(b, [&](const auto& match) { return !a.contains(match); }));
}

const std::set<std::string_view> cache_metrics{backend_metrics::hits, backend_metrics::misses, backend_metrics::copied_bytes,
                                               backend_metrics::cached_lists, backend_metrics::cached_bytes};

}  // namespace

TEST_P(BackendConformance, TheNameFitsIntoNamesOfMetrics) {
  const std::string_view name = backend_->name();
  ASSERT_FALSE(name.empty());
  EXPECT_TRUE(std::ranges::all_of(name, [](char c) { return c >= 'a' && c <= 'z'; })) << name;
  EXPECT_EQ(Engine({.backend = backend_}).backend_statistics().backend, name);
}

TEST_P(BackendConformance, EveryBatchGivesTheDifferenceOfTheAnswers) {
  for (const bool directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    const std::vector<StandingQuery> queries = all_modes(directed);
    Engine engine = engine_on(backend_, directed, queries);
    Engine cpu = engine_on(nullptr, directed, queries);
    std::vector<oracle::Matcher> judges;
    for (const StandingQuery& query : queries) {
      judges.emplace_back(parse_pattern(query.pattern, "q"), query.options.mode, query.options.count);
    }
    oracle::Model model(directed);
    std::vector<oracle::Answer> before(queries.size());
    SmallStream stream(directed ? 1 : 2);
    std::uint64_t found = 0;
    for (const std::size_t size : {20U, 1U, 7U, 12U}) {
      const std::vector<Update> updates = stream.next(size);
      CountingSink sink;
      const BatchResult result = engine.process(batch_of(updates), OnReject::skip, &sink);
      expect_same(result, cpu.process(batch_of(updates), OnReject::skip));
      model.apply(updates, OnReject::skip);
      for (std::size_t q = 0; q < queries.size(); ++q) {
        SCOPED_TRACE(queries[q].pattern + ", query " + std::to_string(q));
        const oracle::Answer after = judges[q].match(model.graph());
        EXPECT_EQ(static_cast<std::size_t>(result.queries[q].added), missing_from(before[q], after));
        EXPECT_EQ(static_cast<std::size_t>(result.queries[q].removed), missing_from(after, before[q]));
        const std::string name = "q" + std::to_string(q);
        const bool list = queries[q].options.list;
        EXPECT_EQ((sink.counts[{name, true}]), list ? static_cast<std::uint64_t>(result.queries[q].added) : 0);
        EXPECT_EQ((sink.counts[{name, false}]), list ? static_cast<std::uint64_t>(result.queries[q].removed) : 0);
        found += static_cast<std::uint64_t>(result.queries[q].added);
        before[q] = after;
      }
      if (HasFailure()) return;
    }
    EXPECT_GT(found, 100U) << "little was compared";
  }
}

TEST_P(BackendConformance, SaysHowLongEachQueryTook) {
  const std::vector<StandingQuery> queries{
      {"(a)-[:T]->(b)", {}}, {"(a)-[:T]->(b)-[:T]->(c)-[:T]->(d)-[:T]->(e)", {.list = true}}, {"(a)-[:V]->(b)-[:V]->(c)", {}}};
  Engine engine = engine_on(backend_, true, queries);
  std::vector<Update> updates;
  constexpr std::int64_t layers = 5;
  constexpr std::int64_t width = 7;
  for (std::int64_t i = 0; i < (layers - 1) * width * width; ++i) {
    Update& update = updates.emplace_back();
    update.source = i / width;
    update.target = (i / width / width + 1) * width + i % width;
    update.label = "T";
  }
  CountingSink sink;
  const BatchResult result = engine.process(batch_of(updates), OnReject::skip, &sink);
  ASSERT_EQ(result.queries.size(), 3U);
  EXPECT_EQ(static_cast<std::uint64_t>(result.queries[1].added), 16'807U);
  EXPECT_GT(result.queries[0].seconds, 0.0);
  EXPECT_GT(result.queries[1].seconds, result.queries[0].seconds) << "the query with most matches is not the slowest";
  EXPECT_LT(result.queries[2].seconds, result.queries[1].seconds) << "no edge concerns the last query";
  EXPECT_LE(result.queries[0].seconds + result.queries[1].seconds + result.queries[2].seconds, result.seconds.match * 1.001);
  const BatchResult empty = engine.process(batch_of({}), OnReject::skip, &sink);
  for (const QueryDelta& delta : empty.queries) EXPECT_LE(delta.seconds, empty.seconds.match);
}

TEST_P(BackendConformance, ABatchThatFailsOrIsStoppedIsUndone) {
  const std::vector<StandingQuery> queries = all_modes(true);
  Engine engine = engine_on(backend_, true, queries);
  Engine cpu = engine_on(nullptr, true, queries);
  SmallStream stream(3);
  const auto start = stream.next(25);
  engine.process(batch_of(start), OnReject::skip);
  cpu.process(batch_of(start), OnReject::skip);
  for (int round = 0; round < 2; ++round) {
    const auto updates = stream.next(15);
    const std::uint64_t edges = engine.graph().edges;
    CountingSink sink;
    sink.fails = true;
    EXPECT_THROW(engine.process(batch_of(updates), OnReject::skip, &sink), std::runtime_error);
    EXPECT_EQ(sink.aborts, 1);
    EXPECT_EQ(engine.graph().edges, edges);
    BatchOptions stopped{.on_reject = OnReject::skip};
    stopped.stop = [] { return true; };
    EXPECT_FALSE(engine.process(batch_of(updates), stopped).has_value());
    std::atomic<int> asked = 0;
    stopped.stop = [&] { return ++asked > 2; };  // after the batch is staged
    EXPECT_FALSE(engine.process(batch_of(updates), stopped).has_value());
    EXPECT_EQ(engine.graph().edges, edges);
    EXPECT_EQ(engine.batch(), cpu.batch());
    expect_same(engine.process(batch_of(updates), OnReject::skip), cpu.process(batch_of(updates), OnReject::skip));
  }
}

TEST_P(BackendConformance, WholeGraphsHaveTheAnswersOfTheCpu) {
  for (const bool directed : {false, true}) {
    Engine engine({.directed = directed, .threads = 2, .backend = backend_});
    Engine cpu({.directed = directed, .threads = 2});
    SmallStream stream(4);
    const auto start = stream.next(60);
    engine.load(batch_of(start), OnReject::skip);
    cpu.load(batch_of(start), OnReject::skip);
    for (const StandingQuery& query : all_modes(directed)) {
      for (const bool induced : {false, true}) {
        for (const Filter filter : {Filter::none, Filter::refine}) {
          SCOPED_TRACE(query.pattern + (induced ? ", induced" : "") + (directed ? ", directed" : ""));
          StaticOptions options;
          options.query = query.options;
          options.induced = induced;
          options.filter = filter;
          const Query pattern = parse_pattern(query.pattern, "q");
          const StaticResult got = engine.match(pattern, options);
          const StaticResult expected = cpu.match(pattern, options);
          EXPECT_TRUE(got.matches == expected.matches) << to_string(got.matches) << ", not " << to_string(expected.matches);
          EXPECT_EQ(got.digest, expected.digest);
          EXPECT_TRUE(got.complete());
        }
      }
    }
  }
}

TEST_P(BackendConformance, MetricsHaveNamesOfTheirOwnAndCountersNeverFall) {
  Engine engine = engine_on(backend_, false, all_modes(false));
  std::map<std::string, double> last;
  SmallStream stream(5);
  for (int batch = 0; batch < 4; ++batch) {
    engine.process(batch_of(stream.next(20)), OnReject::skip);
    const BackendStatistics statistics = engine.backend_statistics();
    std::set<std::string_view> names;
    for (const BackendMetric& metric : statistics.metrics) {
      SCOPED_TRACE(metric.name);
      EXPECT_TRUE(names.insert(metric.name).second) << "twice";
      EXPECT_TRUE(std::ranges::all_of(metric.name,
                                      [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }));
      EXPECT_NE(metric.name, "notice") << "the field of that name is another";
      EXPECT_TRUE(metric.help.ends_with('.')) << "it is no sentence: " << metric.help;
      EXPECT_EQ(statistics.find(metric.name), &metric);
      const double value = statistics.real(metric.name);
      const bool counter = metric.kind == BackendMetric::Kind::counter;
      EXPECT_TRUE(!counter || value >= last[metric.name]) << value;
      last[metric.name] = value;
    }
    const bool cache = std::ranges::includes(names, cache_metrics);
    EXPECT_EQ(cache, backend_->capabilities().own_memory);
  }
}

TEST_P(BackendConformance, CapabilitiesAreTrue) {
  const BackendCapabilities can = backend_->capabilities();
  EXPECT_EQ(backend_->make_dense_set_counter() != nullptr, can.cliques);
  EXPECT_EQ(backend_->make_motif_counter() != nullptr, can.motifs);
  EXPECT_TRUE(!can.own_memory || can.devices > 0);

  Workers workers(2);
  const graph::DataGraph graph(false, false, backend_->slabs());
  const auto matcher = backend_->make_matcher(workers);
  matcher->open(graph);
  EXPECT_TRUE(can.filters || matcher->candidate_steps() == nullptr);

  std::atomic<bool> asked = false;
  Engine engine({.threads = 2, .backend = backend_});
  engine.add_query(parse_pattern("(a)-->(b)", "q"));
  const UpdateBatch batch = batch_of(SmallStream(6).next(5));
  engine.process(batch, OnReject::skip, nullptr, [&](const std::stop_token&) -> const UpdateBatch* {
    asked = true;
    return nullptr;
  });
  EXPECT_TRUE(can.frees_cores || !asked) << "no core is idle";
}

TEST_P(BackendConformance, MiningHasTheAnswersOfTheCpu) {
  std::mt19937 random(7);
  constexpr SimpleGraph::Vertex vertices = 60;
  std::vector<std::pair<SimpleGraph::Vertex, SimpleGraph::Vertex>> edges;
  for (int i = 0; i < 500; ++i) edges.emplace_back(random() % vertices, random() % vertices);
  const SimpleGraph graph(vertices, edges);
  const MineOptions mine{.threads = 2, .backend = backend_};
  const BackendCapabilities can = backend_->capabilities();

  const CliqueResult cliques = count_cliques(graph, std::nullopt, mine);
  EXPECT_TRUE(cliques.counts == count_cliques(graph, std::nullopt, {.threads = 2}).counts);
  EXPECT_EQ(cliques.kernel_seconds.has_value(), can.cliques);
  const QuasiCliqueResult sets = count_quasi_cliques(graph, 5, 8, mine);
  EXPECT_TRUE(sets.by_missing == count_quasi_cliques(graph, 5, 8, {.threads = 2}).by_missing);
  EXPECT_EQ(sets.kernel_seconds.has_value(), can.cliques);

  for (const unsigned k : {3U, 4U}) {
    const MotifResult motifs = count_motifs(graph, k, {.run = mine});
    const MotifResult expected = count_motifs(graph, k, {.run = {.threads = 2}});
    ASSERT_EQ(motifs.motifs.size(), expected.motifs.size());
    for (std::size_t i = 0; i < expected.motifs.size(); ++i) {
      EXPECT_TRUE(motifs.motifs[i].count == expected.motifs[i].count) << k << ", motif " << i;
    }
    EXPECT_TRUE(can.motifs || motifs.method == expected.method) << "a backend that counts none changes nothing";
  }
}

}  // namespace deltamatch::test
