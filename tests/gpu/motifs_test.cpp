// Compares patterns counted on a device with those of the CPU.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "deltamatch/mine.hpp"
#include "gpu/streams.hpp"
#include "gpu/support.hpp"
#include "unit/mine/brute_force.hpp"

namespace deltamatch {
namespace {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

template <class Joined>
SimpleGraph graph_of(std::uint32_t n, Joined&& joined) {
  Edges edges;
  for (std::uint32_t v = 0; v < n; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) {
      if (joined(u, v)) edges.emplace_back(u, v);
    }
  }
  return {n, edges};
}

void expect_equal(const SimpleGraph& graph, unsigned k, MotifOptions options, const std::shared_ptr<Backend>& backend) {
  const MotifResult expected = count_motifs(graph, k, options);
  options.run.backend = backend;
  const MotifResult got = count_motifs(graph, k, options);
  EXPECT_TRUE(got.complete);
  EXPECT_TRUE(got.kernel_seconds.has_value());
  ASSERT_EQ(got.motifs.size(), expected.motifs.size());
  for (std::size_t i = 0; i < expected.motifs.size(); ++i) {
    EXPECT_TRUE(got.motifs[i].count == expected.motifs[i].count)
        << "k " << k << ", " << expected.motifs[i].pattern.graph6() << ", vertices " << graph.vertices() << ": "
        << to_string(got.motifs[i].count) << ", not " << to_string(expected.motifs[i].count);
  }
}

TEST(GpuMotifs, OfSmallGraphs) {
  DELTAMATCH_NEEDS_GPU();
  const auto backend = make_gpu_backend();
  for (std::uint64_t seed = 0; seed < test::times<std::uint64_t>(60, 4); ++seed) {
    std::mt19937_64 random(seed);
    const unsigned k = 2 + seed % 7;
    const auto n = static_cast<std::uint32_t>(1 + random() % (k < 6 ? 120 : 26));
    const SimpleGraph graph = brute::random_graph(n, 0.05 + 0.4 * static_cast<double>(random() % 100) / 100, seed).simple();
    for (const MotifMethod method : {MotifMethod::automatic, MotifMethod::pairs, MotifMethod::extend}) {
      expect_equal(graph, k, {.method = method}, backend);
    }
  }
}

TEST(GpuMotifs, OfKnownGraphs) {
  DELTAMATCH_NEEDS_GPU();
  const auto backend = make_gpu_backend();
  const std::vector<SimpleGraph> graphs = {
      graph_of(18, [](auto, auto) { return true; }),                                             // complete
      graph_of(500, [](auto u, auto v) { return v == u + 1 || (u == 0 && v == 499); }),          // cycle
      graph_of(30, [](auto u, auto) { return u == 0; }),                                         // star
      graph_of(400, [](auto u, auto v) { return v == u + 20 || (v == u + 1 && v % 20 != 0); }),  // grid
      graph_of(20, [](auto u, auto v) { return u % 5 != v % 5; }),                               // Turán graph
  };
  for (const SimpleGraph& graph : graphs) {
    for (unsigned k = 3; k <= test::times(8U, 5U); ++k) expect_equal(graph, k, {}, backend);
  }
}

TEST(GpuMotifs, OfGraphsWithHubs) {
  DELTAMATCH_NEEDS_GPU();
  const auto backend = make_gpu_backend();
  const SimpleGraph large = test::brief() ? brute::skewed_graph(5000, 20000, 2, 1) : brute::skewed_graph(100000, 500000, 2, 1);
  for (unsigned k = 3; k <= 4; ++k) expect_equal(large, k, {}, backend);
  const SimpleGraph small = brute::skewed_graph(2000, test::times(6000, 3000), 2, 2);
  expect_equal(small, 5, {}, backend);
  expect_equal(small, 4, {.method = MotifMethod::extend}, backend);
  const SimpleGraph sparse = brute::skewed_graph(1000, 1600, 1.5, 3);
  expect_equal(sparse, 6, {}, backend);
}

TEST(GpuMotifs, KeepToConditions) {
  DELTAMATCH_NEEDS_GPU();
  const auto backend = make_gpu_backend();
  const SimpleGraph graph = brute::skewed_graph(300, test::times(1200, 500), 1.3, 4);
  for (const char* text : {"triangles = 0", "missing <= 3", "max_degree <= 3 and leaves > 0", "edges < 0"}) {
    const Condition condition = Condition::parse(text);
    for (unsigned k = 4; k <= 5; ++k) {
      expect_equal(graph, k, {.method = MotifMethod::pairs, .where = condition}, backend);
      expect_equal(graph, k, {.where = condition, .growing = Condition::parse("max_degree <= 3")}, backend);
      expect_equal(graph, k, {.growing = condition}, backend);
    }
  }
}

TEST(GpuMotifs, WithLittleMemoryAndOnSeveralDevices) {
  DELTAMATCH_NEEDS_GPU();
  const SimpleGraph graph = brute::skewed_graph(3000, 12000, 1.7, 5);
  const MotifResult expected = count_motifs(graph, 4);
  for (const std::size_t bytes : {std::size_t{1} << 12, std::size_t{1} << 21, std::size_t{1} << 24}) {
    const MotifResult got = count_motifs(graph, 4, {.run = {.backend = make_gpu_backend({.memory = bytes})}});
    EXPECT_EQ(got.kernel_seconds.has_value(), bytes > std::size_t{1} << 12);
    for (std::size_t i = 0; i < expected.motifs.size(); ++i) {
      EXPECT_TRUE(got.motifs[i].count == expected.motifs[i].count) << bytes;
    }
  }
  std::vector<int> devices = gpu_devices();
  if (devices.size() == 1) devices.push_back(0);
  expect_equal(graph, 4, {}, make_gpu_backend({.devices = devices, .memory = std::size_t{1} << 30}));
}

// A run asks before each launch whether to stop. It has dozens of launches here.
TEST(GpuMotifs, AStopLeavesLowerBounds) {
  DELTAMATCH_NEEDS_GPU();
  DELTAMATCH_NOT_WHERE_BRIEF();
  const auto backend = make_gpu_backend();
  const SimpleGraph graph = brute::skewed_graph(20000, 160000, 2, 6);
  const MotifResult all = count_motifs(graph, 5);
  int asked = 0;
  const auto stop_at = [&](int calls) {
    asked = 0;
    return count_motifs(graph, 5, {.run = {.stop = [&asked, calls] { return asked++ >= calls; }, .backend = backend}});
  };
  ASSERT_TRUE(stop_at(std::numeric_limits<int>::max()).complete);
  const int calls = asked;
  ASSERT_GE(calls, 8) << "too few launches to stop in between";
  int cut_short = 0;
  int counted = 0;
  for (int i = 0; i < 8; ++i) {
    const MotifResult got = stop_at(calls * i / 10);
    bool some = false;
    bool less = false;
    for (std::size_t m = 0; m < all.motifs.size(); ++m) {
      EXPECT_TRUE(got.complete ? got.motifs[m].count == all.motifs[m].count : got.motifs[m].count <= all.motifs[m].count)
          << all.motifs[m].pattern.graph6();
      some |= got.motifs[m].count > 0;
      less |= got.motifs[m].count < all.motifs[m].count;
    }
    cut_short += !got.complete && less ? 1 : 0;
    counted += !got.complete && less && some ? 1 : 0;
  }
  EXPECT_GE(cut_short, 5);
  EXPECT_GE(counted, 3);
}

}  // namespace
}  // namespace deltamatch
