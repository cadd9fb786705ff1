// Counts patterns on the host by the steps of the kernel, and compares them with the CPU's. Covers all sizes, methods and
// conditions, interrupted walks, little memory, several devices, and stops.
#include "gpu/mine/device_motifs.hpp"

#include <gtest/gtest.h>

#include <random>

#include "deltamatch/mine.hpp"
#include "gpu/mine/motif_pool.hpp"
#include "host_motif_ops.hpp"
#include "match/backend.hpp"
#include "unit/engine/idle_backend.hpp"
#include "unit/mine/brute_force.hpp"

namespace deltamatch::gpu {
namespace {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

class HostBackend final : public test::IdleBackend {
 public:
  HostBackend(std::vector<HostFigures>& figures, const MotifSettings& settings, bool teams)
      : figures_(&figures), settings_(settings), teams_(teams) {}
  [[nodiscard]] BackendCapabilities capabilities() const noexcept override { return {.motifs = true}; }
  std::unique_ptr<match::MotifCounter> make_motif_counter() override {
    std::vector<MakeMotifOps> devices;
    for (auto& each : *figures_) {
      devices.emplace_back([&each, teams = teams_] { return std::make_unique<HostMotifOps>(each, teams); });
    }
    return gpu::make_motif_counter(std::move(devices), settings_);
  }

 private:
  std::vector<HostFigures>* figures_;
  MotifSettings settings_;
  bool teams_;
};

std::vector<HostFigures> small_devices(std::size_t count) {
  return std::vector<HostFigures>(count, {.limit = std::size_t{1} << 23});
}

constexpr MotifSettings any_memory{.least_warps = 1};

MotifResult count(const SimpleGraph& graph, unsigned k, MotifOptions options, std::vector<HostFigures>& figures,
                  const MotifSettings& settings = any_memory, bool teams = false) {
  options.run.backend = std::make_shared<HostBackend>(figures, settings, teams);
  const MotifResult got = count_motifs(graph, k, options);
  for (const auto& each : figures) EXPECT_EQ(each.used, 0) << "memory was not given back";
  return got;
}

void expect_equal(const SimpleGraph& graph, unsigned k, const MotifOptions& options, std::vector<HostFigures>& figures,
                  const MotifSettings& settings = any_memory, bool teams = false) {
  MotifOptions on_cores = options;
  on_cores.run.threads = 1;
  const MotifResult expected = count_motifs(graph, k, on_cores);
  const MotifResult got = count(graph, k, options, figures, settings, teams);
  EXPECT_TRUE(got.complete);
  ASSERT_EQ(got.motifs.size(), expected.motifs.size());
  for (std::size_t i = 0; i < expected.motifs.size(); ++i) {
    EXPECT_TRUE(got.motifs[i].count == expected.motifs[i].count)
        << "k " << k << ", " << expected.motifs[i].pattern.graph6() << ", vertices " << graph.vertices() << ": "
        << to_string(got.motifs[i].count) << ", not " << to_string(expected.motifs[i].count);
  }
}

/// Walks that are interrupted after one candidate, after some, or never.
MotifSettings settings_of(std::uint64_t seed) {
  MotifSettings settings = any_memory;
  settings.budget = seed % 3 == 0 ? 1 : seed % 3 == 1 ? static_cast<unsigned>(5 + seed % 300) : 1U << 30;
  settings.patience = seed % 2 == 0 ? 0 : 1U << 20;
  settings.pieces_for_warp = 1 + seed % 4;
  return settings;
}

TEST(DeviceMotifs, OfRandomGraphs) {
  std::size_t saved = 0;
  for (std::uint64_t seed = 0; seed < 90; ++seed) {
    std::mt19937_64 random(seed);
    const unsigned k = 2 + seed % 7;
    const auto n = static_cast<std::uint32_t>(1 + random() % (k < 6 ? 30 : 14));
    const SimpleGraph graph = brute::random_graph(n, 0.05 + 0.7 * static_cast<double>(random() % 100) / 100, seed).simple();
    for (const MotifMethod method : {MotifMethod::automatic, MotifMethod::pairs, MotifMethod::extend}) {
      auto figures = small_devices(1 + seed % 3);
      expect_equal(graph, k, {.method = method}, figures, settings_of(seed));
      for (const auto& each : figures) saved += each.deferred;
    }
  }
  EXPECT_GT(saved, 500) << "hardly a walk was broken off";
}

TEST(DeviceMotifs, ByLanesTogether) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    std::mt19937_64 random(seed);
    const unsigned k = 3 + seed % 4;
    const auto n = static_cast<std::uint32_t>(6 + random() % 3);
    const SimpleGraph graph = brute::random_graph(n, 0.3 + 0.3 * static_cast<double>(seed % 2), seed).simple();
    auto figures = small_devices(1);
    expect_equal(graph, k, {.method = seed % 4 == 0 ? MotifMethod::extend : MotifMethod::pairs}, figures, settings_of(seed + 1),
                 true);
  }
}

TEST(DeviceMotifs, OfKnownGraphs) {
  const auto make = [](std::uint32_t n, auto&& joined) {
    Edges edges;
    for (std::uint32_t v = 0; v < n; ++v) {
      for (std::uint32_t u = 0; u < v; ++u) {
        if (joined(u, v)) edges.emplace_back(u, v);
      }
    }
    return SimpleGraph(n, edges);
  };
  const std::vector<SimpleGraph> graphs = {
      make(11, [](auto, auto) { return true; }),                                                // complete
      make(40, [](auto u, auto v) { return v == u + 1 || (u == 0 && v == 39); }),               // cycle
      make(24, [](auto u, auto) { return u == 0; }),                                            // star
      make(25, [](auto u, auto v) { return v == u + 5 || (v == u + 1 && v % 5 != 0); }),        // grid
      make(12, [](auto u, auto v) { return u % 4 != v % 4; }),                                  // Turán graph
      make(300, [](auto u, auto v) { return u == 0 || (u == 1 && v % 2 == 0) || v == u + 1; })  // hubs
  };
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    for (unsigned k = 2; k <= (graphs[i].vertices() == 300 ? 5U : 8U); ++k) {
      auto figures = small_devices(1);
      expect_equal(graphs[i], k, {.method = k == 2 ? MotifMethod::automatic : MotifMethod::pairs}, figures, settings_of(k + i));
      EXPECT_GT(figures[0].launches, 0);
    }
  }
  auto figures = small_devices(1);
  expect_equal(SimpleGraph(0, {}), 5, {}, figures);
  expect_equal(SimpleGraph(9, {}), 5, {}, figures);
}

TEST(DeviceMotifs, KeepToConditions) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    const SimpleGraph graph = brute::random_graph(static_cast<std::uint32_t>(6 + random() % 10), 0.4, seed).simple();
    for (const char* text : {"triangles = 0", "missing <= 3", "max_degree <= 3 and leaves > 0", "edges >= 6", "edges < 0"}) {
      const Condition condition = Condition::parse(text);
      for (unsigned k = 4; k <= 6; ++k) {
        auto figures = small_devices(1);
        expect_equal(graph, k, {.method = MotifMethod::pairs, .where = condition}, figures, settings_of(seed));
        expect_equal(graph, k, {.where = condition, .growing = Condition::parse("max_degree <= 3")}, figures,
                     settings_of(seed));
        // The order of growing is the same. So this also holds for conditions that subgraphs do not inherit.
        expect_equal(graph, k, {.growing = condition}, figures, settings_of(seed));
      }
    }
  }
}

TEST(DeviceMotifs, LittleMemoryChangesNoCount) {
  const SimpleGraph graph = brute::random_graph(60, 0.2, 5).simple();
  bool left = false;
  for (std::size_t bytes = 1U << 8; bytes <= 1U << 18; bytes *= 2) {
    std::vector<HostFigures> figures(1, {.limit = bytes});
    expect_equal(graph, 5, {.method = MotifMethod::pairs}, figures);
    left |= figures[0].launches == 0;
  }
  EXPECT_TRUE(left) << "nothing was ever left to the caller";
  for (std::size_t refused = 1; refused < 30; ++refused) {
    auto figures = small_devices(1);
    figures[0].refused = refused;
    expect_equal(graph, 4, {.method = MotifMethod::pairs}, figures);
  }
  auto figures = small_devices(3);
  figures[1].limit = 1000;
  expect_equal(graph, 5, {.method = MotifMethod::pairs}, figures);
  EXPECT_EQ(figures[1].launches, 0);
  EXPECT_GT(figures[0].launches + figures[2].launches, 0);
}

TEST(DeviceMotifs, AStopLeavesLowerBounds) {
  const SimpleGraph graph = brute::random_graph(60, 0.3, 7).simple();
  const MotifResult all = count_motifs(graph, 5, {.run = {.threads = 1}});
  MotifSettings settings = any_memory;
  settings.budget = 500;
  int partial = 0;
  for (int calls = 0; calls < 40; calls += 2) {
    auto figures = small_devices(1);
    int asked = 0;
    MotifOptions options;
    options.run.stop = [&] { return asked++ >= calls; };
    const MotifResult got = count(graph, 5, options, figures, settings);
    EXPECT_FALSE(got.complete);
    bool less = false;
    bool some = false;
    for (std::size_t i = 0; i < all.motifs.size(); ++i) {
      EXPECT_TRUE(got.motifs[i].count <= all.motifs[i].count) << all.motifs[i].pattern.graph6();
      less |= got.motifs[i].count < all.motifs[i].count;
      some |= got.motifs[i].count > 0;
    }
    partial += less && some ? 1 : 0;
  }
  EXPECT_GT(partial, 10);
}

/// Every launch counts the most that 64 bits hold.
class FullMotifOps final : public HostMotifOps {
 public:
  using HostMotifOps::HostMotifOps;
  void walk(const MotifWork& work) override {
    HostMotifOps::walk(work);
    work.counts[0] = ~0ULL;
  }
};

TEST(DeviceMotifs, SumsOfLaunchesHave128Bits) {
  HostFigures figures{.limit = std::size_t{1} << 23};
  std::vector<MakeMotifOps> devices(1, [&] { return std::make_unique<FullMotifOps>(figures); });
  const auto counter = make_motif_counter(std::move(devices), {.least_warps = 1, .budget = 1});
  std::vector<std::uint64_t> begin{0};  // a path
  std::vector<VertexId> neighbours;
  for (VertexId v = 0; v < 30; ++v) {
    if (v > 0) neighbours.push_back(v - 1);
    if (v < 29) neighbours.push_back(v + 1);
    begin.push_back(neighbours.size());
  }
  match::MotifTables tables{
      .depth = 1, .patterns = 1, .steps = {{}, {}}, .first_step = {}, .admitted = {1}, .first_pattern = {}, .pairs = {}};
  const auto counts = counter->count({begin, neighbours}, tables, [](double) { return true; });
  ASSERT_TRUE(counts.has_value());
  ASSERT_GT(figures.launches, 2);
  EXPECT_TRUE(counts->at(0) == Count{figures.launches} * ~std::uint64_t{0});
}

TEST(DeviceMotifs, AFailureReachesTheCaller) {
  std::vector<MakeMotifOps> devices;
  HostFigures figures;
  devices.emplace_back([&] { return std::make_unique<HostMotifOps>(figures); });
  devices.emplace_back([]() -> std::unique_ptr<MotifOps> { throw Error("device 1", "is gone", "look for it"); });
  const auto counter = make_motif_counter(std::move(devices));
  const std::vector<std::uint64_t> begin{0};
  const match::MotifTables tables{
      .depth = 1, .patterns = 1, .steps = {}, .first_step = {}, .admitted = {}, .first_pattern = {}, .pairs = {}};
  EXPECT_THROW((void)counter->count({begin, {}}, tables, [](double) { return true; }), Error);
}

TEST(MotifSums, HoldTwoHalvesTogether) {
  std::mt19937_64 random(1);
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  const MotifSums sums{&low, &high};
  unsigned long long expected = 0;
  for (int i = 0; i < 10000; ++i) {
    const unsigned long long value = i % 3 == 0 ? ~0ULL : i % 3 == 1 ? random() % 5 : random();
    sums.add(0, value);
    expected += value;
    ASSERT_EQ(sums.of(0), expected);
  }
}

// Together the pieces hold each candidate once, and there are no more pieces than allowed.
TEST(MotifPool, CutsTasks) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<MotifTask> tasks(random() % 20);
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      tasks[i] = {.root = i,
                  .size = static_cast<std::uint32_t>(1 + random() % 6),
                  .positions = {},
                  .first = static_cast<std::uint32_t>(random() % 50),
                  .last = 0};
      tasks[i].last = tasks[i].first + 1 + static_cast<std::uint32_t>(random() % (seed % 2 == 0 ? 4 : 4000));
      all += tasks[i].last - tasks[i].first;
    }
    const std::uint64_t pieces = 1 + random() % 100;
    const auto cut = split(tasks, pieces);
    EXPECT_LE(cut.size(), tasks.size() + pieces);
    if (all >= 2 * pieces) {
      EXPECT_GE(2 * cut.size(), pieces);
    }
    std::vector<std::uint32_t> next(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) next[i] = tasks[i].first;
    unsigned size = 0;
    for (const MotifTask& piece : cut) {
      EXPECT_EQ(piece.first, next[piece.root]);
      EXPECT_LT(piece.first, piece.last);
      EXPECT_GE(piece.size, size);
      size = piece.size;
      next[piece.root] = piece.last;
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) EXPECT_EQ(next[i], tasks[i].last);
  }
}

}  // namespace
}  // namespace deltamatch::gpu
