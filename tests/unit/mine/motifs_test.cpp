// Compares motif counts with a search of all k-subsets, with closed formulas, and between the methods.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <string>

#include "brute_force.hpp"
#include "mine/edge_index.hpp"

namespace deltamatch {
namespace {

using brute::Edges;
using brute::Graph;

const std::vector<std::size_t> connected_patterns = {0, 1, 1, 2, 6, 21, 112, 853, 11117};  // OEIS A001349

MotifResult run(const Graph& graph, unsigned k, MotifMethod method, unsigned threads = 1) {
  MotifOptions options;
  options.method = method;
  options.run.threads = threads;
  return count_motifs(graph.simple(), k, options);
}

Count count_of(const MotifResult& result, std::string_view graph6) {
  for (const Motif& motif : result.motifs) {
    if (motif.pattern.graph6() == graph6) return motif.count;
  }
  ADD_FAILURE() << "no pattern " << graph6;
  return 0;
}

Count total(const MotifResult& result) {
  Count sum = 0;
  for (const Motif& motif : result.motifs) sum += motif.count;
  return sum;
}

/// The count of the pattern that equals a small graph.
Count count_of(const MotifResult& result, const Graph& pattern) {
  std::uint32_t key = 0;
  brute::Vertices all(pattern.n);
  for (std::uint32_t v = 0; v < pattern.n; ++v) all[v] = v;
  key = brute::key_of(pattern, all);
  return count_of(result, canonical_pattern(pattern.n, key).graph6());
}

Graph complete(std::uint32_t n) {
  Edges edges;
  for (std::uint32_t v = 0; v < n; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) edges.emplace_back(u, v);
  }
  return {n, edges};
}

Graph cycle(std::uint32_t n) {
  Edges edges;
  for (std::uint32_t v = 0; v < n; ++v) edges.emplace_back(v, (v + 1) % n);
  return {n, edges};
}

Graph path(std::uint32_t n) {
  Edges edges;
  for (std::uint32_t v = 1; v < n; ++v) edges.emplace_back(v - 1, v);
  return {n, edges};
}

Graph star(std::uint32_t leaves) {
  Edges edges;
  for (std::uint32_t v = 1; v <= leaves; ++v) edges.emplace_back(0, v);
  return {leaves + 1, edges};
}

Graph grid(std::uint32_t rows, std::uint32_t columns) {
  Edges edges;
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      if (c + 1 < columns) edges.emplace_back(r * columns + c, r * columns + c + 1);
      if (r + 1 < rows) edges.emplace_back(r * columns + c, (r + 1) * columns + c);
    }
  }
  return {rows * columns, edges};
}

/// `parts` classes of `size` vertices. Vertices of different classes are adjacent.
Graph turan(std::uint32_t parts, std::uint32_t size) {
  Edges edges;
  for (std::uint32_t v = 0; v < parts * size; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) {
      if (u / size != v / size) edges.emplace_back(u, v);
    }
  }
  return {parts * size, edges};
}

std::uint64_t choose(std::uint64_t n, std::uint64_t k) {
  if (k > n) return 0;
  std::uint64_t result = 1;
  for (std::uint64_t i = 0; i < k; ++i) result = result * (n - i) / (i + 1);
  return result;
}

std::vector<MotifMethod> methods(unsigned k) {
  std::vector<MotifMethod> all{MotifMethod::automatic, MotifMethod::extend};
  if (k >= 3) all.push_back(MotifMethod::pairs);
  if (k <= 5) all.push_back(MotifMethod::formulas);
  return all;
}

TEST(Motifs, AgreesWithEverySubsetTried) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const auto n = static_cast<std::uint32_t>(1 + random() % 11);
    const Graph graph = brute::random_graph(n, 0.1 + 0.9 * static_cast<double>(random() % 100) / 100, seed);
    for (unsigned k = 2; k <= 6; ++k) {
      const auto truth = brute::motifs(graph, k);
      for (const MotifMethod method : methods(k)) {
        const MotifResult result = run(graph, k, method, seed % 4 == 0 ? 3 : 1);
        ASSERT_EQ(brute::by_least_key(result), truth)
            << "seed " << seed << ", k " << k << ", method " << static_cast<int>(method);
        EXPECT_TRUE(result.complete);
        EXPECT_EQ(result.motifs.size(), connected_patterns[k]);
      }
    }
  }
}

TEST(Motifs, SevenAndEightVerticesAgreeWithEverySubsetTried) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Graph graph = brute::random_graph(11, 0.2 + 0.1 * static_cast<double>(seed), seed);
    for (const unsigned k : {7U, 8U}) {
      std::map<std::uint32_t, std::uint64_t> truth;  // by a canonical form that has tests of its own
      brute::for_each_subset(graph.n, k, [&](const brute::Vertices& set) {
        if (brute::connected(graph, set)) ++truth[canonical_pattern(k, brute::key_of(graph, set)).key];
      });
      for (const MotifMethod method : {MotifMethod::extend, MotifMethod::pairs}) {
        const MotifResult result = run(graph, k, method, 2);
        EXPECT_EQ(result.motifs.size(), connected_patterns[k]);
        std::map<std::uint32_t, std::uint64_t> found;
        for (const Motif& motif : result.motifs) {
          if (motif.count > 0) found[motif.pattern.key] = static_cast<std::uint64_t>(motif.count);
        }
        EXPECT_EQ(found, truth) << "seed " << seed << ", k " << k;
      }
    }
  }
}

TEST(Motifs, MethodsAgreeOnLargerGraphs) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Graph graph = brute::random_graph(60, 0.08 + 0.05 * static_cast<double>(seed), seed);
    for (unsigned k = 3; k <= 6; ++k) {
      const auto plain = brute::by_least_key(run(graph, k, MotifMethod::extend));
      EXPECT_EQ(brute::by_least_key(run(graph, k, MotifMethod::pairs, 4)), plain);
      if (k <= 5) {
        EXPECT_EQ(brute::by_least_key(run(graph, k, MotifMethod::formulas, 4)), plain);
      }
    }
  }
}

TEST(Motifs, CompleteGraphsHaveOnlyCliques) {
  for (unsigned k = 2; k <= 8; ++k) {
    for (const MotifMethod method : methods(k)) {
      const MotifResult result = run(complete(12), k, method);
      EXPECT_EQ(count_of(result, complete(k)), choose(12, k));
      EXPECT_EQ(total(result), choose(12, k));
    }
  }
}

TEST(Motifs, CyclesHaveOnlyPathsUntilTheyClose) {
  for (unsigned k = 3; k <= 6; ++k) {
    for (const MotifMethod method : methods(k)) {
      EXPECT_EQ(count_of(run(cycle(20), k, method), path(k)), 20U);
      EXPECT_EQ(total(run(cycle(20), k, method)), 20U);
      EXPECT_EQ(count_of(run(cycle(k), k, method), cycle(k)), 1U);
      EXPECT_EQ(total(run(cycle(k), k, method)), 1U);
    }
  }
}

TEST(Motifs, StarsHaveOnlyStars) {
  for (unsigned k = 3; k <= 6; ++k) {
    for (const MotifMethod method : methods(k)) {
      EXPECT_EQ(count_of(run(star(30), k, method), star(k - 1)), choose(30, k - 1));
      EXPECT_EQ(total(run(star(30), k, method)), choose(30, k - 1));
    }
  }
}

TEST(Motifs, TuranGraphsHaveOnlyCompleteMultipartitePatterns) {
  // In the Turán graph of 3 parts of 4, the number of vertices in each part determines the pattern.
  const Graph graph = turan(3, 4);
  for (unsigned k = 3; k <= 6; ++k) {
    std::map<std::uint32_t, std::uint64_t> truth;
    for (unsigned a = 0; a <= 4; ++a) {
      for (unsigned b = 0; b <= 4 && a + b <= k; ++b) {
        const unsigned c = k - a - b;
        if (c > 4 || a == k || b == k || c == k) continue;
        Edges edges;
        for (std::uint32_t v = 0; v < k; ++v) {
          const auto part = [&](std::uint32_t w) { return w < a ? 0 : w < a + b ? 1 : 2; };
          for (std::uint32_t u = 0; u < v; ++u) {
            if (part(u) != part(v)) edges.emplace_back(u, v);
          }
        }
        brute::Vertices all(k);
        for (std::uint32_t v = 0; v < k; ++v) all[v] = v;
        truth[brute::least_key({k, edges}, all)] += choose(4, a) * choose(4, b) * choose(4, c);
      }
    }
    for (const MotifMethod method : methods(k)) EXPECT_EQ(brute::by_least_key(run(graph, k, method)), truth) << k;
  }
}

TEST(Motifs, GridsByClosedFormula) {
  const std::uint64_t r = 7;
  const std::uint64_t c = 9;
  const Graph graph = grid(r, c);
  for (const MotifMethod method : methods(3)) {  // two straight ways, and four bends in every square
    const MotifResult three = run(graph, 3, method);
    EXPECT_EQ(total(three), r * (c - 2) + (r - 2) * c + 4 * (r - 1) * (c - 1));
  }
  for (const MotifMethod method : methods(4)) {
    const MotifResult four = run(graph, 4, method);
    EXPECT_EQ(count_of(four, cycle(4)), (r - 1) * (c - 1));
    EXPECT_EQ(count_of(four, star(3)), 2 * (c - 2) + 2 * (r - 2) + 4 * (r - 2) * (c - 2));  // 3-neighbour rims, then inside
  }
  for (const MotifMethod method : methods(6)) {  // 2 x 3 blocks
    EXPECT_EQ(count_of(run(graph, 6, method), grid(2, 3)), (r - 1) * (c - 2) + (r - 2) * (c - 1));
  }
}

TEST(Motifs, SumsThatHoldInEveryGraph) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Graph graph = brute::random_graph(40, 0.15, seed);
    const SimpleGraph simple = graph.simple();
    std::uint64_t wedges = 0;
    for (std::uint32_t v = 0; v < simple.vertices(); ++v) wedges += choose(simple.degree(v), 2);
    const MotifResult three = run(graph, 3, MotifMethod::pairs);
    EXPECT_EQ(count_of(three, path(3)) + 3 * count_of(three, complete(3)), wedges);
    for (unsigned k = 3; k <= 6; ++k) {  // cliques among the motifs
      const auto cliques = count_cliques(simple, k).counts;
      EXPECT_EQ(count_of(run(graph, k, MotifMethod::pairs), complete(k)), cliques.size() > k ? cliques[k] : 0);
    }
  }
}

TEST(Motifs, EmptyAndTinyGraphsHaveNone) {
  for (unsigned k = 2; k <= 8; ++k) {
    for (const MotifMethod method : methods(k)) {
      for (const Graph& graph : {Graph(0, {}), Graph(5, {}), Graph(k - 1, complete(k - 1).edges)}) {
        const MotifResult result = run(graph, k, method);
        EXPECT_EQ(total(result), 0U);
        EXPECT_TRUE(result.complete);
        EXPECT_EQ(result.motifs.size(), connected_patterns[k]);
      }
    }
  }
}

TEST(Motifs, ReadsLoopsAndRepeatsAsNothing) {
  const SimpleGraph graph(4,
                          std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {1, 0}, {1, 1}, {1, 2}, {0, 2}, {0, 1}});
  EXPECT_EQ(graph.edges(), 3U);
  EXPECT_EQ(graph.degree(3), 0U);
  const MotifResult result = count_motifs(graph, 3);
  EXPECT_EQ(count_of(result, "Bw"), 1U);  // graph6 of the triangle
  EXPECT_EQ(total(result), 1U);
}

TEST(Motifs, RefusesWhatItCannotDo) {
  const SimpleGraph graph = complete(4).simple();
  for (const unsigned k : {0U, 1U, 9U, 1000U}) EXPECT_THROW((void)count_motifs(graph, k), Error) << k;
  MotifOptions options;
  options.method = MotifMethod::formulas;
  EXPECT_THROW((void)count_motifs(graph, 6, options), Error);
  options.growing = Condition::parse("edges > 0");
  EXPECT_THROW((void)count_motifs(graph, 4, options), Error);
  EXPECT_THROW(SimpleGraph(2, std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 2}}), Error);
}

TEST(Motifs, StopsInTimeAndSaysSo) {
  const SimpleGraph graph = brute::random_graph(400, 0.5, 1).simple();
  MotifOptions options;
  options.method = MotifMethod::extend;
  options.run.timeout = std::chrono::milliseconds(50);
  for (const unsigned threads : {1U, 4U}) {
    options.run.threads = threads;
    const MotifResult result = count_motifs(graph, 7, options);
    EXPECT_FALSE(result.complete);
    EXPECT_LT(result.seconds, 20);
  }
  int asked = 0;
  options.run.timeout.reset();
  options.run.threads = 1;
  options.run.stop = [&] { return ++asked == 3; };
  EXPECT_FALSE(count_motifs(graph, 7, options).complete);
  EXPECT_EQ(asked, 3);
}

TEST(Motifs, ByFormulasStopWhereverTheyAre) {
  const SimpleGraph graph = brute::random_graph(300, 0.5, 1).simple();
  for (const unsigned k : {4U, 5U}) {
    MotifOptions options;
    options.method = MotifMethod::formulas;
    options.run.threads = 1;
    int asked = 0;
    const auto stop_at = [&](int last) {
      asked = 0;
      options.run.stop = [&asked, last] { return ++asked == last; };
      return count_motifs(graph, k, options).complete;
    };
    ASSERT_TRUE(stop_at(0));
    for (const int last : {1, 3, 8}) {
      EXPECT_FALSE(stop_at(last));
      EXPECT_EQ(asked, last) << "it goes on, or asks once more";
    }
  }
}

TEST(Motifs, StopWhileTrianglesAreLookedFor) {
  const SimpleGraph graph = brute::random_graph(300, 0.5, 1).simple();
  const mine::OrderedGraph ordered(graph, mine::degree_order(graph));
  Workers workers(1);
  const auto triangles = [&](int stop_at) {
    int asked = 0;
    const MineOptions options{.stop = [&] { return ++asked == stop_at; }};
    mine::RunControl control(options);
    const mine::EdgeIndex index(ordered, false, workers, control);
    std::uint64_t sum = 0;
    for (mine::EdgeId e = 0; e < index.edges(); ++e) sum += index.triangles(e);
    return sum / 3;
  };
  const std::uint64_t all = triangles(0);
  EXPECT_EQ(all, static_cast<std::uint64_t>(count_cliques(graph, 3).counts[3]));
  EXPECT_LT(triangles(1), all / 2) << "of about a million steps";
}

TEST(Motifs, ProgressRisesToTheEnd) {
  const SimpleGraph graph = brute::random_graph(200, 0.2, 1).simple();
  MotifOptions options;
  options.method = MotifMethod::extend;
  options.run.threads = 1;
  double last = 0;
  int told = 0;
  options.run.progress = [&](double share) {
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1);
    last = share;
    ++told;
  };
  (void)count_motifs(graph, 5, options);
  EXPECT_GT(told, 3);
}

TEST(CanonicalForm, IsTheSameForEveryOrderAndTellsPatternsApart) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    const auto n = static_cast<std::uint32_t>(2 + random() % 7);
    const Graph graph = brute::random_graph(n, 0.2 + 0.1 * static_cast<double>(random() % 7), seed);
    brute::Vertices order(n);
    for (std::uint32_t v = 0; v < n; ++v) order[v] = v;
    const Pattern pattern = canonical_pattern(n, brute::key_of(graph, order));
    std::shuffle(order.begin(), order.end(), random);
    EXPECT_EQ(canonical_pattern(n, brute::key_of(graph, order)), pattern) << seed;
    if (n > 6) continue;
    const Graph drawn = brute::graph_of(pattern);
    EXPECT_EQ(brute::least_key(drawn, order), brute::least_key(graph, order)) << seed;
  }
}

TEST(CanonicalForm, HasNamesAndEdges) {
  EXPECT_EQ(canonical_pattern(3, 0b111).graph6(), "Bw");
  EXPECT_EQ(canonical_pattern(3, 0b111).common_name(), "triangle");
  EXPECT_EQ(canonical_pattern(3, 0b111).edges(), (std::vector<std::pair<unsigned, unsigned>>{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(canonical_pattern(4, 0b011111).common_name(), "diamond");
  EXPECT_EQ(canonical_pattern(2, 1).common_name(), "edge");
  EXPECT_THROW((void)canonical_pattern(3, 0b1000), Error);
  EXPECT_THROW((void)canonical_pattern(9, 0), Error);
  const std::map<std::string, Graph> named = {
      {"path", path(6)}, {"star", star(5)}, {"cycle", cycle(6)}, {"clique", complete(6)}};
  for (const auto& [name, graph] : named) {
    brute::Vertices all{0, 1, 2, 3, 4, 5};
    EXPECT_EQ(canonical_pattern(6, brute::key_of(graph, all)).common_name(), name);
  }
}

}  // namespace
}  // namespace deltamatch
