// Estimates by random walks: they are unbiased, and their intervals contain the truth about as often as they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "support/edges.hpp"

namespace deltamatch {
namespace {

struct Case {
  std::string name;
  std::string pattern;
  bool directed = false;
  bool induced = false;
  QueryOptions options;
};

// Some vertices have many neighbours. There are two vertex labels, two edge labels and parallel edges.
Engine make_graph(bool directed, unsigned threads = 2) {
  Engine engine({.directed = directed, .threads = threads});
  std::mt19937 random(7);
  UpdateBatch batch;
  for (int i = 0; i < 600; ++i) {
    const auto skewed = [&] {
      return static_cast<std::int64_t>(60 * std::pow(static_cast<double>(random() % 1000) / 1000, 2));
    };
    Update update;
    const std::int64_t source = skewed();
    const std::int64_t target = skewed();
    if (source == target) continue;
    update.source = Id(source);
    update.target = Id(target);
    update.source_label = source % 3 == 0 ? "A" : "B";
    update.target_label = target % 3 == 0 ? "A" : "B";
    update.label = random() % 4 == 0 ? "y" : "x";
    batch.add(update);
  }
  engine.load(batch, OnReject::skip);
  return engine;
}

class SampledQuery : public testing::TestWithParam<Case> {};

TEST_P(SampledQuery, IsUnbiasedAndItsIntervalsHold) {
  const Case& param = GetParam();
  Engine engine = make_graph(param.directed);
  const Query query = parse_pattern(param.pattern, param.name);
  StaticOptions exact;
  exact.query = param.options;
  exact.induced = param.induced;
  const auto truth = static_cast<double>(engine.match(query, exact).matches);
  ASSERT_GT(truth, 20);

  constexpr int runs = 400;
  double sum = 0;
  double squares = 0;
  int held = 0;
  for (int seed = 1; seed <= runs; ++seed) {
    SampleOptions options;
    options.query = param.options;
    options.induced = param.induced;
    options.walks = 3000;
    options.seed = static_cast<std::uint64_t>(seed);
    const SampleResult result = engine.sample(query, options);
    ASSERT_EQ(result.walks, 3000U);
    ASSERT_EQ(result.shortfall, Shortfall::none);
    ASSERT_LE(result.low, result.matches);
    ASSERT_GE(result.high, result.matches);
    sum += result.matches;
    squares += result.matches * result.matches;
    held += result.low <= truth && truth <= result.high ? 1 : 0;
  }
  const double mean = sum / runs;
  const double deviation = std::sqrt(std::max(0.0, squares / runs - mean * mean) / runs);
  EXPECT_LE(std::fabs(mean - truth), 4 * deviation + 1e-9 * truth) << mean << " for " << truth;
  // 95 % of 400 are 380, give or take 4.4. Walks of skewed weights contain the truth a little less often.
  EXPECT_GE(held, 0.90 * runs);
  EXPECT_LE(held, 0.99 * runs);
}

constexpr QueryOptions subgraphs{};
constexpr QueryOptions embeddings{.count = CountMode::embeddings};
constexpr QueryOptions edge_distinct{.mode = MatchMode::edge_distinct, .count = CountMode::embeddings};
constexpr QueryOptions homomorphism{.mode = MatchMode::homomorphism, .count = CountMode::embeddings};

INSTANTIATE_TEST_SUITE_P(Queries, SampledQuery,
                         testing::Values(Case{"triangle", "(a)--(b)--(c)--(a)", false, false, subgraphs},
                                         Case{"labelled_path", "(a:A)-[:x]-(b:B)-[:y]-(c)", false, false, embeddings},
                                         Case{"square_induced", "(a)--(b)--(c)--(d)--(a)", false, true, subgraphs},
                                         Case{"directed_path_induced", "(a)-->(b)-->(c)", true, true, subgraphs},
                                         Case{"wedge_homomorphism", "(a)-->(b)-->(c)", true, false, homomorphism},
                                         Case{"path_edge_distinct", "(a)--(b)--(c)--(d)", true, false, edge_distinct},
                                         Case{"parallel", "(a)-[:x]-(b), (a)-[:x|y]-(b), (b)--(c)", false, false, subgraphs},
                                         Case{"path_edge_distinct_induced", "(a)--(b)--(c)", false, true, edge_distinct},
                                         Case{"path_homomorphism_induced", "(a)-->(b)-->(c)", true, true, homomorphism},
                                         Case{"there_and_back", "(a)-->(b)-->(a)", true, false, subgraphs}),
                         [](const auto& instance) { return instance.param.name; });

TEST(Sample, EveryThreadCountDrawsTheSame) {
  const Query query = parse_pattern("(a)--(b)--(c)--(a)", "triangle");
  SampleOptions options;
  options.walks = 100'000;
  const SampleResult one = make_graph(false, 1).sample(query, options);
  EXPECT_GT(one.hits, 0U);
  EXPECT_EQ(one.walks, 100'020U);
  for (const unsigned threads : {2U, 3U}) {
    const SampleResult several = make_graph(false, threads).sample(query, options);
    EXPECT_EQ(several.matches, one.matches);
    EXPECT_EQ(several.high, one.high);
    EXPECT_EQ(several.hits, one.hits);
  }
}

// Each walk stands for all combinations of parallel edges without trying them. If all are alike, the estimate is exact.
TEST(Sample, ParallelEdgesAreNotCombined) {
  constexpr int labels = 200;
  Engine engine({.directed = false, .threads = 2});
  UpdateBatch batch;
  for (std::int64_t v = 0; v < 6; ++v) {
    for (std::int64_t u = 0; u < v; ++u) test::join_often(batch, u, v, labels);
  }
  engine.load(batch, OnReject::stop);
  SampleOptions options;
  options.walks = 300;
  const SampleResult result =
      engine.sample(parse_pattern("(a)--(b)--(c)--(d)--(e)--(a)--(c)--(e)--(b)--(d)--(a)", "clique"), options);
  const double truth = 6 * std::pow(labels, 10);
  EXPECT_NEAR(result.matches / truth, 1, 1e-9);
  EXPECT_EQ(result.hits, 300U);
}

TEST(Sample, WhatCannotMatchIsKnownWithoutAWalk) {
  const auto walks = [](Engine& engine, const char* pattern, MatchMode mode = MatchMode::isomorphism) {
    SampleOptions options;
    options.query = {.mode = mode, .count = CountMode::embeddings};
    options.walks = 10;
    const SampleResult result = engine.sample(parse_pattern(pattern, "q"), options);
    EXPECT_EQ(result.shortfall, Shortfall::none);
    if (result.walks == 0) {
      EXPECT_EQ(result.hits, 0U);
      EXPECT_EQ(result.matches, 0);
      EXPECT_EQ(result.high, 0);
    }
    return result.walks;
  };
  Engine engine({.directed = false, .threads = 1});
  EXPECT_EQ(walks(engine, "(a)--(b)"), 0U);
  UpdateBatch batch;
  for (const int target : {2, 3}) {
    Update update;
    update.source = Id(1);
    update.target = Id(target);
    update.label = "x";
    batch.add(update);
  }
  engine.load(batch);
  EXPECT_EQ(walks(engine, "(a)--(b)--(c)"), 30U);
  EXPECT_EQ(walks(engine, "(a)-[:y]-(b)"), 0U) << "no such edge";
  EXPECT_EQ(walks(engine, "(a)--(b)--(c)--(d)"), 0U) << "four vertices of three";
  EXPECT_EQ(walks(engine, "(a)--(b)--(c)--(a)"), 0U) << "three edges of two";
  EXPECT_EQ(walks(engine, "(a)--(b)--(c)--(d)", MatchMode::edge_distinct), 0U) << "three edges of two";
  EXPECT_EQ(walks(engine, "(a)--(b)--(c)--(d)", MatchMode::homomorphism), 30U);
  SampleOptions nothing;
  nothing.walks = 0;
  EXPECT_THROW(static_cast<void>(engine.sample(parse_pattern("(a)--(b)", "q"), nothing)), Error);
}

// The number of walks of all replicates after that many whole rounds.
std::uint64_t walks_after(unsigned rounds) {
  std::uint64_t walks = 0;
  for (unsigned round = 0; round < rounds; ++round) walks += std::uint64_t{1} << std::min(round, 9U);
  return walks * SampleResult::replicates;
}

// A query whose walks take long gets its first report after few of them.
TEST(Sample, RoundsBeginSmallAndGrow) {
  Engine engine = make_graph(false);
  SampleOptions options;
  options.walks = walks_after(12) - 7;  // so the last round is not whole
  std::vector<double> shares;
  options.progress = [&](double share, double) { shares.push_back(share); };
  const SampleResult result = engine.sample(parse_pattern("(a)--(b)--(c)--(a)", "triangle"), options);
  ASSERT_EQ(result.walks, walks_after(12));
  ASSERT_EQ(shares.size(), 12U);
  for (unsigned round = 0; round < shares.size(); ++round) {
    EXPECT_EQ(std::llround(shares[round] * static_cast<double>(result.walks)), walks_after(round + 1)) << round;
  }
}

TEST(Sample, StopsWhenItIsTold) {
  Engine engine = make_graph(false);
  SampleOptions options;
  options.walks = std::uint64_t{1} << 50;
  std::atomic<unsigned> calls = 0;
  options.progress = [&](double fraction, double) {
    EXPECT_GT(fraction, 0);
    ++calls;
  };
  options.stop = [&] { return calls >= 3; };
  const SampleResult result = engine.sample(parse_pattern("(a)--(b)--(c)--(a)", "triangle"), options);
  EXPECT_EQ(result.shortfall, Shortfall::stopped);
  EXPECT_GE(calls, 3U);
  EXPECT_EQ(result.walks, walks_after(calls));
  EXPECT_GT(result.high, result.low);
}

}  // namespace
}  // namespace deltamatch
