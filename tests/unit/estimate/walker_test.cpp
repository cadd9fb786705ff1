// A third way to read the plans. Programs that run on all partial matches count what the CPU matcher counts. They look up what
// a plain reading of the definition looks up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "unit/estimate/support.hpp"

namespace deltamatch::estimate {
namespace {

// Returns the number of matches.
Count expect_same_counts(World& world) {
  Count all = 0;
  Workers workers(2);
  const auto matcher = match::make_cpu_matcher(workers);
  Estimator estimator(workers);
  for (const match::PassWork& pass : world.passes) {
    std::vector<match::QueryResult> expected(world.tasks.size());
    for (std::size_t t = 0; t < world.tasks.size(); ++t) expected[t].plans.resize(world.tasks[t].plans->plans.size());
    match::MatchSteps steps;
    matcher->match(world.graph, {&pass, 1}, world.tasks, expected, nullptr, steps);
    const Accesses& counted = estimator.count(world.graph, {&pass, 1}, world.tasks, world.programs);
    for (std::size_t t = 0; t < world.tasks.size(); ++t) {
      std::vector<match::PlanResult> own;
      for (std::size_t p = 0; p < world.programs[t].size(); ++p) {
        match::PlanResult& result = own.emplace_back();
        if (world.programs[t][p].sums) {
          result.sum = counted.plans[t][p].sum;
        } else {
          result.found = static_cast<Count>(counted.plans[t][p].sum);
        }
      }
      const Count count = match::total(world.tasks[t], expected[t].plans);
      all += count;
      EXPECT_EQ(to_string(match::total(world.tasks[t], own)), to_string(count))
          << "task " << t << ": " << to_pattern(world.tasks[t].query->query) << ", mode "
          << static_cast<int>(world.tasks[t].query->mode) << (world.tasks[t].list ? ", listed" : "");
    }
  }
  return all;
}

TEST(ExactWalker, CountsWhatTheCpuMatcherCounts) {
  for (unsigned seed = 0; seed < 160; ++seed) {
    SCOPED_TRACE(seed);
    WorldOptions options;
    options.directed = seed % 2 == 0;
    options.vertices = 10 + seed % 15;
    options.edges = options.vertices * (2 + seed % 3);
    options.vertex_labels = 1 + seed / 2 % 3;
    options.edge_labels = 1 + seed / 3 % 3;
    options.skew = 1 + seed % 2;
    World world(options, seed);
    constexpr MatchMode modes[] = {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism};
    for (unsigned q = 0; q < 6; ++q) {
      const MatchMode mode = modes[q % 3];
      const bool classes = mode == MatchMode::isomorphism && seed % 3 != 0;
      world.add(world.draw_query(2 + (seed + q) % 4), mode, classes ? CountMode::subgraphs : CountMode::embeddings, q % 4 == 3);
    }
    world.stage();
    expect_same_counts(world);
    if (HasFailure()) return;
  }
}

// Twins, paths and cycles whose counts are sums of several terms. Some are chosen as sets.
TEST(ExactWalker, CountsSums) {
  const char* patterns[] = {"(a)--(b), (a)--(c), (a)--(d)", "(a)--(b)--(c)--(d)--(e)", "(a)--(b)--(c)--(d)--(e)--(f)--(a)",
                            "(a)--(b)--(c)--(a), (c)--(d), (c)--(e)", "(a)--(b)--(c)--(a), (c)--(d), (d)--(e)--(f)--(d)"};
  std::size_t sums = 0;
  for (unsigned seed = 0; seed < 8; ++seed) {
    WorldOptions options;
    options.edge_labels = 1 + seed % 2;  // with two, wildcards read lists with parallel edges
    options.vertices = 16;
    options.edges = 50;
    World world(options, seed);
    for (const char* pattern : patterns) {
      world.add(parse_pattern(pattern, "test"));
      world.add(parse_pattern(pattern, "test"), MatchMode::homomorphism, CountMode::embeddings);
    }
    world.stage();
    for (const auto& programs : world.programs) {
      sums += static_cast<std::size_t>(
          std::count_if(programs.begin(), programs.end(), [](const match::AnchorProgram& program) { return program.sums; }));
    }
    expect_same_counts(world);
  }
  EXPECT_GT(sums, 100);
}

// Induced matches in a whole graph: wildcards over parallel edges, edges of one label beside others, ends that are joined
// twice.
TEST(ExactWalker, CountsInducedMatches) {
  Count all = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    WorldOptions options;
    options.directed = seed % 2 == 0;
    options.vertices = 10 + seed % 8;
    options.edges = options.vertices * (1 + seed % 3);
    options.inserted = options.removed = 0;
    options.vertex_labels = 1 + seed / 2 % 2;
    options.edge_labels = 1 + seed / 3 % 3;
    World world(options, seed);
    std::vector<graph::Edge> edges;
    for (VertexId v = 0; v < options.vertices; ++v) {
      world.graph.for_each_edge(v, false, [&](const graph::Edge& edge, Timestamp) { edges.push_back(edge); });
    }
    for (unsigned q = 0; q < 4; ++q) {
      const bool listed = q % 2 != 0;
      const CountMode count = q < 2 ? CountMode::subgraphs : CountMode::embeddings;
      const plan::BoundQuery query(world.draw_query(2 + (seed + q) % 4), MatchMode::isomorphism, count, world.graph, true);
      world.graph.resolve_all();
      plan::StaticPlanning planning;
      planning.listed = listed;
      const plan::QueryPlans plans = plan::make_static_plans(query, planning);
      world.tasks = {{&query, &plans, listed}};
      world.passes = {{match::Pass::whole, edges}};
      world.programs = match::make_programs(world.tasks, world.graph.resolved());
      all += expect_same_counts(world);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(all, Count{10000});
}

// Triangles by hand. Each anchor (u, v) looks up both ends once, to count their common neighbours.
TEST(ExactWalker, TalliesTheListsOfATriangle) {
  World world({}, 3);
  world.add(parse_pattern("(a)--(b)--(c)--(a)", "test"));
  world.stage();
  std::map<StoredVertex, double> expected;
  for (const match::PassWork& pass : world.passes) {
    for (const graph::Edge& edge : pass.anchors) {
      ++expected[{edge.tail, graph::StoreKind::base}];
      ++expected[{edge.head, graph::StoreKind::base}];
    }
  }
  Workers workers(1);
  Estimator estimator(workers);
  const Accesses& counted = estimator.count(world.graph, world.passes, world.tasks, world.programs);
  std::map<StoredVertex, double> tallied;
  for (const Access& access : counted.lists) tallied[access.at] = access.times;
  EXPECT_EQ(tallied, expected);
  EXPECT_EQ(counted.pieces, world.passes[0].anchors.size() + world.passes[1].anchors.size());
}

// A hub of 100 leaves gets another one. The second vertex is found by one look-up of the hub's list. The third is found by one
// look-up for each 32 second vertices, which are extended together. From the new leaf nothing is found.
TEST(ExactWalker, SiblingsShareALookUp) {
  WorldOptions options;
  options.vertices = 102;
  options.edges = options.inserted = options.removed = 0;
  World world(options, 1);
  world.make_star(0, 101);
  world.add(parse_pattern("(a)--(b), (a)--(c), (a)--(d)", "test"), MatchMode::isomorphism, CountMode::embeddings, true);
  world.stage();
  Workers workers(1);
  Estimator estimator(workers);
  const Accesses& counted = estimator.count(world.graph, world.passes, world.tasks, world.programs);
  const std::vector<Access> expected{{{0, graph::StoreKind::base}, 1 + 100.0 / 32}, {{101, graph::StoreKind::base}, 1}};
  EXPECT_EQ(counted.lists, expected);
}

}  // namespace
}  // namespace deltamatch::estimate
