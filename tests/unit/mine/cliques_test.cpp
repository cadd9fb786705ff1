// Compares cliques and quasi-cliques with a search of all subsets, and with closed formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "brute_force.hpp"

namespace deltamatch {
namespace {

using brute::Edges;
using brute::Graph;
using brute::Vertices;

std::uint64_t choose(std::uint64_t n, std::uint64_t k) {
  if (k > n) return 0;
  std::uint64_t result = 1;
  for (std::uint64_t i = 0; i < k; ++i) result = result * (n - i) / (i + 1);
  return result;
}

/// Index m: connected k-subsets that lack m edges.
std::vector<Count> truth(const Graph& graph, unsigned k, unsigned edges) {
  const unsigned pairs = k * (k - 1) / 2;
  std::vector<Count> counts(edges > pairs ? 0 : pairs - std::max(edges, k - 1) + 1, 0);
  brute::for_each_subset(graph.n, k, [&](const Vertices& set) {
    const unsigned has = brute::edges_of(graph, set);
    if (has >= edges && has >= k - 1 && brute::connected(graph, set)) ++counts[pairs - has];
  });
  return counts;
}

std::set<Vertices> sorted_sets(const std::vector<Vertices>& listed) {
  std::set<Vertices> sets;
  for (Vertices set : listed) {
    std::sort(set.begin(), set.end());
    EXPECT_TRUE(sets.insert(set).second) << "listed twice";
  }
  return sets;
}

TEST(Cliques, AgreeWithEverySubsetTried) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const auto n = static_cast<std::uint32_t>(1 + random() % 13);
    const Graph graph = brute::random_graph(n, 0.2 + 0.8 * static_cast<double>(random() % 100) / 100, seed);
    const SimpleGraph simple = graph.simple();
    const MineOptions options{.threads = seed % 3 == 0 ? 3U : 1U};
    std::vector<Count> all(n + 2, 0);
    for (unsigned k = 1; k <= n + 1; ++k) {
      std::set<Vertices> cliques;
      brute::for_each_subset(n, k, [&](const Vertices& set) {
        if (brute::edges_of(graph, set) == k * (k - 1) / 2) cliques.insert(set);
      });
      all[k] = cliques.size();
      const CliqueResult counted = count_cliques(simple, k, options);
      EXPECT_EQ(counted.counts.size() > k ? counted.counts[k] : 0, cliques.size()) << "seed " << seed << ", k " << k;
      std::vector<Vertices> listed;
      const ListResult list = list_cliques(simple, k, std::nullopt, options, [&](std::span<const std::uint32_t> clique) {
        listed.emplace_back(clique.begin(), clique.end());
      });
      EXPECT_EQ(sorted_sets(listed), cliques) << "seed " << seed << ", k " << k;
      EXPECT_EQ(list.listed, cliques.size());
      EXPECT_TRUE(list.complete);
    }
    while (all.size() > 1 && all.back() == 0) all.pop_back();
    EXPECT_EQ(count_cliques(simple, std::nullopt, options).counts, all) << seed;
  }
}

TEST(Cliques, OfOneSizeAndOfAllSizesAgreeOnLargerGraphs) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const SimpleGraph graph = brute::random_graph(200, 0.1 + 0.1 * static_cast<double>(seed), seed).simple();
    const auto all = count_cliques(graph, std::nullopt, {.threads = 3}).counts;
    for (unsigned k = 1; k <= all.size() + 1; ++k) {
      const auto one = count_cliques(graph, k, {.threads = 2}).counts;
      EXPECT_EQ(one.size() > k ? one[k] : 0, k < all.size() ? all[k] : 0) << "seed " << seed << ", k " << k;
    }
  }
}

TEST(Cliques, OfCompleteGraphsAreBinomials) {
  Edges edges;
  for (std::uint32_t v = 0; v < 120; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) edges.emplace_back(u, v);
  }
  const SimpleGraph graph(120, edges);
  const auto all = count_cliques(graph, std::nullopt).counts;
  ASSERT_EQ(all.size(), 121U);
  Count sum = 0;
  for (const Count count : all) sum += count;
  EXPECT_EQ(sum, (Count{1} << 120) - 1);  // every set of vertices but the empty one
  EXPECT_EQ(count_cliques(graph, 5).counts[5], choose(120, 5));
  EXPECT_EQ(count_cliques(graph, 119).counts[119], 120U);
}

TEST(Cliques, BeyondTheLargestCountAreAnError) {
  Edges edges;
  for (std::uint32_t v = 0; v < 140; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) edges.emplace_back(u, v);
  }
  const SimpleGraph graph(140, edges);
  EXPECT_THROW((void)count_cliques(graph, std::nullopt), Error);
  EXPECT_EQ(count_cliques(graph, 139).counts[139], 140U);
}

TEST(Cliques, OfTuranGraphsTakeOneVertexOfEachPart) {
  Edges edges;
  for (std::uint32_t v = 0; v < 50; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) {
      if (u / 5 != v / 5) edges.emplace_back(u, v);
    }
  }
  const auto all = count_cliques(SimpleGraph(50, edges), std::nullopt, {.threads = 2}).counts;
  ASSERT_EQ(all.size(), 11U);
  std::uint64_t power = 1;
  for (unsigned k = 1; k <= 10; ++k) EXPECT_EQ(all[k], choose(10, k) * (power *= 5));
}

std::vector<Count> all_cliques(std::uint32_t vertices, const Edges& edges) {
  return count_cliques(SimpleGraph(vertices, edges), std::nullopt, {.threads = 2}).counts;
}

TEST(Cliques, OfCyclesStarsAndGridsAreVerticesAndEdges) {
  for (const std::uint32_t n : {4U, 5U, 64U, 1001U}) {
    Edges cycle;
    Edges star;
    Edges wheel;  // a star whose leaves are a cycle
    for (std::uint32_t v = 0; v < n; ++v) {
      cycle.emplace_back(v, (v + 1) % n);
      star.emplace_back(v, n);
    }
    wheel = cycle;
    wheel.insert(wheel.end(), star.begin(), star.end());
    EXPECT_EQ(all_cliques(n, cycle), (std::vector<Count>{0, n, n}));
    EXPECT_EQ(all_cliques(n + 1, star), (std::vector<Count>{0, n + 1, n}));
    EXPECT_EQ(all_cliques(n + 1, wheel), (std::vector<Count>{0, n + 1, 2 * n, n}));
    for (const std::uint32_t rows : {2U, 7U}) {
      Edges grid;
      Edges kings;  // diagonals as well: four triangles and a clique of four in each cell
      for (std::uint32_t v = 0; v < rows * n; ++v) {
        const bool right = v % n + 1 < n;
        const bool down = v / n + 1 < rows;
        if (right) grid.emplace_back(v, v + 1);
        if (down) grid.emplace_back(v, v + n);
        if (right && down) kings.emplace_back(v, v + n + 1);
        if (right && down) kings.emplace_back(v + 1, v + n);
      }
      const Count lines = rows * (n - 1) + (rows - 1) * n;
      const Count cells = Count{rows - 1} * (n - 1);
      EXPECT_EQ(all_cliques(rows * n, grid), (std::vector<Count>{0, rows * n, lines}));
      kings.insert(kings.end(), grid.begin(), grid.end());
      EXPECT_EQ(all_cliques(rows * n, kings), (std::vector<Count>{0, rows * n, lines + 2 * cells, 4 * cells, cells}));
    }
  }
  EXPECT_EQ(all_cliques(3, {{0, 1}, {1, 2}, {2, 0}}), (std::vector<Count>{0, 3, 3, 1}));
}

TEST(Cliques, ListUpToTheLimit) {
  const SimpleGraph graph = brute::random_graph(40, 0.8, 1).simple();
  for (const std::uint64_t limit : {0U, 1U, 100U, 1000U}) {
    std::uint64_t listed = 0;
    const ListResult list = list_cliques(graph, 4, limit, {.threads = 2}, [&](std::span<const std::uint32_t>) { ++listed; });
    EXPECT_EQ(listed, limit);
    EXPECT_EQ(list.listed, limit);
    EXPECT_FALSE(list.complete);
  }
  const auto all = static_cast<std::uint64_t>(count_cliques(graph, 4).counts[4]);
  EXPECT_TRUE(list_cliques(graph, 4, all, {}, [](std::span<const std::uint32_t>) {}).complete);
}

// A set may be found in nanoseconds, while the caller takes milliseconds for it.
TEST(Cliques, AndQuasiCliquesAreListedNoFurtherThanAFewPortionsOnceStopped) {
  const SimpleGraph graph = brute::random_graph(60, 0.9, 5).simple();
  for (const unsigned threads : {1U, 3U}) {
    std::atomic<bool> stop = false;
    const MineOptions options{.threads = threads, .stop = [&] { return stop.load(); }};
    const auto held_to = [&](const auto& list) {
      stop = false;
      const ListResult result = list([&](auto&&...) { stop = true; });
      EXPECT_FALSE(result.complete);
      EXPECT_LE(result.listed, 2 * threads * 256);
    };
    held_to([&](const auto& store) { return list_cliques(graph, 4, std::nullopt, options, store); });
    held_to([&](const auto& store) { return list_quasi_cliques(graph, 4, 5, std::nullopt, options, store); });
    held_to([&](const auto& store) { return list_quasi_cliques(graph, 4, 3, std::nullopt, options, store); });
    held_to([&](const auto& store) { return list_subgraphs(graph, 4, {.run = options}, store); });
  }
}

TEST(Cliques, PassOnWhatTheStoreThrows) {
  const SimpleGraph graph = brute::random_graph(40, 0.8, 1).simple();
  const auto full = [](std::span<const std::uint32_t>) { throw Error("store", "full"); };
  for (const unsigned threads : {1U, 4U})
    EXPECT_THROW((void)list_cliques(graph, 4, std::nullopt, {.threads = threads}, full), Error);
}

TEST(Cliques, RefuseNoVerticesAndStopInTime) {
  const SimpleGraph graph = brute::random_graph(500, 0.9, 1).simple();
  EXPECT_THROW((void)count_cliques(graph, 0), Error);
  EXPECT_THROW((void)list_cliques(graph, 0, {}, {}, [](std::span<const std::uint32_t>) {}), Error);
  MineOptions options{.timeout = std::chrono::milliseconds(30)};
  EXPECT_FALSE(count_cliques(graph, std::nullopt, options).complete);
  EXPECT_FALSE(list_cliques(graph, 20, {}, options, [](std::span<const std::uint32_t>) {}).complete);
}

TEST(QuasiCliques, AgreeWithEverySubsetTried) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const auto n = static_cast<std::uint32_t>(1 + random() % 10);
    const Graph graph = brute::random_graph(n, 0.2 + 0.8 * static_cast<double>(random() % 100) / 100, seed);
    const MineOptions options{.threads = seed % 3 == 0 ? 3U : 1U};
    for (unsigned k = 2; k <= 7; ++k) {
      for (unsigned edges = 0; edges <= k * (k - 1) / 2 + 1; edges += 1 + edges % 3) {
        const auto expected = truth(graph, k, edges);
        EXPECT_EQ(count_quasi_cliques(graph.simple(), k, edges, options).by_missing, expected)
            << "seed " << seed << ", k " << k << ", edges " << edges;
        std::vector<Vertices> listed;
        const ListResult list = list_quasi_cliques(
            graph.simple(), k, edges, std::nullopt, options, [&](std::span<const std::uint32_t> set, unsigned missing) {
              listed.emplace_back(set.begin(), set.end());
              EXPECT_EQ(brute::edges_of(graph, listed.back()), k * (k - 1) / 2 - missing);
            });
        Count sum = 0;
        for (const Count count : expected) sum += count;
        EXPECT_EQ(list.listed, sum);
        EXPECT_EQ(sorted_sets(listed).size(), listed.size());
      }
    }
  }
}

TEST(QuasiCliques, AreTheMotifsWithSoManyEdges) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const SimpleGraph graph = brute::random_graph(50, 0.3, seed).simple();
    for (unsigned k = 3; k <= 6; ++k) {
      for (const double density : {0.0, 0.5, 0.7, 0.9, 1.0}) {
        const unsigned edges = edges_of_density(k, density);
        Count motifs = 0;
        for (const Motif& motif : count_motifs(graph, k, {.method = MotifMethod::pairs}).motifs) {
          if (motif.pattern.edges().size() >= edges) motifs += motif.count;
        }
        Count quasi = 0;
        for (const Count count : count_quasi_cliques(graph, k, edges, {.threads = 2}).by_missing) quasi += count;
        EXPECT_EQ(quasi, motifs) << "k " << k << ", density " << density;
      }
    }
  }
}

TEST(QuasiCliques, AreCountedAsTheyAreListed) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const SimpleGraph graph = brute::random_graph(60, 0.05 + 0.05 * static_cast<double>(seed), seed).simple();
    for (unsigned k = 2; k <= 5; ++k) {
      for (unsigned edges = k - 1; edges <= k * (k - 1) / 2; ++edges) {
        std::vector<Count> listed(k * (k - 1) / 2 - edges + 1, 0);
        list_quasi_cliques(graph, k, edges, std::nullopt, {},
                           [&](std::span<const std::uint32_t>, unsigned missing) { ++listed[missing]; });
        EXPECT_EQ(count_quasi_cliques(graph, k, edges, {.threads = 2}).by_missing, listed) << "k " << k << ", edges " << edges;
      }
    }
  }
}

TEST(QuasiCliques, StopWhereverTheyAreCounted) {
  const SimpleGraph graph = brute::random_graph(300, 0.5, 1).simple();
  for (unsigned k = 3; k <= 6; ++k) {
    const QuasiCliqueResult whole = count_quasi_cliques(graph, std::min(k, 4U), 2, {});
    EXPECT_TRUE(whole.complete);
    const QuasiCliqueResult stopped = count_quasi_cliques(graph, k, k, {.stop = [] { return true; }});
    EXPECT_FALSE(stopped.complete) << k;
  }
}

TEST(QuasiCliques, OfLargeSizes) {
  Edges edges;  // complete graph of 16 without a perfect matching: every k-set lacks as many edges as it holds matched pairs
  for (std::uint32_t v = 0; v < 16; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) {
      if (u / 2 != v / 2) edges.emplace_back(u, v);
    }
  }
  const SimpleGraph graph(16, edges);
  const auto counts = count_quasi_cliques(graph, 10, 45 - 5).by_missing;
  ASSERT_EQ(counts.size(), 6U);
  for (unsigned pairs = 2; pairs <= 5; ++pairs) {
    const std::uint64_t single = 10 - 2 * pairs;
    EXPECT_EQ(counts[pairs], choose(8, pairs) * choose(8 - pairs, single) << single) << pairs;
  }
  EXPECT_EQ(counts[0] + counts[1], 0U);
  EXPECT_THROW((void)count_quasi_cliques(graph, 1, 0), Error);
  EXPECT_THROW((void)count_quasi_cliques(graph, max_quasi_clique + 1, 0), Error);
}

TEST(QuasiCliques, BeyondTheLargestCountAreAnError) {
  Edges edges;
  for (std::uint32_t v = 0; v < 460; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) edges.emplace_back(u, v);
  }
  EXPECT_THROW((void)count_quasi_cliques(SimpleGraph(460, edges), 24, 276), Error);
}

TEST(QuasiCliques, DensitiesAreExactWhereDecimalsAreNot) {
  EXPECT_EQ(edges_of_density(5, 0.7), 7U);
  EXPECT_EQ(edges_of_density(5, 0.71), 8U);
  EXPECT_EQ(edges_of_density(6, 0.6), 9U);
  EXPECT_EQ(edges_of_density(10, 0.2), 9U);
  EXPECT_EQ(edges_of_density(4, 1.0), 6U);
  EXPECT_EQ(edges_of_density(4, 0.0), 0U);
}

}  // namespace
}  // namespace deltamatch
