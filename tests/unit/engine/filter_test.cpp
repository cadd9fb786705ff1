// Filtering that begins while a graph is matched: what was found before and what is found after make the whole answer.
#include <gtest/gtest.h>

#include <string>

#include "deltamatch/engine.hpp"

namespace deltamatch {
namespace {

// A clique, in which matching takes long; pairs that are in no match; and as many leaves around one vertex.
Engine make_graph(int clique, int pairs, int labels, unsigned threads, int leaves = 0) {
  Engine engine({.directed = false, .threads = threads});
  UpdateBatch batch;
  const auto add = [&](int source, int target) {
    Update update;
    update.source = Id(std::int64_t{source});
    update.target = Id(std::int64_t{target});
    const std::string source_label = std::to_string(source % labels);
    const std::string target_label = std::to_string(target % labels);
    update.source_label = source_label;
    update.target_label = target_label;
    batch.add(update);
  };
  for (int v = 0; v < clique; ++v) {
    for (int u = 0; u < v; ++u) add(u, v);
  }
  for (int i = 0; i < pairs; ++i) {
    const int first = (clique / labels + 1 + 2 * i) * labels;
    add(first, first + (labels > 1 ? 1 : labels));
  }
  const int hub = 1'000'000 * labels;
  for (int i = 1; i <= leaves; ++i) add(hub, hub + i);
  engine.load(batch, OnReject::stop);
  return engine;
}

std::string clique_pattern(int vertices, bool labelled) {
  std::string text;
  for (int v = 0; v < vertices; ++v) {
    for (int u = 0; u < v; ++u) {
      const auto name = [&](int w) { return "(v" + std::to_string(w) + (labelled ? ":" + std::to_string(w) : "") + ")"; };
      text += (text.empty() ? "" : ", ") + name(u) + "--" + name(v);
    }
  }
  return text;
}

void expect_same(Engine& engine, const std::string& pattern, const QueryOptions& asked, CountFrom from = CountFrom::automatic,
                 bool used = true) {
  const Query query = parse_pattern(pattern, "q");
  StaticOptions options;
  options.query = asked;
  options.count_from = from;
  options.filter = Filter::none;
  const StaticResult plain = engine.match(query, options);
  EXPECT_TRUE(plain.filter.steps.empty());
  ASSERT_GT(plain.matches, 0);
  options.filter = Filter::automatic;
  const StaticResult filtered = engine.match(query, options);
  EXPECT_FALSE(filtered.filter.steps.empty()) << "matching was over before";
  EXPECT_EQ(filtered.filter.used, used);
  EXPECT_TRUE(filtered.matches == plain.matches);
  EXPECT_EQ(filtered.digest, plain.digest);
}

class LateFilter : public testing::TestWithParam<unsigned> {};

TEST_P(LateFilter, KeepsSums) {
  Engine engine = make_graph(84, 2000, 7, GetParam());
  expect_same(engine, clique_pattern(7, true), {});
}

TEST_P(LateFilter, KeepsCountsThatSymmetryDivides) {
  Engine engine = make_graph(32, 500, 1, GetParam(), 3000);
  QueryOptions options;
  expect_same(engine, clique_pattern(7, false), options, CountFrom::edges);
  options.count = CountMode::embeddings;
  expect_same(engine, clique_pattern(7, false), options, CountFrom::edges);
}

TEST_P(LateFilter, KeepsCountsFromVertices) {
  Engine labelled = make_graph(91, 2000, 7, GetParam(), 20000);
  expect_same(labelled, clique_pattern(7, true), {}, CountFrom::vertices);
  Engine alike = make_graph(36, 500, 1, GetParam(), 3000);
  expect_same(alike, clique_pattern(6, false), {}, CountFrom::vertices);
}

TEST_P(LateFilter, GoesOnWithoutWhereBeginningAgainGainsLittle) {
  Engine engine = make_graph(32, 500, 1, GetParam());
  expect_same(engine, clique_pattern(7, false), {}, CountFrom::edges, false);
}

TEST_P(LateFilter, KeepsListings) {
  Engine engine = make_graph(24, 500, 1, GetParam());
  QueryOptions options;
  options.list = true;
  expect_same(engine, clique_pattern(6, false), options);
  options.count = CountMode::embeddings;
  expect_same(engine, clique_pattern(4, false), options);
}

INSTANTIATE_TEST_SUITE_P(Threads, LateFilter, testing::Values(1U, 3U));

}  // namespace
}  // namespace deltamatch
