// Compares the look-ups that a device counts with those of the estimator's exact walkers, which decide what is cached. Skipped
// if there is no device.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/support.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::gpu {
namespace {

using estimate::Accesses;
using estimate::Estimator;
using estimate::StoredVertex;
using estimate::World;

// How far the device's counts are from the exact ones, as shares of the exact total.
struct Distance {
  double exact;
  double total;     // of the sums
  double by_lists;  // of each list
};

Distance distance(World& world, GpuTables tables) {
  Workers workers(2);
  const GpuSettings options{{.policy = CachePolicy::resident, .measure = true}};
  const std::vector<graph::Resolved> resolved = world.graph.resolved();
  match::Programs programs = world.programs;
  choose_tables(world.tasks, resolved, tables, programs);
  FlatPrograms flat;
  std::vector<bool> left_out;
  SetChoice sets;
  flatten(world.graph, resolved, world.passes, world.tasks, programs, sets, flat, left_out);
  EXPECT_EQ(flat.tables.empty(), tables == GpuTables::never);
  Device device(0, {.storage = Storage::resident}, workers);
  device.use();
  device.mirror().begin(world.graph, resolved);
  device.prepare(flat, 0, 1, options, world.graph);
  device.launch(flat, options);
  const auto none_listed = [](const std::uint32_t*) { ADD_FAILURE() << "nothing is listed"; };
  do {
    while (!device.poll(false, none_listed)) {
    }
  } while (device.launch_again());
  std::vector<Total> totals;
  Outcome outcome;
  device.finish(totals, outcome);

  Estimator estimator(workers);
  const Accesses& truth = estimator.count(world.graph, world.passes, world.tasks, programs);
  std::map<StoredVertex, double> differences;
  for (const estimate::Access& access : truth.lists) differences[access.at] -= access.times;
  double counted = 0;
  for (const estimate::Access& access : device.accesses()) {
    differences[access.at] += access.times;
    counted += access.times;
  }
  EXPECT_EQ(counted, static_cast<double>(outcome.counters.hits + outcome.counters.misses));
  double apart = 0;
  for (const auto& [at, difference] : differences) apart += std::abs(difference);
  return {truth.total(), std::abs(counted - truth.total()) / truth.total(), apart / truth.total()};
}

class GpuAccesses : public testing::Test {
 protected:
  void SetUp() override { DELTAMATCH_NEEDS_GPU(); }
  static void expect_near(const char* pattern, GpuTables tables, double total, double by_lists) {
    // Without hubs, anchors share few lists. The walkers count the lists of an anchor as its own.
    World world({.vertices = 5000, .edges = 60000, .inserted = 200, .removed = 200}, 51);
    world.add(parse_pattern(pattern, "counted"));
    world.stage();
    const Distance found = distance(world, tables);
    EXPECT_GT(found.exact, 500) << pattern;
    EXPECT_LE(found.total, total) << pattern;
    EXPECT_LE(found.by_lists, by_lists) << pattern;
  }
};

TEST_F(GpuAccesses, OfLoopsAreNearlyThoseOfTheWalker) {
  for (const char* pattern : {"(a)--(b)--(c)--(a)", "(a)--(b)--(c)--(d)--(a)", "(a)--(b)--(c)--(a), (c)--(d)"}) {
    expect_near(pattern, GpuTables::never, 0.1, 0.15);
  }
}

TEST_F(GpuAccesses, OfTablesAreThoseOfTheWalker) {
  for (const char* pattern : {"(a)--(b)--(c)--(d)--(a)", "(a)--(b)--(c)--(d)--(e)--(a)"}) {
    expect_near(pattern, GpuTables::always, 0.05, 0.1);
  }
}

}  // namespace
}  // namespace deltamatch::gpu
