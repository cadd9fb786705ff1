// Compares the counter with trying every assignment of a small pattern's vertices.
#include <gtest/gtest.h>

#include <random>

#include "counter.hpp"

namespace counter {
namespace {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
const auto no_end = Clock::time_point::max();

/// Counts a pattern by trying all images of its vertices; the last one changes fastest.
Number try_all(const std::vector<std::uint32_t>& labels, const Edges& edges, const Pattern& pattern) {
  const std::size_t n = labels.size();
  std::vector<bool> joined(n * n, false);
  for (const auto& [u, v] : edges) joined[u * n + v] = joined[v * n + u] = true;
  std::vector<std::size_t> image(pattern.size(), 0);
  const auto met = [&] {
    for (std::size_t v = 0; v < image.size(); ++v) {
      if (labels[image[v]] != pattern.labels[v]) return false;
      for (std::size_t u = 0; u < v; ++u) {
        const bool near = joined[image[u] * n + image[v]], same = image[u] == image[v];
        const Pair pair = pattern.pair(u, v);
        if ((pair == Pair::joined && !near) || (pair == Pair::distinct && same) || (pair == Pair::apart && (near || same)))
          return false;
      }
    }
    return true;
  };
  Number count = 0;
  while (true) {
    count += met();
    std::size_t v = image.size();
    while (v > 0 && ++image[v - 1] == n) image[--v] = 0;
    if (v == 0) return count;
  }
}

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool one_in(std::uint32_t bound) { return below(bound) == 0; }

  std::vector<std::uint32_t> labels(std::uint32_t size, std::uint32_t kinds) {
    std::vector<std::uint32_t> labels(size);
    for (std::uint32_t& label : labels) label = below(kinds);
    return labels;
  }
  /// A random connected pattern: each vertex is joined to an earlier one, and other pairs are of any kind.
  Pattern pattern(std::uint32_t size, std::uint32_t kinds) {
    Pattern pattern(labels(size, kinds));
    for (std::uint32_t v = 1; v < size; ++v) {
      for (std::uint32_t u = 0; u < v; ++u) pattern.set(u, v, static_cast<Pair>(below(4)));
      pattern.set(below(v), v, Pair::joined);
    }
    return pattern;
  }
  Edges edges(std::uint32_t size, std::uint32_t sparseness) {
    Edges edges;
    for (std::uint32_t v = 0; v < size; ++v) {
      for (std::uint32_t u = 0; u < v; ++u) {
        if (one_in(sparseness)) edges.emplace_back(one_in(2) ? std::pair(u, v) : std::pair(v, u));
      }
    }
    return edges;
  }

 private:
  std::minstd_rand random_;
};

TEST(Counter, CountsWhatTryingAllAssignmentsDoes) {
  Number found = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    Draw draw(seed + 1);
    const std::uint32_t size = 1 + draw.below(8), kinds = 1 + draw.below(3);
    const auto labels = draw.labels(size, kinds);
    const Edges edges = draw.edges(size, 1 + draw.below(3));
    const Graph graph(labels, edges);
    for (const std::uint64_t steps : {std::uint64_t{0}, few_steps}) {  // with 0 steps, every demand that can be replaced is
      Counter counter(graph, steps);
      for (std::uint32_t i = 0; i < 8; ++i) {
        const Pattern pattern = draw.pattern(2 + draw.below(4), kinds);
        const Number expected = try_all(labels, edges, pattern);
        ASSERT_EQ(to_string(counter.count(pattern, no_end)), to_string(expected)) << "seed " << seed << ", pattern " << i;
        found += expected;
      }
    }
  }
  EXPECT_GT(found, 10'000);
}

/// A path of distinct vertices fits into a complete graph in n (n-1) … ways. None of them is induced.
TEST(Counter, CountsPathsInCompleteGraphsByFormula) {
  constexpr std::uint32_t n = 16;
  Edges edges;
  for (std::uint32_t v = 0; v < n; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) edges.emplace_back(u, v);
  }
  const Graph graph(std::vector<std::uint32_t>(n, 0), edges);
  Counter counter(graph);
  Edges path;
  Number expected = n;
  for (std::uint32_t length = 1; length < 8; ++length) {
    path.emplace_back(length - 1, length);
    expected *= n - length;
    const std::vector<std::uint32_t> labels(length + 1, 0);
    EXPECT_EQ(to_string(counter.count(embedding_pattern(labels, path, false), no_end)), to_string(expected));
    EXPECT_EQ(to_string(counter.count(embedding_pattern(labels, path, true), no_end)), length == 1 ? to_string(expected) : "0");
  }
}

/// Leaves of a star of 33 vertices give falling factorials, which exceed 64 bits for 14 leaves. A count beyond 127 bits is an
/// error.
TEST(Counter, CountsExactlyBeyond64BitsAndRefusesWhatIsBeyond127) {
  constexpr std::uint32_t n = 33;
  Edges edges;
  for (std::uint32_t v = 1; v < n; ++v) edges.emplace_back(0, v);
  const Graph graph(std::vector<std::uint32_t>(n, 0), edges);
  Counter counter(graph);
  const Edges four(edges.begin(), edges.begin() + 4);
  Pattern homomorphisms(std::vector<std::uint32_t>(16, 0));
  for (std::uint32_t v = 1; v < 16; ++v) homomorphisms.set(0, v, Pair::joined);
  Number power = 1;
  for (std::uint32_t v = 1; v < 16; ++v) power *= 32;
  EXPECT_EQ(to_string(counter.count(homomorphisms, no_end)), to_string(power + 32));
  EXPECT_EQ(to_string(power + 32), "37778931862957161709600");
  Pattern many(std::vector<std::uint32_t>(30, 0));
  for (std::uint32_t v = 1; v < 30; ++v) many.set(0, v, Pair::joined);
  EXPECT_THROW((void)counter.count(many, no_end), std::overflow_error);
  EXPECT_EQ(to_string(counter.count(embedding_pattern(std::vector<std::uint32_t>(5, 0), four, true), no_end)), "863040");
}

TEST(Counter, EndsInTime) {
  Draw draw(7);
  const Graph graph(std::vector<std::uint32_t>(300, 0), draw.edges(300, 2));
  Counter counter(graph);
  const Pattern pattern = draw.pattern(12, 1);
  const auto end = Clock::now() + std::chrono::milliseconds(50);
  EXPECT_THROW((void)counter.count(pattern, end), TimeUp);
  EXPECT_LT((Clock::now() - end).count(), 2'000'000'000);
}

TEST(Counter, RefusesPatternsThatAreNotConnected) {
  const Graph graph({0, 0, 0}, {{0, 1}, {1, 2}});
  EXPECT_THROW((void)Counter(graph).count(Pattern({0, 0}), no_end), std::invalid_argument);
}

TEST(Counter, WritesNumbers) {
  EXPECT_EQ(to_string(0), "0");
  EXPECT_EQ(to_string(-12), "-12");
  EXPECT_EQ(to_string(Number{1} << 100), "1267650600228229401496703205376");
}

}  // namespace
}  // namespace counter
