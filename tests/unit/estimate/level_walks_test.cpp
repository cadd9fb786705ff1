// Walks through a batch estimate how many candidates the levels of plans have. Plans that are made from that, or from any other
// figures, find the same matches.
#include "estimate/level_walks.hpp"

#include <gtest/gtest.h>

#include "plan/program.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::estimate {
namespace {

constexpr MatchMode modes[] = {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism};

WorldOptions options_for(unsigned seed) {
  WorldOptions options;
  options.directed = seed % 2 == 0;
  options.vertex_labels = 1 + seed / 2 % 3;
  options.edge_labels = 1 + seed / 3 % 3;
  options.skew = 1 + seed % 2;
  return options;
}

// By plan and level, over all partial matches, without order constraints.
std::vector<PlanFigures> count_levels(const World& world, const match::QueryTask& task, Workers& workers) {
  match::Programs programs(1);
  for (const plan::Plan& plan : task.plans->plans) {
    const bool plain = match::is_plain(*task.query, plan, world.graph.resolved());
    programs[0].push_back({plan::make_walk(plan, false, false, plain), false, plain});
  }
  Options options;
  options.leaves = true;
  return Estimator(workers, options).count(world.graph, world.passes, {&task, 1}, programs).plans[0];
}

TEST(LevelWalks, TellHowManyCandidatesThereAre) {
  Workers workers(1);
  std::size_t compared = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    World world(options_for(seed), seed);
    for (unsigned q = 0; q < 3; ++q) world.add(world.draw_query(3 + (seed + q) % 3), modes[q % 3], CountMode::embeddings);
    world.stage();
    for (const match::QueryTask& task : world.tasks) {
      const auto walked = walk_levels(world.graph, world.passes, task, 40'000);
      const auto counted = count_levels(world, task, workers);
      ASSERT_EQ(walked.size(), counted.size());
      for (std::size_t p = 0; p < walked.size(); ++p) {
        ASSERT_EQ(walked[p].size(), task.plans->plans[p].levels.size());
        for (std::size_t l = 1; l < walked[p].size(); ++l) {
          const double before = counted[p].partial_matches[l - 1];
          if (before == 0) {
            EXPECT_EQ(walked[p][l].walks, 0U);
            continue;
          }
          if (walked[p][l].walks < 4'000) continue;
          EXPECT_NEAR(walked[p][l].candidates / walked[p][l].partial_matches, counted[p].partial_matches[l] / before,
                      0.05 + 0.1 * counted[p].partial_matches[l] / before)
              << "plan " << p << ", level " << l;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 200U);
}

// Vertices of a clique of five are joined in some 10^20 ways. These say nothing about levels.
TEST(LevelWalks, DoNotCombineParallelEdges) {
  WorldOptions options;
  options.vertices = 6;
  options.edge_labels = 200;
  options.edges = 2000;
  World world(options, 1);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(e)--(a)--(c)--(e)--(b)--(d)--(a)", "clique"));
  world.stage();
  for (const auto& plan : walk_levels(world.graph, world.passes, world.tasks[0], 1000)) {
    for (const LevelFigures& level : plan) EXPECT_GT(level.walks, 0U);
  }
}

TEST(LevelWalks, DependOnTheirArgumentsAlone) {
  World world(options_for(1), 1);
  world.add(world.draw_query(4));
  world.stage();
  const auto one = walk_levels(world.graph, world.passes, world.tasks[0], 100);
  const auto other = walk_levels(world.graph, world.passes, world.tasks[0], 100);
  for (std::size_t p = 0; p < one.size(); ++p) {
    for (std::size_t l = 0; l < one[p].size(); ++l) {
      EXPECT_EQ(one[p][l].walks, other[p][l].walks);
      EXPECT_EQ(one[p][l].candidates, other[p][l].candidates);
    }
  }
}

TEST(Observations, ChangePlansAndNotWhatIsMatched) {
  Workers workers(2);
  const auto matcher = match::make_cpu_matcher(workers);
  const auto count = [&](const World& world, match::QueryTask task, const plan::QueryPlans& plans) {
    task.plans = &plans;
    std::vector<std::string> counts;
    std::vector<match::QueryResult> results(world.passes.size());
    for (match::QueryResult& result : results) result.plans.resize(plans.plans.size());
    match::MatchSteps steps;
    matcher->match(world.graph, world.passes, {&task, 1}, results, nullptr, steps);
    for (const match::QueryResult& result : results) counts.push_back(to_string(match::total(task, result.plans)));
    return counts;
  };
  std::size_t changed = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    World world(options_for(seed), seed);
    for (unsigned q = 0; q < 4; ++q) {
      const MatchMode mode = modes[(seed + q) % 3];
      const bool classes = mode == MatchMode::isomorphism && seed % 3 != 0;
      world.add(world.draw_query(3 + (seed + q) % 4), mode, classes ? CountMode::subgraphs : CountMode::embeddings, q % 2 == 1);
    }
    world.stage();
    for (const match::QueryTask& task : world.tasks) {
      std::vector<plan::Observations> seen(task.plans->plans.size());
      for (std::size_t p = 0; p < seen.size(); ++p) {
        for (const plan::Level& level : task.plans->plans[p].levels) {
          const double candidates = std::pow(10.0, std::uniform_real_distribution<double>(-3, 3)(world.random()));
          seen[p].push_back(
              {level.vertex, plan::read_at(*task.query, 1u << level.vertex, level.candidates.probes), candidates});
        }
      }
      const plan::QueryPlans other = plan::make_delta_plans(*task.query, seen);
      ASSERT_EQ(other.plans.size(), seen.size());
      for (std::size_t p = 0; p < seen.size(); ++p) {
        ASSERT_EQ(other.plans[p].anchor.edge, task.plans->plans[p].anchor.edge);
        changed += std::ranges::equal(other.plans[p].levels, task.plans->plans[p].levels, {}, &plan::Level::vertex,
                                      &plan::Level::vertex)
                       ? 0
                       : 1;
      }
      EXPECT_EQ(count(world, task, other), count(world, task, *task.plans)) << to_pattern(task.query->query);
    }
  }
  EXPECT_GT(changed, 300U);
}

}  // namespace
}  // namespace deltamatch::estimate
