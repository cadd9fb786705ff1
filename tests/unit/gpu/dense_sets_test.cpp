// Counts cliques on the host by the steps of the kernels, and compares them with the CPU's. Covers every width, little memory,
// several devices, and stops.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "deltamatch/mine.hpp"
#include "gpu/mine/device_dense_sets.hpp"
#include "gpu/mine/node_stack.hpp"
#include "host_dense_ops.hpp"
#include "match/backend.hpp"
#include "mine/cliques.hpp"
#include "mine/dense_spaces.hpp"
#include "unit/engine/idle_backend.hpp"
#include "unit/mine/brute_force.hpp"

namespace deltamatch::gpu {
namespace {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

SimpleGraph random_graph(std::uint32_t n, double density, std::uint64_t seed) {
  return brute::random_graph(n, density, seed).simple();
}

/// `parts` parts of `size` vertices each. Vertices are adjacent iff their parts differ.
SimpleGraph turan(std::uint32_t parts, std::uint32_t size) {
  Edges edges;
  for (std::uint32_t v = 0; v < parts * size; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) {
      if (u % parts != v % parts) edges.emplace_back(u, v);
    }
  }
  return {parts * size, edges};
}

struct Counted {
  std::vector<Count> counts;
  bool complete;
};

/// `figures`: one for each device.
Counted count(const SimpleGraph& graph, std::optional<unsigned> k, std::vector<HostDenseOps::Figures>& figures,
              const DenseSettings& settings = {}, const MineOptions& options = {.threads = 1}) {
  std::vector<MakeDenseOps> devices;
  for (auto& each : figures) devices.emplace_back([&each] { return std::make_unique<HostDenseOps>(each); });
  const auto counter = make_dense_set_counter(std::move(devices), settings);
  mine::RunControl control(options);
  Workers workers(1);
  auto counts = mine::clique_counts(graph, k, workers, control, counter.get());
  for (const auto& each : figures) EXPECT_EQ(each.used, 0) << "memory was not given back";
  return {std::move(counts), !control.stopped()};
}

Counted count(const SimpleGraph& graph, std::optional<unsigned> k, const DenseSettings& settings = {}) {
  std::vector<HostDenseOps::Figures> figures(1);
  return count(graph, k, figures, settings);
}

/// Removes zeros from the end.
std::vector<Count> trimmed(std::vector<Count> counts) {
  while (!counts.empty() && counts.back() == 0) counts.pop_back();
  return counts;
}

void expect_equal(const SimpleGraph& graph, std::optional<unsigned> k, const std::vector<Count>& got) {
  const std::vector<Count> expected = trimmed(count_cliques(graph, k, {.threads = 1}).counts);
  const std::vector<Count> trim = trimmed(got);
  ASSERT_EQ(trim.size(), expected.size()) << "k " << k.value_or(0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(trim[i] == expected[i]) << "size " << i << ", k " << k.value_or(0) << ": " << to_string(trim[i]) << ", not "
                                        << to_string(expected[i]);
  }
}

TEST(DenseSets, CliquesOfRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const SimpleGraph graph = random_graph(static_cast<std::uint32_t>(1 + random() % 60),
                                           0.05 + 0.6 * static_cast<double>(random() % 100) / 100, seed);
    expect_equal(graph, std::nullopt, count(graph, std::nullopt).counts);
    for (unsigned k = 1; k <= 9; ++k) expect_equal(graph, k, count(graph, k).counts);
  }
}

// One vertex of each graph has so many later neighbours that its rows take 2, 4, 8, 32 or 128 words.
TEST(DenseSets, CliquesInSpacesOfEveryWidth) {
  for (const std::uint32_t n : {66U, 129U, 200U, 257U, 400U, 600U, 2100U}) {
    Edges edges;
    std::mt19937_64 random(n);
    for (std::uint32_t v = 0; v < n; ++v) {
      for (std::uint32_t u = 0; u < v; ++u) {
        if (u / 6 == v / 6 || (u + v) % 97 == 0 || random() % n < 3) edges.emplace_back(u, v);
      }
    }
    for (std::uint32_t v = 0; v < n; ++v) edges.emplace_back(v, n);  // a hub
    for (std::uint32_t v = 0; v < n / 2; ++v) {
      for (std::uint32_t leaf = 0; leaf < 2; ++leaf) edges.emplace_back(v, n + 1 + 2 * v + leaf);
    }
    const SimpleGraph graph(2 * n + 2, edges);
    for (const auto k :
         {std::optional<unsigned>(), std::optional(3U), std::optional(4U), std::optional(5U), std::optional(7U)}) {
      expect_equal(graph, k, count(graph, k).counts);
    }
  }
}

TEST(DenseSets, CliquesOfCompleteAndTuranGraphs) {
  // Every clique size of complete graphs whose rows have one word, some and many.
  for (const std::uint32_t n : {1U, 2U, 3U, 31U, 64U, 65U, 66U, 110U}) {
    const SimpleGraph graph = turan(n, 1);
    expect_equal(graph, std::nullopt, count(graph, std::nullopt).counts);
    for (unsigned k = 1; k <= std::min(n + 1, 9U); ++k) expect_equal(graph, k, count(graph, k).counts);
  }
  const SimpleGraph wide = turan(520, 1);
  expect_equal(wide, 5, count(wide, 5).counts);
  const SimpleGraph parts = turan(10, 4);
  expect_equal(parts, std::nullopt, count(parts, std::nullopt).counts);
  for (unsigned k = 2; k <= 11; ++k) expect_equal(parts, k, count(parts, k).counts);
}

TEST(DenseSets, LittleMemoryChangesNoCount) {
  const SimpleGraph graph = random_graph(110, 0.6, 5);
  bool deferred = false;
  bool left = false;
  for (const std::size_t bytes : {1U << 10, 1U << 14, 1U << 16, 1U << 17, 1U << 18, 1U << 19, 1U << 20}) {
    for (const auto k : {std::optional<unsigned>(), std::optional(4U), std::optional(6U)}) {
      std::vector<HostDenseOps::Figures> figures(1);
      figures[0].limit = bytes;
      expect_equal(graph, k, count(graph, k, figures, {.children = 1}).counts);
      deferred |= figures[0].deferred > 0;
      left |= figures[0].launches == 0;
    }
  }
  EXPECT_TRUE(deferred) << "no node ever found too little room";
  EXPECT_TRUE(left) << "nothing was ever left to the caller";
  for (std::size_t refused = 1; refused < 40; ++refused) {
    std::vector<HostDenseOps::Figures> figures(1);
    figures[0].refused = refused;
    expect_equal(graph, 5, count(graph, 5, figures).counts);
  }
}

TEST(DenseSets, SeveralDevicesShareTheRoots) {
  const SimpleGraph graph = random_graph(150, 0.3, 6);
  for (const auto k : {std::optional<unsigned>(), std::optional(5U)}) {
    std::vector<HostDenseOps::Figures> figures(3);
    figures[2].limit = 1000;  // too little for anything
    expect_equal(graph, k, count(graph, k, figures).counts);
    EXPECT_GT(figures[0].launches + figures[1].launches, 2);
    EXPECT_EQ(figures[2].launches, 0);
  }
}

/// Every launch counts the most that 64 bits hold.
class FullDenseOps final : public HostDenseOps {
 public:
  FullDenseOps(Figures& figures, std::uint64_t& launches) : HostDenseOps(figures), launches_(&launches) {}
  void evaluate(const CliqueWork& work, Width) override {
    ++*launches_;
    work.output.progress->sums[0] = ~0ULL;
  }

 private:
  std::uint64_t* launches_;
};

TEST(DenseSets, SumsOfLaunchesHave128Bits) {
  HostDenseOps::Figures figures;
  std::uint64_t launches = 0;
  std::vector<MakeDenseOps> devices(1, [&] { return std::make_unique<FullDenseOps>(figures, launches); });
  const auto counter = make_dense_set_counter(std::move(devices), {.children = 1});
  const MineOptions options{.threads = 1};
  mine::RunControl control(options);
  Workers workers(1);
  const auto counts = mine::clique_counts(random_graph(200, 0.6, 9), 6, workers, control, counter.get());
  ASSERT_GT(launches, 2);
  const Count direct = Count{launches} * ~std::uint64_t{0};  // cliques of leaves are added to that
  EXPECT_TRUE(counts.at(6) >= direct && counts.at(6) < direct + ~std::uint64_t{0}) << to_string(counts.at(6));
}

TEST(DenseSets, AStopLeavesLowerBounds) {
  const SimpleGraph graph = random_graph(90, 0.5, 7);
  const std::vector<Count> all = count_cliques(graph, 6, {.threads = 1}).counts;
  int partial = 0;
  for (int calls = 0; calls < 40; ++calls) {
    std::vector<HostDenseOps::Figures> figures(1);
    int asked = 0;
    const MineOptions options{.threads = 1, .stop = [&] { return asked++ >= calls; }};
    const Counted got = count(graph, 6, figures, {.portion = 50, .children = 1000}, options);
    const Count counted = got.counts.size() > 6 ? got.counts[6] : 0;
    EXPECT_FALSE(got.complete);
    EXPECT_TRUE(counted <= all[6]);
    partial += counted > 0 && counted < all[6] ? 1 : 0;
  }
  EXPECT_GT(partial, 0);
}

TEST(DenseSets, AFailureReachesTheCaller) {
  std::vector<MakeDenseOps> devices;
  HostDenseOps::Figures figures;
  devices.emplace_back([&] { return std::make_unique<HostDenseOps>(figures); });
  devices.emplace_back([]() -> std::unique_ptr<DenseOps> { throw Error("device 1", "is gone", "look for it"); });
  const auto counter = make_dense_set_counter(std::move(devices));
  const SimpleGraph graph = random_graph(40, 0.5, 8);
  const MineOptions options{.threads = 1};
  mine::RunControl control(options);
  Workers workers(1);
  EXPECT_THROW((void)mine::clique_counts(graph, 4, workers, control, counter.get()), Error);
}

TEST(DenseSpaces, AreNotMadeOnceTheRunIsStopped) {
  const SimpleGraph graph = random_graph(3000, 0.01, 3);
  int asked = 0;
  const MineOptions options{.threads = 1, .stop = [&] { return asked++ >= 2; }};
  mine::RunControl control(options);
  Workers workers(1);
  const mine::OrderedGraph ordered(graph, mine::degeneracy_order(graph, 1));
  mine::DenseSpaceMaker maker(ordered, 20, 1,
                              workers);  // no vertex has a space of that size, so only the stop ends the search
  EXPECT_TRUE(maker.next(1, control).spaces.empty());
  EXPECT_TRUE(control.stopped());
  EXPECT_GT(maker.position(), 0U);
  EXPECT_LT(maker.position(), graph.vertices());
}

/// Counts on devices that are the host.
class HostBackend final : public test::IdleBackend {
 public:
  HostBackend(std::vector<HostDenseOps::Figures>& figures, const DenseSettings& settings)
      : figures_(&figures), settings_(settings) {}
  [[nodiscard]] BackendCapabilities capabilities() const noexcept override { return {.cliques = true}; }
  std::unique_ptr<match::DenseSetCounter> make_dense_set_counter() override {
    std::vector<MakeDenseOps> devices;
    for (auto& each : *figures_) devices.emplace_back([&each] { return std::make_unique<HostDenseOps>(each); });
    return gpu::make_dense_set_counter(std::move(devices), settings_);
  }

 private:
  std::vector<HostDenseOps::Figures>* figures_;
  DenseSettings settings_;
};

/// Returns whether the devices had anything to do.
bool expect_equal_sets(const SimpleGraph& graph, unsigned k, unsigned budget, std::vector<HostDenseOps::Figures>& figures,
                       const DenseSettings& settings = {}) {
  const unsigned edges = k * (k - 1) / 2 - budget;
  const QuasiCliqueResult expected = count_quasi_cliques(graph, k, edges, {.threads = 1});
  const auto backend = std::make_shared<HostBackend>(figures, settings);
  const QuasiCliqueResult got = count_quasi_cliques(graph, k, edges, {.threads = 2, .backend = backend});
  EXPECT_TRUE(got.complete);
  EXPECT_TRUE(got.by_missing == expected.by_missing) << "k " << k << ", budget " << budget << ", vertices " << graph.vertices();
  bool worked = false;
  for (auto& each : figures) {
    EXPECT_EQ(each.used, 0);
    worked |= each.launches > 0;
    each.launches = 0;
  }
  return worked;
}

TEST(DenseSets, QuasiCliquesOfRandomGraphs) {
  int worked = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const auto n = static_cast<std::uint32_t>(1 + random() % 24);
    const SimpleGraph graph = random_graph(n, 0.2 + 0.6 * static_cast<double>(random() % 100) / 100, seed);
    std::vector<HostDenseOps::Figures> figures(1 + seed % 3, {.limit = std::size_t{1} << 20});
    for (unsigned k = 3; k <= 8; ++k) {
      for (unsigned budget = 0; budget + 2 <= k && budget < 5; ++budget) {
        worked += expect_equal_sets(graph, k, budget, figures, {.portion = 1 + seed % 50, .children = 1200}) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(worked, 600);
}

// A hub whose space has rows of 2 to 64 words.
TEST(DenseSets, QuasiCliquesInWideSpaces) {
  for (const std::uint32_t n : {70U, 140U, 300U, 600U, 1100U, 2100U}) {
    Edges edges;
    std::mt19937_64 random(n);
    for (std::uint32_t v = 0; v < n; ++v) {
      for (std::uint32_t u = v < 8 ? 0 : v - 8; u < v; ++u) {
        if (random() % 3 == 0) edges.emplace_back(u, v);
      }
      edges.emplace_back(v, n);
    }
    std::vector<HostDenseOps::Figures> figures(1, {.limit = std::size_t{1} << 25});
    const SimpleGraph graph(n + 1, edges);
    for (const unsigned budget : {1U, 2U}) EXPECT_TRUE(expect_equal_sets(graph, 4, budget, figures));
    EXPECT_TRUE(expect_equal_sets(graph, 5, 1, figures));
  }
}

TEST(DenseSets, LittleMemoryChangesNoQuasiClique) {
  const SimpleGraph graph = random_graph(60, 0.4, 11);
  bool deferred = false;
  bool left = false;
  for (std::size_t bytes = 1U << 10; bytes <= 1U << 21; bytes *= 2) {
    std::vector<HostDenseOps::Figures> figures(1);
    figures[0].limit = bytes;
    for (const unsigned budget : {1U, 2U}) left |= !expect_equal_sets(graph, 5, budget, figures);
    deferred |= figures[0].deferred > 0;
  }
  EXPECT_TRUE(deferred) << "no node ever found too little room";
  EXPECT_TRUE(left) << "nothing was ever left to the caller";
}

TEST(DenseSets, AStopLeavesLowerBoundsOfQuasiCliques) {
  const SimpleGraph graph = random_graph(70, 0.5, 12);
  const Count all = count_quasi_cliques(graph, 5, 9, {.threads = 1}).by_missing.at(1);
  int partial = 0;
  for (int calls = 0; calls < 60; calls += 3) {
    std::vector<HostDenseOps::Figures> figures(1);
    const auto backend = std::make_shared<HostBackend>(figures, DenseSettings{.portion = 50, .children = 1000});
    int asked = 0;
    const QuasiCliqueResult got =
        count_quasi_cliques(graph, 5, 9, {.threads = 1, .stop = [&] { return asked++ >= calls; }, .backend = backend});
    EXPECT_FALSE(got.complete);
    EXPECT_TRUE(got.by_missing.at(1) <= all);
    partial += got.by_missing[1] > 0 && got.by_missing[1] < all ? 1 : 0;
  }
  EXPECT_GT(partial, 0);
}

// Portions never overlap nodes that are still needed, and each has room for its share. That is so for any use of them.
TEST(NodeStack, KeepsSegmentsApart) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const unsigned levels = 1 + random() % 6;
    const std::uint64_t seeds = 1 + random() % 30;
    const std::uint64_t capacity = seeds + levels * (20 + random() % 200);
    const std::uint64_t least = (capacity - seeds) / levels;
    NodeStack stack(capacity, levels, 1 + random() % 20);
    stack.start(seeds);
    std::vector<unsigned> level_of(capacity, ~0U);  // of the node in a slot
    std::fill_n(level_of.begin(), seeds, 0);
    std::uint64_t taken = 0;
    std::uint64_t made = seeds;
    while (!stack.empty()) {
      const unsigned level = stack.level();
      const auto portion = stack.next(level == levels);
      ASSERT_GT(portion.count, 0);
      for (std::uint64_t i = 0; i < portion.count; ++i) ASSERT_EQ(level_of[portion.first + i], level);
      std::uint64_t deferred = 0;
      std::uint64_t children = 0;
      if (level < levels) {
        ASSERT_GE(portion.capacity, least);
        ASSERT_LE(portion.output + portion.capacity, capacity);
        deferred = random() % 4 == 0 ? random() % portion.count : 0;
        children = random() % std::min<std::uint64_t>(portion.capacity + 1, 3 * (portion.count - deferred));
      }
      std::fill_n(level_of.begin() + static_cast<std::ptrdiff_t>(portion.first + deferred), portion.count - deferred, ~0U);
      for (std::uint64_t i = 0; i < children; ++i) {
        ASSERT_EQ(level_of[portion.output + i], ~0U) << "a node is overwritten";
        level_of[portion.output + i] = level + 1;
      }
      taken += portion.count - deferred;
      made += children;
      if (made > 20000) break;
      stack.done(portion, deferred, children);
    }
    EXPECT_EQ(made > 20000 ? made : taken, made);
  }
}

}  // namespace
}  // namespace deltamatch::gpu
