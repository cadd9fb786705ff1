// Filtering on a device whose memory is the host's. After every step the candidates are those of the CPU, bit for bit.
#include "gpu/filter/device_candidate_steps.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "filter/candidates.hpp"
#include "gpu/mirror/device_graph.hpp"
#include "host_candidate_ops.hpp"
#include "host_ops.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::gpu {
namespace {

using estimate::World;
using estimate::WorldOptions;
using filter::Candidates;

class CandidateStepsTest : public testing::Test {
 protected:
  /// Puts the whole graph of the world on the device.
  const GraphView& mirror(const World& world) {
    auto ops = std::make_unique<HostOps>(graph_figures_);
    HostOps& queue = *ops;
    mirror_ =
        std::make_unique<DeviceGraph>(std::move(ops), DeviceGraphOptions{Storage::resident, 0, std::size_t{1} << 20}, workers_);
    mirror_->begin(world.graph, world.graph.resolved());
    queue.drain();
    return mirror_->view();
  }
  void make_steps(bool teams = false) {
    steps_ = std::make_unique<DeviceCandidates>(std::make_unique<HostCandidateOps>(figures_, teams), workers_);
  }

  Workers workers_{2};
  HostOps::Figures graph_figures_;
  HostFigures figures_;
  std::unique_ptr<DeviceGraph> mirror_;
  std::unique_ptr<DeviceCandidates> steps_;
};

// Takes the same steps in both, and compares after each. Returns how many candidates refining removes.
std::uint64_t expect_same(const plan::BoundQuery& query, DeviceCandidates& steps, Workers& workers, const std::string& what) {
  const std::atomic<bool> stop = false;
  Candidates here(query, workers, stop);
  std::uint64_t refined = 0;
  for (int upto = 0; upto < 5; ++upto) {
    // Masks can be read only once, so all steps are taken again.
    Candidates there(query, workers, stop, &steps);
    const auto step = [](Candidates& candidates, int number) {
      if (number == 0) {
        candidates.by_label();
      } else if (number == 1) {
        candidates.by_degree();
      } else {
        candidates.refine();
      }
    };
    const filter::RemainingCandidates before = here.left();
    step(here, upto);
    for (int number = 0; number <= upto; ++number) step(there, number);
    EXPECT_TRUE(there.left() == here.left()) << what << ", step " << upto;
    there.settle();
    EXPECT_EQ(there.masks(), here.masks()) << what << ", step " << upto;
    if (upto < 2) continue;
    for (std::uint32_t v = 0; v < query.vertices(); ++v) refined += before.candidates[v] - here.left().candidates[v];
  }
  return refined;
}

TEST_F(CandidateStepsTest, LeaveWhatTheCpuLeaves) {
  std::uint64_t refined = 0;
  for (unsigned seed = 0; seed < 90; ++seed) {
    WorldOptions options;
    options.directed = seed % 2 == 0;
    options.vertices = 20 + 37 * (seed % 5);
    options.edges = options.vertices * (1 + seed % 4);
    options.inserted = options.removed = 0;
    options.vertex_labels = 1 + seed / 2 % 4;
    options.edge_labels = 1 + seed / 3 % 3;
    options.skew = 1 + seed % 3;
    World world(options, seed);
    make_steps(seed % 15 == 0);
    for (unsigned q = 0; q < 3; ++q) {
      constexpr MatchMode modes[] = {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism};
      const plan::BoundQuery query(world.draw_query(2 + (seed + q) % 7), modes[q], CountMode::embeddings, world.graph);
      world.graph.resolve_all();
      steps_->look_at(mirror(world));
      refined += expect_same(query, *steps_, workers_, "seed " + std::to_string(seed) + ", query " + std::to_string(q));
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(refined, 100);
  EXPECT_EQ(figures_.used, 0) << "nothing is held between queries";
  EXPECT_GT(figures_.launches, 0);
}

// 32 query vertices use every bit of a mask. The hub's list is read in many parts.
TEST_F(CandidateStepsTest, TakeTheLargestQueries) {
  WorldOptions options;
  options.vertices = 100;
  options.edges = 160;
  options.inserted = options.removed = 0;
  options.vertex_labels = 2;
  World world(options, 5);
  world.make_star(0, 90);
  std::string star;
  for (int leaf = 1; leaf < 32; ++leaf) {
    star += (leaf == 1 ? "" : ", ") + std::string("(h)--(l") + std::to_string(leaf) + ":V" + std::to_string(leaf % 2) + ")";
  }
  const plan::BoundQuery query(parse_pattern(star, "star"), MatchMode::isomorphism, CountMode::embeddings, world.graph);
  world.graph.resolve_all();
  for (const bool teams : {false, true}) {
    make_steps(teams);
    steps_->look_at(mirror(world));
    expect_same(query, *steps_, workers_, teams ? "teams" : "lanes");
  }
}

TEST_F(CandidateStepsTest, AreLeftToTheCpuWhereMemoryIsShort) {
  WorldOptions options;
  options.inserted = options.removed = 0;
  World world(options, 1);
  const plan::BoundQuery query(parse_pattern("(a)--(b)--(c)--(a)", "q"), MatchMode::isomorphism, CountMode::subgraphs,
                               world.graph);
  world.graph.resolve_all();
  make_steps();
  steps_->look_at(mirror(world));
  for (const std::size_t bytes : {0U, 100U, 400U}) {
    figures_.limit = bytes;
    expect_same(query, *steps_, workers_, "short of memory");
    EXPECT_EQ(figures_.launches, 0);
    EXPECT_EQ(figures_.used, 0);
  }
  figures_.limit = std::size_t{1} << 20;
  expect_same(query, *steps_, workers_, "with memory again");
  EXPECT_GT(figures_.launches, 0);
}

}  // namespace
}  // namespace deltamatch::gpu
