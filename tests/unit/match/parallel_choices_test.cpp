// Query edges that need data edges of their own. If there are too few, nothing else is matched first.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "deltamatch/engine.hpp"
#include "support/edges.hpp"

namespace deltamatch {
namespace {

using test::join;

/// Joins each of twenty vertices to each of twenty others. Between 0 and 20 there is a second edge `also`.
UpdateBatch bipartite(std::string_view also) {
  UpdateBatch batch;
  for (std::int64_t a = 0; a < 20; ++a) {
    for (std::int64_t b = 20; b < 40; ++b) join(batch, a, b, "y");
  }
  join(batch, 0, 20, also);
  return batch;
}

Count match(Engine& engine, const std::string& pattern, StaticOptions options = {}) {
  options.timeout = std::chrono::seconds(20);
  const StaticResult result = engine.match(parse_pattern(pattern, "q"), options);
  EXPECT_TRUE(result.complete()) << pattern << " was walked to its ends";
  return result.matches;
}

// A path of seven vertices: there are 20^7, if edges were distinguished last.
TEST(ParallelChoices, TooFewEdgesAreSeenAtOnce) {
  for (const bool directed : {true, false}) {
    Engine engine({.directed = directed, .threads = 1});
    engine.load(bipartite("other"));
    const std::string tail = ", (b)--(c)--(d)--(e)--(f)--(g)";
    for (const bool list : {false, true}) {
      StaticOptions options;
      options.query.list = list;
      EXPECT_TRUE(match(engine, "(a)-[:y]-(b), (a)-[:y|z]-(b)" + tail, options) == 0) << directed << list;
    }
  }
}

// This holds wherever in the plan the two edges are. All allowed matches are found.
TEST(ParallelChoices, WhatIsLeftIsFound) {
  for (const bool directed : {true, false}) {
    Engine engine({.directed = directed, .threads = 1});
    engine.load(bipartite("z"));
    for (const char* pattern : {"(a)-[:y]-(b), (a)-[:y|z]-(b), (b)--(c)", "(c)--(b), (a)-[:y|z]-(b), (a)-[:y]-(b)"}) {
      // a and b are 0 and 20, in either order. c is one of the 19 others, with one edge.
      EXPECT_TRUE(match(engine, pattern) == 2 * 19) << pattern << directed;
    }
    // Three query edges, each of which any of the two would fit. With a third data edge, there is one way for each.
    const std::string three = "(a)-[:y]-(b), (a)-[:y|z]-(b), (a)-[:z|y|w]-(b), (b)--(c)";
    EXPECT_TRUE(match(engine, three + "--(d)--(e)--(f)--(g)--(h)") == 0) << directed;
    UpdateBatch third;
    join(third, 0, 20, "w");
    engine.process(third);
    EXPECT_TRUE(match(engine, three) == 2 * 19) << directed;
  }
}

// In the mode in which vertices may coincide, but edges may not: a walk along a leg of a spider ends at its foot.
TEST(ParallelChoices, WalksDoNotTurnBackOnTheirEdge) {
  UpdateBatch batch;
  constexpr std::int64_t legs = 300;
  for (std::int64_t leg = 1; leg <= legs; ++leg) {
    join(batch, 0, leg, "");
    join(batch, leg, leg + 1000, "");
  }
  Engine engine({.directed = false, .threads = 1});
  engine.load(batch);
  StaticOptions options;
  options.query.mode = MatchMode::edge_distinct;
  options.query.count = CountMode::embeddings;
  options.filter = Filter::none;
  EXPECT_TRUE(match(engine, "(a)--(b)--(c)--(d)--(e)--(f)--(g)--(h)--(i)", options) == 0);
  EXPECT_TRUE(match(engine, "(a)--(b)--(c)--(d)--(e)", options) == legs * (legs - 1)) << "from foot to foot";
}

// This holds at the last vertex too. 12 query edges must all lie between one pair, which has 11 edges. Trying all would take 40
// million ways for each label of the anchor.
TEST(ParallelChoices, TooFewAreSeenAtTheLastVertex) {
  UpdateBatch batch;
  test::join_often(batch, 1, 2, 11);
  std::string star;
  for (int leaf = 0; leaf < 12; ++leaf) star += (leaf == 0 ? "(a)--(v" : ", (a)--(v") + std::to_string(leaf) + ")";
  Engine engine({.directed = false, .threads = 1});
  engine.load(batch);
  StaticOptions options;
  options.query.mode = MatchMode::edge_distinct;
  options.query.count = CountMode::embeddings;
  options.filter = Filter::none;
  EXPECT_TRUE(match(engine, star, options) == 0);
}

// This holds for standing queries too: in the batch that brings an edge, and in the one that removes it.
TEST(ParallelChoices, BatchesSeeThemAtOnce) {
  Engine engine({.directed = false, .threads = 1});
  engine.add_query(parse_pattern("(a)-[:y]-(b), (a)-[:y|z]-(b), (b)--(c)--(d)--(e)--(f)--(g)", "path"));
  engine.load(bipartite("y"));
  UpdateBatch batch;
  join(batch, 3, 40, "y");
  EXPECT_TRUE(engine.process(batch).queries[0].added == 0);
}

}  // namespace
}  // namespace deltamatch
