// Compares cliques counted on a device with those of the CPU.
#include <gtest/gtest.h>

#include <random>
#include <span>

#include "deltamatch/mine.hpp"
#include "gpu/streams.hpp"
#include "gpu/support.hpp"
#include "unit/mine/brute_force.hpp"

namespace deltamatch {
namespace {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// A graph of `n` vertices. Each pair is adjacent with this probability.
SimpleGraph random_graph(std::uint32_t n, double density, std::uint64_t seed) {
  return brute::random_graph(n, density, seed).simple();
}

SimpleGraph complete_multipartite(std::uint32_t parts, std::uint32_t size) {
  Edges edges;
  for (std::uint32_t v = 0; v < parts * size; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) {
      if (u % parts != v % parts) edges.emplace_back(u, v);
    }
  }
  return {parts * size, edges};
}

void expect_equal(const SimpleGraph& graph, std::optional<unsigned> k, const std::shared_ptr<Backend>& backend) {
  const CliqueResult expected = count_cliques(graph, k);
  const CliqueResult got = count_cliques(graph, k, {.backend = backend});
  ASSERT_TRUE(got.kernel_seconds.has_value());
  ASSERT_EQ(got.counts.size(), expected.counts.size()) << "k " << k.value_or(0);
  for (std::size_t size = 0; size < expected.counts.size(); ++size) {
    EXPECT_TRUE(got.counts[size] == expected.counts[size])
        << "size " << size << ", k " << k.value_or(0) << ": " << to_string(got.counts[size]) << ", not "
        << to_string(expected.counts[size]);
  }
}

constexpr unsigned most = 9;

TEST(GpuCliques, OfSmallGraphs) {
  DELTAMATCH_NEEDS_GPU();
  const auto backend = make_gpu_backend();
  for (std::uint64_t seed = 0; seed < test::times<std::uint64_t>(60, 2); ++seed) {
    std::mt19937_64 random(seed);
    const auto n = static_cast<std::uint32_t>(1 + random() % 150);
    const SimpleGraph graph = random_graph(n, 0.05 + 0.4 * static_cast<double>(random() % 100) / 100, seed);
    expect_equal(graph, std::nullopt, backend);
    for (unsigned k = 1; k <= most; ++k) expect_equal(graph, k, backend);
  }
}

TEST(GpuCliques, OfGraphsWithADenseCore) {
  DELTAMATCH_NEEDS_GPU();
  const auto backend = make_gpu_backend();
  const SimpleGraph graph = test::brief() ? brute::skewed_graph(5000, 20000, 2, 1) : brute::skewed_graph(200000, 2000000, 3, 1);
  for (unsigned k = 1; k <= most; ++k) expect_equal(graph, k, backend);
  expect_equal(graph, std::nullopt, backend);
}

// Later lists of up to 64, 128, 256 and 512 members, and longer ones.
TEST(GpuCliques, InSpacesOfEveryWidth) {
  DELTAMATCH_NEEDS_GPU();
  const auto backend = make_gpu_backend();
  constexpr std::uint32_t all[] = {33, 65, 66, 110, 129, 130, 257, 258, 513, 514};
  constexpr std::uint32_t few[] = {33, 66, 130, 258, 514};
  for (const std::uint32_t n : test::times<std::span<const std::uint32_t>>(all, few)) {
    const SimpleGraph complete = complete_multipartite(n, 1);
    for (const unsigned k : {2U, 3U, 4U, 5U, 8U}) {
      if (k <= test::times(8U, 3U)) expect_equal(complete, k, backend);
    }
    if (n <= test::times(110U, 33U)) expect_equal(complete, std::nullopt, backend);
  }
  for (const std::uint32_t n : {200U, 900U, 3000U}) {
    if (n > test::times(3000U, 200U)) break;
    const SimpleGraph bipartite = complete_multipartite(2, n);
    expect_equal(bipartite, 3, backend);
    expect_equal(random_graph(n / 2, 0.1, n), 4, backend);
  }
}

TEST(GpuCliques, OfTuranGraphs) {
  DELTAMATCH_NEEDS_GPU();
  const auto backend = make_gpu_backend();
  for (const std::uint32_t parts : {3U, 8U, 10U}) {
    if (parts > test::times(10U, 3U)) break;
    const SimpleGraph graph = complete_multipartite(parts, 5);
    for (unsigned k = 1; k <= most; ++k) expect_equal(graph, k, backend);
    expect_equal(graph, std::nullopt, backend);
  }
}

TEST(GpuCliques, WithLittleMemory) {
  DELTAMATCH_NEEDS_GPU();
  const SimpleGraph graph = brute::skewed_graph(20000, 400000, 2, 2);
  for (const std::size_t bytes : {std::size_t{1} << 12, std::size_t{1} << 20, std::size_t{1} << 24}) {
    const auto backend = make_gpu_backend({.memory = bytes});
    for (const auto k : {std::optional(4U), std::optional(6U), std::optional<unsigned>()}) expect_equal(graph, k, backend);
  }
}

TEST(GpuCliques, OnSeveralDevices) {
  DELTAMATCH_NEEDS_GPU();
  std::vector<int> devices = gpu_devices();
  if (devices.size() == 1) devices.push_back(0);
  const auto backend = make_gpu_backend({.devices = devices});
  const SimpleGraph graph = test::brief() ? brute::skewed_graph(5000, 30000, 2, 3) : brute::skewed_graph(50000, 1000000, 2, 3);
  for (const auto k : {std::optional(3U), std::optional(5U), std::optional<unsigned>()}) expect_equal(graph, k, backend);
}

TEST(GpuCliques, AStopLeavesLowerBounds) {
  DELTAMATCH_NEEDS_GPU();
  DELTAMATCH_NOT_WHERE_BRIEF();
  const auto backend = make_gpu_backend({.memory = std::size_t{1} << 26});
  const SimpleGraph graph = random_graph(400, 0.4, 4);
  const Count all = count_cliques(graph, 7).counts.at(7);
  for (int calls = 0; calls < 30; calls += 3) {
    int asked = 0;
    const CliqueResult got =
        count_cliques(graph, 7, {.threads = 1, .stop = [&] { return asked++ >= calls; }, .backend = backend});
    EXPECT_EQ(got.complete, asked <= calls);
    EXPECT_TRUE((got.counts.size() > 7 ? got.counts[7] : 0) <= all) << calls;
  }
}

void expect_equal_sets(const SimpleGraph& graph, unsigned k, unsigned budget, const std::shared_ptr<Backend>& backend) {
  const unsigned edges = k * (k - 1) / 2 - budget;
  const QuasiCliqueResult expected = count_quasi_cliques(graph, k, edges);
  const QuasiCliqueResult got = count_quasi_cliques(graph, k, edges, {.backend = backend});
  EXPECT_TRUE(got.kernel_seconds.has_value());
  EXPECT_TRUE(got.by_missing == expected.by_missing) << "k " << k << ", budget " << budget;
}

TEST(GpuQuasiCliques, OfSmallGraphs) {
  DELTAMATCH_NEEDS_GPU();
  const auto backend = make_gpu_backend();
  for (std::uint64_t seed = 0; seed < test::times<std::uint64_t>(25, 2); ++seed) {
    std::mt19937_64 random(seed);
    const SimpleGraph graph = random_graph(static_cast<std::uint32_t>(5 + random() % 40), 0.5, seed);
    for (unsigned k = 3; k <= 7; ++k) {
      for (unsigned budget = 0; budget + 2 <= k && budget < 4; ++budget) expect_equal_sets(graph, k, budget, backend);
    }
  }
}

// Groups of 1, 8 and 32 lanes.
TEST(GpuQuasiCliques, InSpacesOfEveryWidth) {
  DELTAMATCH_NEEDS_GPU();
  const auto backend = make_gpu_backend();
  constexpr std::uint32_t all[] = {60, 120, 240, 500, 1000, 2500};
  constexpr std::uint32_t few[] = {60, 240};
  for (const std::uint32_t n : test::times<std::span<const std::uint32_t>>(all, few)) {
    std::mt19937_64 random(n);
    Edges edges;
    for (std::uint32_t v = 0; v < n; ++v) {
      for (std::uint32_t u = v < 10 ? 0 : v - 10; u < v; ++u) {
        if (random() % 3 != 0) edges.emplace_back(u, v);
      }
      edges.emplace_back(v, n);
    }
    const SimpleGraph graph(n + 1, edges);
    expect_equal_sets(graph, 4, 1, backend);
    expect_equal_sets(graph, 4, 2, backend);
    expect_equal_sets(graph, 5, 1, backend);
  }
}

TEST(GpuQuasiCliques, WithLittleMemoryAndOnSeveralDevices) {
  DELTAMATCH_NEEDS_GPU();
  const SimpleGraph graph = brute::skewed_graph(3000, 40000, 1.5, 5);
  for (const std::size_t bytes : {std::size_t{1} << 12, std::size_t{1} << 20, std::size_t{1} << 24}) {
    expect_equal_sets(graph, 5, 1, make_gpu_backend({.memory = bytes}));
  }
  expect_equal_sets(graph, 5, 2, make_gpu_backend({.devices = {0, 0}}));
}

}  // namespace
}  // namespace deltamatch
