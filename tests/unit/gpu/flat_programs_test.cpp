// Which tasks the kernel can take, and what is flattened for them.
#include "gpu/program/flat_programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "unit/estimate/support.hpp"

namespace deltamatch::gpu {
namespace {

using estimate::World;

// A path that ends in a clique.
Query lollipop(unsigned path, unsigned clique) {
  std::string text;
  const auto join = [&](unsigned a, unsigned b) {
    text += (text.empty() ? "(v" : ", (v") + std::to_string(a) + ")--(v" + std::to_string(b) + ")";
  };
  for (unsigned i = 0; i < path; ++i) join(i, i + 1);
  for (unsigned i = path; i < path + clique; ++i) {
    for (unsigned j = i + 1; j < path + clique; ++j) join(i, j);
  }
  return parse_pattern(text, "lollipop");
}

FlatPrograms flatten_all(const World& world, std::vector<bool>& left_out, const KernelLimits& limits = {}) {
  FlatPrograms flat;
  SetChoice sets;
  const auto resolved = world.graph.resolved();
  match::Programs programs = world.programs;
  choose_tables(world.tasks, resolved, GpuTables::automatic, programs);
  flatten(world.graph, resolved, world.passes, world.tasks, programs, sets, flat, left_out, nullptr, limits);
  return flat;
}

TEST(FlatPrograms, QueriesOfTooManyEdgesAreLeftOut) {
  World world({}, 1);
  world.add(lollipop(0, 11));
  world.add(lollipop(0, 12), MatchMode::isomorphism, CountMode::subgraphs, true);
  world.stage();
  std::vector<bool> left_out;
  const FlatPrograms flat = flatten_all(world, left_out);
  EXPECT_EQ(left_out, (std::vector{false, true}));
  EXPECT_FALSE(flat.sums.empty() && flat.walks.empty());
  for (const FlatWork* work : {&flat.sums, &flat.walks}) {
    for (const ProgramOrigin& origin : work->origins) EXPECT_EQ(origin.task, 0);
  }
}

// The limit applies to the longest list of any vertex, and to lists that are read alone.
TEST(FlatPrograms, QueriesThatReadLongerListsThanKernelsNumberAreLeftOut) {
  World world({.edges = 300, .edge_labels = 2}, 6);
  const auto triangle = [](const std::string& label) {
    return parse_pattern("(a)-[:" + label + "]-(b)-[:" + label + "]-(c)-[:" + label + "]-(a)", label);
  };
  world.make_star(0, 20);  // of edges with label E0
  world.add(triangle("E0"), MatchMode::isomorphism, CountMode::subgraphs, true);
  world.add(triangle("E1"), MatchMode::isomorphism, CountMode::subgraphs, true);
  world.add(triangle("E1"));
  world.stage();
  const auto longest = [&](std::size_t task) {
    const graph::Resolved& where = world.graph.resolve(world.tasks[task].query->edges[0].query_relation[0]);
    return where.store->longest(where.relation);
  };
  ASSERT_GE(longest(0), 19);
  ASSERT_LT(longest(1), longest(0)) << "labels must tell";
  std::vector<bool> left_out;
  flatten_all(world, left_out, {.longest_list = longest(0)});
  EXPECT_EQ(left_out, (std::vector{false, false, false}));
  const FlatPrograms flat = flatten_all(world, left_out, {.longest_list = longest(0) - 1});
  EXPECT_EQ(left_out, (std::vector{true, false, false}));
  EXPECT_FALSE(flat.empty());
  for (const FlatWork* work : {&flat.sums, &flat.walks}) {
    for (const ProgramOrigin& origin : work->origins) EXPECT_NE(origin.task, 0);
  }
  EXPECT_TRUE(flatten_all(world, left_out, {.longest_list = longest(1) - 1}).empty());
  EXPECT_EQ(left_out, (std::vector{true, true, true}));
}

// Lists of the base store that hold an id once may lie in the ring that kernels fill. A wildcard reads others if there are
// several labels.
TEST(FlatPrograms, NodesTellWhetherTheirListsMayBeKept) {
  World world({.edges = 300, .edge_labels = 2}, 6);
  world.add(parse_pattern("(a)-[:E0]-(b)-[:E0]-(c)-[:E0]-(a)", "labelled"), MatchMode::isomorphism, CountMode::subgraphs, true);
  world.add(parse_pattern("(a)--(b)--(c)--(a)", "any"), MatchMode::isomorphism, CountMode::subgraphs, true);
  world.stage();
  std::vector<bool> left_out;
  const FlatPrograms flat = flatten_all(world, left_out);
  EXPECT_EQ(left_out, (std::vector{false, false}));
  std::vector<bool> seen(2);
  for (std::size_t i = 0; i < flat.walks.programs.size(); ++i) {
    const Program& program = flat.walks.programs[i];
    const std::size_t task = flat.walks.origins[i].task;
    for (std::uint32_t s = program.first_step; s < program.end_step; ++s) {
      if (flat.steps[s].kind != StepKind::loop) continue;
      EXPECT_EQ(flat.nodes[flat.steps[s].node].unmixed, task == 0 ? 1 : 0);
      seen[task] = true;
    }
  }
  EXPECT_EQ(seen, (std::vector{true, true}));
}

// The same if a batch only now makes a list too long.
TEST(FlatPrograms, WhatABatchAddsCounts) {
  World world({.vertices = 200, .edges = 40, .inserted = 0, .removed = 0}, 7);
  world.make_star(0, 100);  // the batch adds the hundredth leaf
  world.add(lollipop(0, 3));
  world.stage();
  std::vector<bool> left_out;
  const graph::Resolved& where = world.graph.resolve(world.tasks[0].query->edges[0].query_relation[0]);
  const auto before = static_cast<std::uint32_t>(where.store->ids(0, where.relation).size());
  flatten_all(world, left_out, {.longest_list = before + 1});
  EXPECT_EQ(left_out, std::vector{false});
  flatten_all(world, left_out, {.longest_list = before});
  EXPECT_EQ(left_out, std::vector{true});
}

// Very many standing queries with labels register more query relations than a probe can name.
TEST(FlatPrograms, QueriesWhoseQueryRelationsCannotBeNamedAreLeftOut) {
  static_assert(KernelLimits{}.query_relations - 1 == std::numeric_limits<decltype(Probe::query_relation)>::max());
  static_assert(KernelLimits{}.query_relations - 1 == std::numeric_limits<decltype(Joined::query_relation)>::max());
  static_assert(KernelLimits{}.query_relations - 1 == std::numeric_limits<decltype(SumEdge::a_to_b)>::max());
  static_assert(KernelLimits{}.query_relations - 1 == std::numeric_limits<decltype(SumEdge::b_to_a)>::max());
  World world({.edges = 200}, 8);
  const auto registered = [&] { return static_cast<std::uint32_t>(world.graph.resolved().size()); };
  world.add(lollipop(0, 3), MatchMode::isomorphism, CountMode::subgraphs, true);
  world.add(lollipop(0, 4));
  const std::uint32_t names = registered();
  world.add(parse_pattern("(a:V0)--(b)--(c)--(a)", "beyond"), MatchMode::isomorphism, CountMode::subgraphs, true);
  ASSERT_GT(registered(), names);
  world.stage();
  std::vector<bool> left_out;
  const FlatPrograms flat = flatten_all(world, left_out, {.query_relations = names});
  EXPECT_EQ(left_out, (std::vector{false, false, true}));
  EXPECT_FALSE(flat.probes.empty());
  for (const Probe& probe : flat.probes) EXPECT_LT(probe.query_relation, names);
  flatten_all(world, left_out, {.query_relations = registered()});
  EXPECT_EQ(left_out, (std::vector{false, false, false}));
  flatten_all(world, left_out, {.query_relations = 0});
  EXPECT_EQ(left_out, (std::vector{true, true, true}));
}

// Induced matches also read lists along any edge, for every query.
TEST(FlatPrograms, WhatInducedMatchesMustNotBeJoinedToCounts) {
  World world({.inserted = 0, .removed = 0, .edge_labels = 2}, 9);
  world.make_star(0, 20);  // of edges with label E0
  const plan::BoundQuery query(parse_pattern("(a)-[:E1]-(b)-[:E1]-(c)", "path"), MatchMode::isomorphism, CountMode::subgraphs,
                               world.graph, true);
  world.graph.resolve_all();
  const plan::QueryPlans plans = plan::make_static_plans(query);
  world.tasks = {{&query, &plans, true}};
  world.programs = match::make_programs(world.tasks, world.graph.resolved());
  const auto longest = [&](graph::QueryRelationId query_relation) {
    const graph::Resolved& where = world.graph.resolve(query_relation);
    return where.store->longest(where.relation);
  };
  ASSERT_LT(longest(query.edges[0].query_relation[0]), longest(query.any_edge[0]));
  std::vector<bool> left_out;
  flatten_all(world, left_out, {.longest_list = longest(query.any_edge[0])});
  EXPECT_EQ(left_out, std::vector{false});
  flatten_all(world, left_out, {.longest_list = longest(query.any_edge[0]) - 1});
  EXPECT_EQ(left_out, std::vector{true});
}

// An induced path must keep vertices apart: the third from the first, and the last from the first two.
TEST(FlatPrograms, InducedNodesTellWhatTheyAreNotJoinedTo) {
  estimate::WorldOptions options;
  options.inserted = options.removed = 0;
  World world(options, 4);
  const plan::BoundQuery query(parse_pattern("(a)--(b)--(c)--(d)", "path"), MatchMode::isomorphism, CountMode::subgraphs,
                               world.graph, true);
  world.graph.resolve_all();
  const plan::QueryPlans plans = plan::make_static_plans(query);
  std::vector<graph::Edge> anchors;
  world.graph.for_each_edge(0, true, [&](const graph::Edge& edge, Timestamp) { anchors.push_back(edge); });
  world.tasks = {{&query, &plans, true}};
  world.passes = {{match::Pass::whole, anchors}};
  world.programs = match::make_programs(world.tasks, world.graph.resolved());
  std::vector<bool> left_out;
  const FlatPrograms flat = flatten_all(world, left_out);
  EXPECT_EQ(left_out, std::vector{false});
  ASSERT_EQ(flat.nodes.size(), 2 * flat.walks.programs.size());
  for (std::size_t n = 0; n < flat.nodes.size(); ++n) {
    const Node& node = flat.nodes[n];
    ASSERT_EQ(node.joined, n % 2 + 1);
    for (std::uint32_t i = node.first_joined; i < node.first_joined + node.joined; ++i) {
      EXPECT_EQ(flat.joined[i].edges, 0);
      EXPECT_EQ(flat.joined[i].query_relation, query.any_edge[0]);
      EXPECT_NE(flat.joined[i].position, flat.probes[node.first_probe].position);
    }
  }
  for (const Program& program : flat.walks.programs) EXPECT_EQ(program.joined, 0) << "the anchor is the only edge";
  EXPECT_EQ(flat.walks.needs[1].joined, 1);
  EXPECT_EQ(flat.walks.needs[2].joined, 2);
}

// Nested loops. Those at depths [begin, end) read this many lists.
plan::Program nest(std::uint32_t depths, std::uint32_t begin, std::uint32_t end, std::size_t lists) {
  plan::Program program;
  program.root_steps = 1;
  for (std::uint32_t depth = 1; depth <= depths; ++depth) {
    program.steps.push_back({.kind = plan::Step::Kind::loop, .tail = true, .node = depth - 1});
    plan::Node node;
    node.candidates.probes.resize(begin <= depth && depth < end ? lists : 1);
    node.first_step = depth;
    node.steps = 1;
    program.nodes.push_back(node);
  }
  program.steps.push_back({.kind = plan::Step::Kind::emit});
  return program;
}

// Any of these can be listed alone. A warp that may take each of them would need more memory than it can address.
TEST(FlatPrograms, TasksThatNeedTooMuchTogetherAreLeftOut) {
  World world({}, 2);
  for (int task = 0; task < 3; ++task) world.add(lollipop(0, 3), MatchMode::isomorphism, CountMode::subgraphs, true);
  world.stage();
  const plan::Program programs[] = {nest(15, 1, 16, 12), nest(30, 16, 31, 12), nest(5, 1, 6, 3)};
  for (std::size_t task = 0; task < 3; ++task) {
    for (match::AnchorProgram& own : world.programs[task]) own.program = programs[task];
  }
  std::vector<bool> left_out;
  const FlatPrograms flat = flatten_all(world, left_out);
  EXPECT_EQ(left_out, (std::vector{false, true, false}));
  EXPECT_TRUE(make_layout(flat.walks.needs, false, flat.walks.weighted));
  for (const ProgramOrigin& origin : flat.walks.origins) EXPECT_NE(origin.task, 1);

  std::swap(world.programs[0], world.programs[1]);
  flatten_all(world, left_out);
  EXPECT_EQ(left_out, (std::vector{false, true, false}));
}

// Devices share the anchors. Each chunk belongs to one device, and no anchor is in two chunks.
TEST(FlatPrograms, ChunksCoverEveryAnchorOnce) {
  World world({.inserted = 40}, 3);
  for (unsigned clique = 3; clique <= 5; ++clique) world.add(lollipop(1, clique));
  world.stage();
  std::vector<bool> left_out;
  const FlatPrograms flat = flatten_all(world, left_out);
  for (const std::uint32_t warps : {1U, 4U, 1000U}) {
    for (const std::uint32_t shares : {1U, 2U, 3U}) {
      std::vector<unsigned> times(flat.sums.anchors.size());
      for (std::uint32_t share = 0; share < shares; ++share) {
        for (const Chunk& chunk : make_chunks(flat.sums, warps, share, shares)) {
          EXPECT_GE(chunk.first, flat.sums.first_anchor[chunk.program]);
          EXPECT_LE(chunk.first + chunk.count, flat.sums.first_anchor[chunk.program + 1]);
          for (std::uint32_t a = chunk.first; a < chunk.first + chunk.count; ++a) ++times[a];
        }
      }
      EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](unsigned n) { return n == 1; }));
    }
  }
}

}  // namespace
}  // namespace deltamatch::gpu
