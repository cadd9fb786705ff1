// Queries that are cliques are counted along a tree of pivots if that is exact, otherwise by plans. The counts are equal.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <string>

#include "base/checked.hpp"
#include "deltamatch/engine.hpp"

namespace deltamatch {
namespace {

std::string clique(unsigned n, const std::string& arc = "--") {
  std::string text;
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = i + 1; j < n; ++j) {
      text += (text.empty() ? "" : ", ") + std::string("(v") + std::to_string(i) + ")" + arc + "(v" + std::to_string(j) + ")";
    }
  }
  return text;
}

/// Vertices 0 to n - 1. `label` returns the label of the edge from u to v (nullopt: no edge).
Engine make_engine(bool directed, std::int64_t n,
                   const std::function<std::optional<std::string>(std::int64_t, std::int64_t)>& label) {
  Engine engine({.directed = directed, .threads = 2});
  UpdateBatch batch;
  for (std::int64_t u = 0; u < n; ++u) {
    for (std::int64_t v = 0; v < n; ++v) {
      const std::optional<std::string> text = u == v ? std::nullopt : label(u, v);
      if (!text) continue;
      Update update;
      update.source = Id(u);
      update.target = Id(v);
      update.label = *text;
      batch.add(update);
    }
  }
  engine.load(batch, OnReject::skip);
  return engine;
}

Engine dense_engine(std::int64_t n) {
  return make_engine(false, n, [](std::int64_t u, std::int64_t v) {
    return u < v && (u * 7 + v * 13) % 5 != 0 ? std::optional<std::string>("") : std::nullopt;
  });
}

Engine complete_engine(std::int64_t n) {
  return make_engine(false, n,
                     [](std::int64_t u, std::int64_t v) { return u < v ? std::optional<std::string>("") : std::nullopt; });
}

struct Drawn {
  bool directed;
  unsigned labels;  // of edges; with more than one there are parallel edges
};

Engine random_engine(const Drawn& drawn, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto n = static_cast<std::int64_t>(6 + random() % 20);
  const double density = 0.3 + 0.5 * static_cast<double>(random() % 100) / 100;
  const bool both_ways = random() % 2 == 0;
  return make_engine(drawn.directed, n, [&](std::int64_t u, std::int64_t v) -> std::optional<std::string> {
    if ((!both_ways && u > v) || std::uniform_real_distribution<double>()(random) > density) return std::nullopt;
    return std::string(random() % drawn.labels, 'A');
  });
}

bool counts_cliques(Engine& engine, const Query& query, const StaticOptions& options) {
  return engine.explain(query, options).find("tree of pivots") != std::string::npos;
}

TEST(CliqueMatch, CountsWhatPlansCount) {
  int used = 0;
  int refused = 0;
  for (const Drawn drawn : {Drawn{false, 1}, Drawn{false, 3}, Drawn{true, 1}, Drawn{true, 3}}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Engine engine = random_engine(drawn, seed);
      for (unsigned n = 3; n <= 7; ++n) {
        const Query query = parse_pattern(clique(n), "clique");
        for (const CountMode count : {CountMode::subgraphs, CountMode::embeddings}) {
          for (const bool induced : {false, true}) {
            StaticOptions options;
            options.query.count = count;
            options.induced = induced;
            StaticOptions by_plans = options;
            by_plans.filter = Filter::none;
            by_plans.count_from = CountFrom::edges;
            EXPECT_FALSE(counts_cliques(engine, query, by_plans));
            (counts_cliques(engine, query, options) ? used : refused) += 1;
            const StaticResult got = engine.match(query, options);
            EXPECT_TRUE(got.complete());
            EXPECT_TRUE(got.matches == engine.match(query, by_plans).matches)
                << "n " << n << ", directed " << drawn.directed << ", labels " << drawn.labels << ", seed " << seed
                << ", induced " << induced;
          }
        }
      }
    }
  }
  EXPECT_GT(used, 150);
  EXPECT_GT(refused, 150);
}

TEST(CliqueMatch, StopsWhileTheGraphIsCopied) {
  // A path has no clique of four, so all the work is to copy it.
  Engine engine({.directed = false, .threads = 1});
  UpdateBatch batch;
  for (std::int64_t v = 0; v < 100'000; ++v) {
    Update update;
    update.source = Id(v);
    update.target = Id(v + 1);
    batch.add(update);
  }
  engine.load(batch, OnReject::stop);
  const Query query = parse_pattern(clique(4), "clique");
  int told = 0;
  StaticOptions options;
  options.progress = [&](const StaticProgress& so_far) {
    ++told;
    EXPECT_FALSE(so_far.matches) << "nothing is added up yet";
  };
  options.stop = [&] { return told >= 3; };
  const StaticResult stopped = engine.match(query, options);
  EXPECT_EQ(stopped.shortfall, Shortfall::stopped);
  EXPECT_GE(told, 3);
  EXPECT_TRUE(stopped.matches == 0);
  options.stop = nullptr;
  EXPECT_TRUE(engine.match(query, options).complete());
}

TEST(CliqueMatch, IsForPlainCliquesThatAreCounted) {
  Engine engine = random_engine({false, 1}, 1);
  const auto by_cliques = [&](const std::string& pattern, const StaticOptions& options = {}) {
    return counts_cliques(engine, parse_pattern(pattern, "q"), options);
  };
  EXPECT_TRUE(by_cliques(clique(4)));
  EXPECT_FALSE(by_cliques(clique(3)));
  EXPECT_FALSE(by_cliques("(a)--(b)--(c)--(d)--(a), (a)--(c)"));
  EXPECT_FALSE(by_cliques("(v0:A)--(x), (v0)--(y), (v0)--(z), (x)--(y), (x)--(z), (y)--(z)"));
  EXPECT_FALSE(by_cliques("(v0)-[:A]-(x), (v0)--(y), (v0)--(z), (x)--(y), (x)--(z), (y)--(z)"));
  const auto with = [](const std::function<void(StaticOptions&)>& change) {
    StaticOptions options;
    change(options);
    return options;
  };
  EXPECT_FALSE(by_cliques(clique(4), with([](StaticOptions& options) { options.query.list = true; })));
  EXPECT_FALSE(by_cliques(clique(4), with([](StaticOptions& options) { options.filter = Filter::none; })));
  EXPECT_FALSE(by_cliques(clique(4), with([](StaticOptions& options) { options.count_from = CountFrom::edges; })));
  EXPECT_FALSE(by_cliques(clique(4), with([](StaticOptions& options) {
                            options.query.mode = MatchMode::homomorphism;
                            options.query.count = CountMode::embeddings;
                          })));
}

TEST(CliqueMatch, StopsWhenToldTo) {
  Engine engine = dense_engine(300);
  const Query query = parse_pattern(clique(12), "clique");
  StaticOptions options;
  options.stop = [] { return true; };
  EXPECT_EQ(engine.match(query, options).shortfall, Shortfall::stopped);
  options.stop = {};
  options.timeout = std::chrono::milliseconds(20);
  EXPECT_EQ(engine.match(query, options).shortfall, Shortfall::timeout);
}

TEST(CliqueMatch, EmbeddingsAreCountedIn128Bits) {
  Engine engine = complete_engine(40);
  const Query query = parse_pattern(clique(20), "clique");
  const Count cliques = checked_binomial(40, 20);
  EXPECT_TRUE(engine.match(query).matches == cliques);
  StaticOptions options;
  options.query.count = CountMode::embeddings;
  EXPECT_TRUE(engine.match(query, options).matches == checked_mul(cliques, checked_factorial(20)));
  EXPECT_THROW((void)engine.match(parse_pattern(clique(30), "clique"), options), Error);  // 40! / 10!
}

}  // namespace
}  // namespace deltamatch
