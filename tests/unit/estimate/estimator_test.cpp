// Estimates against true counts. They are unbiased for each list and in total, and the same with any number of threads. They
// take as many walks as asked for.
#include "estimate/estimator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <ostream>

#include "estimate/access_prior.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::estimate {
namespace {

using testing::DoubleNear;

struct Moments {
  double sum = 0;
  double squares = 0;
  void add(double x) noexcept {
    sum += x;
    squares += x * x;
  }
  /// The distance of the mean of `n` from the truth, in standard errors. 0 if both are one number.
  [[nodiscard]] double z(double truth, double n) const {
    const double mean = sum / n;
    const double variance = std::max(0.0, squares / n - mean * mean) / (n - 1);
    if (variance <= 1e-12 * truth * truth) return std::fabs(mean - truth) <= 1e-4 * truth ? 0 : INFINITY;
    return (mean - truth) / std::sqrt(variance);
  }
};

struct Setting {
  Method method;
  double walks;
  bool followed = false;  ///< one estimator runs again and again, and learns how long matching took
};

std::string name_of(const Setting& setting) {
  return (setting.method == Method::walks ? "walks" : "even") + std::to_string(static_cast<int>(setting.walks)) +
         (setting.followed ? "followed" : "");
}
void PrintTo(const Setting& setting, std::ostream* out) { *out << name_of(setting); }

/// Checks the mean of many estimates: for each list, in total, and for the partial matches of every node.
void expect_unbiased(World& world, const Setting& setting) {
  Workers workers(2);
  Options options;
  options.method = setting.method;
  options.walks = options.round = setting.walks;
  options.least = 1;
  options.leaves = true;
  Estimator exact(workers, options);
  const Accesses truth = exact.count(world.graph, world.passes, world.tasks, world.programs);
  ASSERT_GT(truth.total(), 200);
  constexpr unsigned seeds = 3000;
  std::map<StoredVertex, Moments> lists;
  std::vector<Moments> nodes;
  Moments total;
  std::optional<Estimator> estimator;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    options.seed = seed;
    if (!estimator || !setting.followed) estimator.emplace(workers, options);
    if (setting.followed) estimator->matched(1e9);
    const Accesses& estimate = estimator->run(world.graph, world.passes, world.tasks, world.programs);
    for (const Access& access : estimate.lists) lists[access.at].add(access.times);
    total.add(estimate.total());
    std::size_t n = 0;
    for (const auto& plans : estimate.plans) {
      for (const PlanFigures& plan : plans) {
        for (const double found : plan.partial_matches) {
          if (nodes.size() <= n) nodes.emplace_back();
          nodes[n++].add(found);
        }
      }
    }
  }
  // Rare lists are met with few of the seeds. Their means are far from normal, so they are judged together.
  EXPECT_LT(std::fabs(total.z(truth.total(), seeds)), 4);
  double chi = 0;
  std::size_t judged = 0;
  for (const Access& access : truth.lists) {
    const double z = lists[access.at].z(access.times, seeds);
    EXPECT_LT(std::fabs(z), 5) << "vertex " << access.at.vertex << " looked up " << access.times << " times";
    chi += z * z;
    ++judged;
  }
  for (const auto& [at, moments] : lists) {
    EXPECT_TRUE(std::any_of(truth.lists.begin(), truth.lists.end(), [&](const Access& access) { return access.at == at; }))
        << "vertex " << at.vertex << " is never looked up";
  }
  EXPECT_LT(chi / static_cast<double>(judged), 2);
  std::size_t n = 0;
  for (const auto& plans : truth.plans) {
    for (const PlanFigures& plan : plans) {
      for (const double found : plan.partial_matches) EXPECT_LT(std::fabs(nodes[n++].z(found, seeds)), 5) << "node " << n;
    }
  }
}

class Unbiased : public testing::TestWithParam<Setting> {};

// Vanishing matches and new matches read different lists. Neither may compensate for the other.
TEST_P(Unbiased, InEachPass) {
  World world({.inserted = 40, .removed = 40}, 11);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(a), (b)--(d)", "test"), MatchMode::isomorphism, CountMode::subgraphs, true);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(e)--(a)", "test"));
  world.stage();
  const std::vector<match::PassWork> both = world.passes;
  ASSERT_EQ(both.size(), 2U);
  for (const match::PassWork& pass : both) {
    SCOPED_TRACE(pass.pass == match::Pass::removed ? "vanished" : "new");
    ASSERT_FALSE(pass.anchors.empty());
    world.passes = {pass};
    expect_unbiased(world, GetParam());
  }
}

TEST_P(Unbiased, OnAWalk) {
  World world({}, 11);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(a), (b)--(d)", "test"), MatchMode::isomorphism, CountMode::subgraphs, true);
  world.stage();
  expect_unbiased(world, GetParam());
}

TEST_P(Unbiased, OnSums) {
  WorldOptions options;
  options.vertices = 18;
  World world(options, 12);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(e)--(a)", "test"));
  world.add(parse_pattern("(a)--(b)--(c)--(a), (c)--(d), (d)--(e)", "test"));
  world.stage();
  expect_unbiased(world, GetParam());
}

TEST_P(Unbiased, OnDirectedLabelledWildcards) {
  WorldOptions options;
  options.directed = true;
  options.edge_labels = 2;
  options.vertex_labels = 2;
  options.vertices = 16;
  options.edges = 110;
  options.skew = 1.5;
  World world(options, 13);
  world.add(parse_pattern("(a)-->(b)-->(c)--(a)", "test"), MatchMode::homomorphism, CountMode::embeddings);
  world.add(parse_pattern("(a:V0)-->(b)-[:E1]->(c)-->(d)", "test"), MatchMode::edge_distinct, CountMode::embeddings, true);
  world.stage();
  expect_unbiased(world, GetParam());
}

// Whole graphs, from data vertices: sums with tables.
TEST_P(Unbiased, OnRoots) {
  for (const char* pattern : {"(a)--(b)--(c)--(d)--(a)--(e)--(b)", "(a)--(b)--(c)--(d)--(e)--(a)",
                              "(a)--(b)--(c)--(d)--(a)--(c)", "(a)--(b)--(c)--(d)--(e)--(f)--(a)"}) {
    SCOPED_TRACE(pattern);
    WorldOptions options;
    options.edges = 70;
    options.skew = 1.5;
    World world(options, 14);
    world.add(parse_pattern(pattern, "test"));
    world.take_whole(CountFrom::vertices);
    ASSERT_TRUE(world.tasks[0].plans->rooted);
    expect_unbiased(world, GetParam());
  }
}

// This includes a hub, whose work is split.
TEST_P(Unbiased, OnRootsWithLabels) {
  WorldOptions options;
  options.directed = true;
  options.vertices = 90;
  options.edges = 600;
  options.inserted = options.removed = 0;
  options.vertex_labels = 2;
  options.edge_labels = 2;
  World world(options, 15);
  world.make_star(3, 80);
  world.add(parse_pattern("(a:V0)-[:E0]->(b:V1)-[:E0]->(c:V0), (a)-[:E0]->(d:V1)-[:E0]->(c), (a)-[:E0]->(e:V0)", "test"));
  world.take_whole(CountFrom::vertices);
  ASSERT_TRUE(world.tasks[0].plans->rooted);
  EXPECT_GT(match::table_shares(world.graph.degree(3)), 1);
  expect_unbiased(world, GetParam());
}

// Whole graphs, from data edges: loops that find each match once, and sums with tables. Also batches.
TEST_P(Unbiased, OnAllEdges) {
  World world({.vertices = 40, .edges = 160}, 16);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(a)--(c)", "test"));
  world.take_whole(CountFrom::edges);
  expect_unbiased(world, GetParam());
  World tables({.edges = 60}, 17);
  tables.add(parse_pattern("(a)--(b)--(c)--(d)--(e)--(f)--(a)", "test"));
  tables.add(parse_pattern("(a)--(b)--(c)--(d)", "test"));
  tables.take_whole(CountFrom::edges);
  EXPECT_GT(tables.use_tables(), 0);
  expect_unbiased(tables, GetParam());
}

TEST_P(Unbiased, OnTablesOfABatch) {
  World world({.edges = 60}, 18);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(e)--(f)--(a)", "test"));
  world.add(parse_pattern("(a)--(b)--(c)--(d)", "test"));
  world.stage();
  EXPECT_GT(world.use_tables(), 0);
  expect_unbiased(world, GetParam());
}

std::string setting_name(const testing::TestParamInfo<Setting>& info) { return name_of(info.param); }
INSTANTIATE_TEST_SUITE_P(Methods, Unbiased,
                         testing::Values(Setting{Method::walks, 3000}, Setting{Method::walks, 30000}, Setting{Method::even, 16},
                                         Setting{Method::even, 64}, Setting{Method::even, 16, true}),
                         setting_name);

TEST(Binomial, HasMeanAndVarianceOfEveryRange) {
  for (const auto& [n, p] : {std::pair<std::uint64_t, double>{10, 0.3},
                             {10, 0.9},
                             {1000, 0.001},
                             {1000, 0.2},
                             {1000, 0.7},
                             {1000000, 1e-5},
                             {1000000, 0.5},
                             {40, 0.45},
                             {std::uint64_t{1} << 40, 1e-9}}) {
    Random random(1, n, static_cast<std::uint64_t>(p * 1e9));
    constexpr unsigned draws = 200000;
    const double mean = static_cast<double>(n) * p;
    const double variance = mean * (1 - p);
    double sum = 0;
    double squares = 0;
    for (unsigned i = 0; i < draws; ++i) {
      const std::uint64_t k = random.binomial(n, p);
      ASSERT_LE(k, n);
      const double off = static_cast<double>(k) - mean;
      sum += off;
      squares += off * off;
    }
    EXPECT_LT(std::fabs(sum / draws), 5 * std::sqrt(variance / draws)) << n << " x " << p;
    EXPECT_NEAR(squares / draws / variance, 1, 0.03) << n << " x " << p;
  }
  Random random(1, 2, 3);
  EXPECT_EQ(random.binomial(0, 0.5), 0);
  EXPECT_EQ(random.binomial(7, 0), 0);
  EXPECT_EQ(random.binomial(7, 1), 7);
}

TEST(Estimator, DoesNotDependOnThreads) {
  WorldOptions shape;
  shape.vertices = 300;
  shape.edges = 2000;
  shape.inserted = shape.removed = 200;
  shape.skew = 2;
  World world(shape, 21);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(a)", "test"));
  world.add(parse_pattern("(a)--(b)--(c)--(a), (c)--(d)", "test"), MatchMode::isomorphism, CountMode::subgraphs, true);
  world.stage();
  for (const Method method : {Method::walks, Method::even}) {
    Options options;
    options.method = method;
    options.walks = 5000;
    options.round = 2000;
    options.least = 1;
    options.seed = 5;
    Workers one(1);
    Estimator alone(one, options);
    const Accesses expected = alone.run(world.graph, world.passes, world.tasks, world.programs);
    EXPECT_EQ(expected.rounds, 3);
    for (const unsigned threads : {2U, 3U, 8U}) {
      Workers workers(threads);
      Estimator estimator(workers, options);
      for (unsigned again = 0; again < 2; ++again) {
        const Accesses& estimate = estimator.run(world.graph, world.passes, world.tasks, world.programs);
        EXPECT_EQ(estimate.lists, expected.lists);
        for (std::size_t t = 0; t < expected.plans.size(); ++t) {
          for (std::size_t p = 0; p < expected.plans[t].size(); ++p) {
            EXPECT_EQ(estimate.plans[t][p].partial_matches, expected.plans[t][p].partial_matches);
          }
        }
      }
    }
    options.seed = 6;
    Estimator other(one, options);
    EXPECT_NE(other.run(world.graph, world.passes, world.tasks, world.programs).lists, expected.lists);
  }
}

TEST(WalkCounts, FollowTheFormulas) {
  // (n - 1)(2 + alpha) |dE| D^(n-2) / (alpha^2 (1 - delta) C): 4 x 3 x 1000 x 10^3 / (1 x 0.1 x 50)
  EXPECT_THAT(formula_walks(4, 1000 * 1e3, 1, 0.9, 50), DoubleNear(2.4e6, 1));
  EXPECT_THAT(paper_walks(8192, 64, 5), DoubleNear(8192 * 8 / 1024.0, 1e-9));
  EXPECT_THAT(paper_walks(1000, 12, 7), DoubleNear(1000 * std::pow(12, 5) / std::pow(32, 7), 1e-12));
  EXPECT_GT(paper_walks(98304, 18311, 7), 1e15) << "no integer would hold what clamping takes care of";
}

class WalkCountOfAWorld : public testing::Test {
 protected:
  void SetUp() override {
    world_.add(parse_pattern("(a)--(b)--(c)--(d)--(a)", "test"), MatchMode::isomorphism, CountMode::subgraphs, true);
    world_.stage();
  }
  Accesses run(const Options& options) {
    Estimator estimator(workers_, options);
    return estimator.run(world_.graph, world_.passes, world_.tasks, world_.programs);
  }
  static Options options(WalkCount count) {
    Options options;
    options.method = Method::walks;
    options.count = count;
    return options;
  }
  [[nodiscard]] double degree() const { return world_.graph.base().longest(0); }

  World world_{{}, 31};
  Workers workers_{1};
};

TEST_F(WalkCountOfAWorld, IsClamped) {
  Options fixed = options(WalkCount::fixed);
  fixed.walks = 5000;
  EXPECT_EQ(run(fixed).walks, 5000);
  fixed.most = 700;
  fixed.least = 100;
  EXPECT_EQ(run(fixed).walks, 700);
  fixed.walks = 1;
  EXPECT_EQ(run(fixed).walks, 100);
  Options paper = options(WalkCount::paper);
  paper.least = 1;
  EXPECT_EQ(run(paper).walks, std::max(1.0, std::ceil(paper_walks(24, degree(), 4))));
  paper.least = 333;
  EXPECT_EQ(run(paper).walks, 333);
}

TEST_F(WalkCountOfAWorld, TheFormulaIsAskedAgainWithEveryEstimate) {
  Options formula = options(WalkCount::formula);
  formula.alpha = 4;
  formula.delta = 0.1;
  formula.least = 10;
  formula.most = 1e8;
  formula.round = 1e6;
  const Accesses estimate = run(formula);
  EXPECT_GT(estimate.rounds, 1);
  double least = INFINITY;
  for (const Access& access : estimate.lists) least = std::min(least, access.times);
  const double pieces = static_cast<double>(estimate.pieces);
  const double enough = formula_walks(3, pieces * degree() * degree(), formula.alpha, formula.delta, least);
  EXPECT_TRUE(estimate.walks >= enough * (1 - 1e-9) || estimate.walks == formula.most) << estimate.walks << " of " << enough;
  formula.most = 20;
  EXPECT_EQ(run(formula).walks, 20);
}

TEST_F(WalkCountOfAWorld, TimeEndsAfterAWholeRound) {
  for (const Method method : {Method::walks, Method::even}) {
    Options timed = options(WalkCount::fixed);
    timed.method = method;
    timed.walks = 1e6;
    timed.round = 1e4;
    timed.share = INFINITY;
    EXPECT_EQ(run(timed).rounds, 100) << "nobody has told what matching takes";
    Options alone = timed;
    alone.walks = 1e4;
    Estimator estimator(workers_, timed);
    estimator.matched(0);
    const Accesses first = estimator.run(world_.graph, world_.passes, world_.tasks, world_.programs);
    EXPECT_EQ(first.rounds, 1);
    EXPECT_EQ(first.walks, 1e4);
    EXPECT_EQ(run(alone).lists, first.lists) << "divided by the rounds done";
  }
}

TEST_F(WalkCountOfAWorld, FollowsWhatMatchingTakes) {
  for (const Method method : {Method::walks, Method::even}) {
    Options options = WalkCountOfAWorld::options(WalkCount::fixed);
    options.method = method;
    options.walks = 4000;
    options.least = 500;
    Estimator estimator(workers_, options);
    const auto walks = [&] { return estimator.run(world_.graph, world_.passes, world_.tasks, world_.programs).walks; };
    EXPECT_EQ(walks(), 4000);
    EXPECT_EQ(walks(), 4000) << "nobody has told";
    estimator.matched(0);
    EXPECT_EQ(walks(), 1000) << "a step at a time";
    EXPECT_EQ(walks(), 500);
    EXPECT_EQ(walks(), 500);
    estimator.matched(1e9);
    EXPECT_EQ(walks(), 2000);
    EXPECT_EQ(walks(), 4000);
    EXPECT_EQ(walks(), 4000);
  }
}

TEST(Estimator, HasNothingToDoWithoutConcern) {
  WorldOptions shape;
  shape.vertex_labels = 2;
  World world(shape, 41);
  world.add(parse_pattern("(a:nowhere)--(b:V1)--(c)", "test"));
  world.stage();
  Workers workers(2);
  Estimator estimator(workers);
  const Accesses& estimate = estimator.run(world.graph, world.passes, world.tasks, world.programs);
  EXPECT_EQ(estimate.total() == 0, estimate.lists.empty());
  EXPECT_EQ(estimator.run(world.graph, {}, world.tasks, world.programs).pieces, 0);
  EXPECT_TRUE(estimator.run(world.graph, world.passes, {}, {}).lists.empty());
}

/// The share of the most accessed twentieth that a cache holds, if it has a tenth of the accessed memory.
double coverage(const Accesses& truth, const Accesses& estimate) {
  const auto one = [](const StoredVertex&) { return std::size_t{1}; };
  const std::vector<StoredVertex> hot = select(estimate.lists, one, truth.lists.size() / 10).hot;
  std::vector<Accessed> accessed;
  for (const Access& access : truth.lists) {
    accessed.push_back({access.times, std::binary_search(hot.begin(), hot.end(), access.at)});
  }
  return top_lists(accessed, std::vector{0.05}).front().coverage;
}

// A power law: the heaviest of 20,000 vertices has hundreds of neighbours. A cache of a tenth of the accessed memory holds the
// most accessed twentieth. This holds for each way of drawing the walks.
TEST(Estimator, CoversTheMostAccessedListsOfASkewedGraph) {
  WorldOptions shape;
  shape.vertices = 20000;
  shape.edges = 60000;
  shape.inserted = shape.removed = 256;
  shape.skew = 2.5;
  for (const char* pattern : {"(a)--(b)--(c)--(d)--(a)", "(a)--(b)--(c)--(a), (c)--(d)--(e)"}) {
    World world(shape, 51);
    world.add(parse_pattern(pattern, "test"));
    world.stage();
    EXPECT_GT(world.graph.base().longest(0), 100);
    Workers workers(2);
    Estimator estimator(workers);
    const Accesses truth = estimator.count(world.graph, world.passes, world.tasks, world.programs);
    const double even = coverage(truth, estimator.run(world.graph, world.passes, world.tasks, world.programs));
    Options options;
    options.method = Method::walks;
    Estimator walker(workers, options);
    const double walks = coverage(truth, walker.run(world.graph, world.passes, world.tasks, world.programs));
    RecordProperty(std::string("coverage of ") + pattern, std::to_string(even) + " even, " + std::to_string(walks) + " walks");
    EXPECT_GE(even, 0.9) << pattern;
    EXPECT_GE(even, walks) << pattern;
  }
}

TEST(Estimator, CoversTheMostAccessedListsOfAWholeGraph) {
  for (const CountFrom from : {CountFrom::vertices, CountFrom::edges}) {
    for (const char* pattern : {"(a)--(b)--(c)--(d)--(a)--(e)--(b)", "(a)--(b)--(c)--(d)--(a)--(c)"}) {
      World world({.vertices = 20000, .edges = 60000, .inserted = 0, .removed = 0, .skew = 2.5}, 52);
      world.add(parse_pattern(pattern, "test"));
      world.take_whole(from);
      Workers workers(2);
      Estimator estimator(workers);
      const Accesses truth = estimator.count(world.graph, world.passes, world.tasks, world.programs);
      Accesses estimate = estimator.run(world.graph, world.passes, world.tasks, world.programs);
      AccessPrior prior(workers);
      const auto bytes = [&](const StoredVertex& at) {
        return at.store != graph::StoreKind::base ? 0 : 8 + std::size_t{4} * world.graph.degree(at.vertex);
      };
      std::vector<Access> expected;
      const Posterior posterior = prior.posterior_of(world.graph, estimate, bytes, 40000);
      for (const Expected& one : posterior.lists) {
        if (one.bytes > 0) expected.push_back({one.at, posterior.times(one.usual, one.found)});
      }
      estimate.lists = std::move(expected);
      EXPECT_GE(coverage(truth, estimate), 0.85) << pattern << (from == CountFrom::vertices ? " from vertices" : " from edges");
    }
  }
}

// If there are more walks than partial matches, all look-ups are counted. If there are few, most are estimated.
TEST(Estimator, TellsWhatWasCountedAndWhatWasDrawn) {
  World world({.vertices = 200, .edges = 2000, .inserted = 50, .removed = 50}, 54);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(a)", "test"));
  world.stage();
  Workers workers(2);
  for (const double walks : {1e6, 200.0}) {
    Options options;
    options.walks = walks;
    options.least = 1;
    options.round = 1e6;
    Estimator estimator(workers, options);
    Estimator exact(workers);
    const Accesses& truth = exact.count(world.graph, world.passes, world.tasks, world.programs);
    const Accesses& estimate = estimator.run(world.graph, world.passes, world.tasks, world.programs);
    if (walks > 1000) {
      EXPECT_EQ(estimate.lists, truth.lists);
      EXPECT_EQ(estimate.noise, truth.noise);
      continue;
    }
    double drawn = 0;
    for (const Access& access : estimate.lists) {
      const double of_list = std::accumulate(access.drawn.begin(), access.drawn.end(), 0.0);
      drawn += of_list;
      EXPECT_LE(of_list, access.times * (1 + 1e-9));
    }
    EXPECT_GT(drawn, estimate.total() / 2);
    EXPECT_GT(*std::ranges::max_element(estimate.noise), 1);
  }
}

TEST(Estimator, TracesTheLookUpsThatItCounts) {
  World world({.vertices = 200, .edges = 2000, .inserted = 50, .removed = 50}, 55);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(a)", "test"));
  world.stage();
  Workers workers(2);
  Estimator estimator(workers);
  Trace trace;
  const Accesses& counted = estimator.count(world.graph, world.passes, world.tasks, world.programs, &trace);
  EXPECT_EQ(trace.size(), counted.pieces);
  std::map<StoredVertex, double> times;
  for (const auto& piece : trace) {
    for (const LookUp& one : piece) times[stored_of(one.key)] += one.times;
  }
  ASSERT_EQ(times.size(), counted.lists.size());
  for (const Access& access : counted.lists) EXPECT_NEAR(times[access.at], access.times, 1e-2) << access.at.vertex;
}

TEST(Estimator, BeginsWithFewWalksThroughAWholeGraph) {
  World world({.vertices = 3000, .edges = 20000}, 53);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(a)--(c)", "test"));
  world.take_whole(CountFrom::edges);
  Workers workers(2);
  Options options;
  options.first = 1500;
  Estimator estimator(workers, options);
  const auto run = [&] { return estimator.run(world.graph, world.passes, world.tasks, world.programs); };
  const Accesses first = run();
  EXPECT_EQ(first.walks, 1500);
  EXPECT_EQ(first.pieces, 12000) << "of 20,000 anchors four for each walk, in both orientations";
  estimator.matched(1e9);
  EXPECT_EQ(run().walks, 6000) << "and then as many as pay";
}

}  // namespace
}  // namespace deltamatch::estimate
