// Counts beyond 64 bits are exact. Counts beyond 128 bits are an Error that changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "deltamatch/engine.hpp"
#include "support/edges.hpp"

namespace deltamatch {
namespace {

/// A hub with leaves, as a query. batch_of_star makes it data.
Query star(unsigned leaves) {
  std::string text = "(h)--(v0)";
  for (unsigned i = 1; i < leaves; ++i) text += ", (h)--(v" + std::to_string(i) + ")";
  return parse_pattern(text, "star");
}

UpdateBatch batch_of_star(std::int64_t first, std::int64_t end) {
  UpdateBatch batch;
  for (std::int64_t i = first; i < end; ++i) {
    Update update;
    update.source = std::int64_t{0};
    update.target = i + 1;
    batch.add(update);
  }
  return batch;
}

Count choose(unsigned n, unsigned k) {
  Count result = 1;
  for (unsigned i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

EngineOptions undirected() {
  EngineOptions options;
  options.directed = false;
  options.threads = 1;
  return options;
}

constexpr QueryOptions homomorphisms{MatchMode::homomorphism, CountMode::embeddings, false};

TEST(LargeCounts, AnEightLeafStarOnALargeHub) {
  constexpr std::int64_t neighbours = 2249;
  const Count expected = choose(neighbours, 8);
  ASSERT_GT(expected, Count{UINT64_MAX});
  for (const std::int64_t step : {neighbours, std::int64_t{100}}) {
    Engine engine(undirected());
    engine.add_query(star(8));
    Count sum = 0;
    for (std::int64_t first = 0; first < neighbours; first += step) {
      const auto end = std::min(neighbours, first + step);
      const BatchResult result = engine.process(batch_of_star(first, end));
      sum += result.queries[0].added;
      EXPECT_EQ(to_string(sum), to_string(choose(static_cast<unsigned>(end), 8)));
      EXPECT_EQ(to_string(result.queries[0].removed), "0");
    }
    EXPECT_EQ(to_string(engine.match(star(8)).matches), to_string(expected));
    UpdateBatch removal;
    Update update;
    update.kind = UpdateKind::delete_edge;
    update.source = std::int64_t{0};
    update.target = std::int64_t{5};
    removal.add(update);
    EXPECT_EQ(to_string(engine.process(removal).queries[0].removed), to_string(choose(neighbours - 1, 7)));
  }
}

TEST(LargeCounts, TheLargestStarThatAQueryCanBe) {
  Engine engine(undirected());
  engine.add_query(star(31));
  EXPECT_EQ(to_string(engine.process(batch_of_star(0, 40)).queries[0].added), to_string(choose(40, 31)));
  EXPECT_EQ(to_string(engine.match(star(31)).matches), to_string(choose(40, 31)));
}

TEST(LargeCounts, BeyondTheCounterIsAnErrorThatChangesNothing) {
  // 31 leaves, each on any of n neighbours: n^31 from the hub. 17^31 < 2^127 < 18^31.
  Engine engine(undirected());
  engine.add_query(star(31), homomorphisms);
  const auto small = engine.process(batch_of_star(0, 2));
  EXPECT_EQ(to_string(small.queries[0].added), to_string((Count{1} << 31) + 2));
  EXPECT_THROW(engine.process(batch_of_star(2, 100)), Error);
  EXPECT_EQ(engine.graph().edges, 2U);
  EXPECT_EQ(engine.graph().vertices, 3U);
  const auto next = engine.process(batch_of_star(2, 3));
  EXPECT_EQ(next.batch, 2U);
  Count power = 1;
  for (int i = 0; i < 31; ++i) power *= 3;
  EXPECT_EQ(to_string(next.queries[0].added), to_string(power - (Count{1} << 31) + 1));
  engine.load(batch_of_star(3, 100));
  StaticOptions options;
  options.query = homomorphisms;
  EXPECT_THROW(static_cast<void>(engine.match(star(31), options)), Error);
  EXPECT_EQ(engine.graph().edges, 100U);
}

// Query edges that any of 255 parallel data edges fits, but each needs one of its own. There are `edges` of them between two
// vertices.
std::string parallel_choices(int edges) {
  std::string text;
  for (int left_out = 0; left_out < edges; ++left_out) {
    text += text.empty() ? "(h)-[:" : ", (h)-[:";
    for (int label = 0; label < 256; ++label) {
      if (label != left_out) text += (label == 0 || (label == 1 && left_out == 0) ? "L" : "|L") + std::to_string(label);
    }
    text += "]->(x)";
  }
  return text;
}

// Together that makes 255^8 < 2^64 < 255^9 ways, at the anchor's own ends or at a vertex that is bound before the last.
TEST(LargeCounts, PairsThatAreJoinedInMoreWaysThan64BitsTell) {
  UpdateBatch data;
  test::join_often(data, 0, 1, 256);
  for (const auto& [source, target] : {std::pair{1, 2}, {2, 3}, {3, 1}, {0, 2}, {0, 3}, {3, 4}, {4, 1}})
    test::join(data, source, target, "M");
  const std::string rest = ", (x)-[:M]->(y)-[:M]->(z)-[:M]->(x), (h)-[:M]->(y), (h)-[:M]->(z), (z)-[:M]->(w), (w)-[:M]->(x)";
  for (const int edges : {8, 9, 10, 15}) {
    Count expected = 1;
    for (int i = 0; i < edges; ++i) expected *= 255;
    Engine engine;
    StaticOptions options;
    options.query = homomorphisms;
    for (const std::string& pattern : {parallel_choices(edges), parallel_choices(edges) + rest}) {
      engine.add_query(parse_pattern(pattern, "q" + std::to_string(pattern.size())), homomorphisms);
    }
    const BatchResult batch = engine.process(data);
    for (const auto& query : batch.queries) EXPECT_EQ(to_string(query.added), to_string(expected)) << edges;
    for (const std::string& pattern : {parallel_choices(edges), parallel_choices(edges) + rest}) {
      for (const CountFrom from : {CountFrom::automatic, CountFrom::edges, CountFrom::vertices}) {
        options.count_from = from;
        EXPECT_EQ(to_string(engine.match(parse_pattern(pattern, "q"), options).matches), to_string(expected))
            << edges << " from " << static_cast<int>(from);
      }
    }
  }
}

}  // namespace
}  // namespace deltamatch
