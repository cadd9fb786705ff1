// A query with a path finds as many matches as one query for each length, which search by themselves.
#include "match/lane_search.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"

namespace deltamatch::match {
namespace {

struct Case {
  std::string name;
  std::string before;  ///< the pattern up to the numbers of edges
  std::string after;   ///< and behind them
  int least;
  int most;
  bool directed = true;
  friend void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }
};

/// Few vertices, so that paths meet themselves. Times repeat and lag behind; one edge in twenty has none.
std::vector<UpdateBatch> stream(std::uint32_t seed, std::size_t size) {
  std::mt19937 random(seed);
  std::vector<UpdateBatch> batches(1);
  for (int i = 0; i < 160; ++i) {
    Update update;
    update.source = static_cast<std::int64_t>(random() % 7);
    update.target = static_cast<std::int64_t>(random() % 7);
    update.label = random() % 3 == 0 ? "CALLS" : "PAYS";
    update.source_label = update.source.number() % 3 == 0 ? "Shop" : "Account";
    update.target_label = update.target.number() % 3 == 0 ? "Shop" : "Account";
    const bool tidy = seed % 2 == 0;
    if (tidy || random() % 20 != 0)
      update.time = static_cast<Timestamp>(i / 2) - static_cast<Timestamp>(tidy ? 0 : random() % 4);
    if (update.source == update.target) continue;
    if (batches.back().size() == size) batches.emplace_back();
    batches.back().add(update);
  }
  return batches;
}

class Lanes : public testing::TestWithParam<Case> {};

TEST_P(Lanes, FindWhatSeparateQueriesFind) {
  const auto pattern = [&](int least, int most) {
    const std::string numbers = "{" + std::to_string(least) + "," + std::to_string(most) + "}";
    return parse_pattern(GetParam().before + numbers + GetParam().after, "q" + numbers);
  };
  Count appeared = 0;
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    for (const MatchMode mode : {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism}) {
      if (mode == MatchMode::homomorphism && GetParam().most > 4) continue;  // too many
      for (const std::size_t size : {std::size_t{1}, std::size_t{9}, std::size_t{200}}) {
        for (const bool list : {false, true}) {
          EngineOptions options{.directed = GetParam().directed, .threads = seed % 3 == 0 ? 3U : 1U};
          options.schema.model = EdgeModel::events;
          options.window = seed > 2 ? 25 : 0;
          Engine engine(options);
          QueryOptions how{.mode = mode, .count = CountMode::embeddings, .list = list};
          engine.add_query(pattern(GetParam().least, GetParam().most), how);
          for (int length = GetParam().least; length <= GetParam().most; ++length)
            engine.add_query(pattern(length, length), how);
          for (const UpdateBatch& batch : stream(seed, size)) {
            const BatchResult result = engine.process(batch);
            Count added = 0;
            Count removed = 0;
            for (std::size_t q = 1; q < result.queries.size(); ++q) {
              added += result.queries[q].added;
              removed += result.queries[q].removed;
            }
            ASSERT_EQ(result.queries[0].added, added) << seed << ' ' << size << ' ' << list;
            ASSERT_EQ(result.queries[0].removed, removed) << seed << ' ' << size << ' ' << list;
            appeared += added;
          }
        }
      }
    }
  }
  EXPECT_GT(appeared, 0U);
}

TEST_P(Lanes, FindTheSameInAWholeGraph) {
  const auto pattern = [&](int least, int most) {
    return parse_pattern(GetParam().before + "{" + std::to_string(least) + "," + std::to_string(most) + "}" + GetParam().after,
                         "q");
  };
  StaticOptions how;
  how.query.count = CountMode::embeddings;
  Engine engine({.directed = GetParam().directed, .threads = 1, .schema = {EdgeModel::events, {}, {}}});
  for (const UpdateBatch& batch : stream(6, 50)) engine.load(batch);
  for (const bool list : {false, true}) {
    how.query.list = list;
    Count separate = 0;
    for (int length = GetParam().least; length <= GetParam().most; ++length)
      separate += engine.match(pattern(length, length), how).matches;
    EXPECT_EQ(engine.match(pattern(GetParam().least, GetParam().most), how).matches, separate);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Paths, Lanes,
    testing::Values(Case{"Rings", "(a)-[t WHERE t.time > prev(t).time]->", "(a) WITHIN 20us", 3, 6},                         //
                    Case{"OpenPaths", "(a)-[t:PAYS WHERE t.time > prev(t).time]->", "(b) WITHIN 12us", 1, 5},                //
                    Case{"EqualTimes", "(a)-[t WHERE t.time >= prev(t).time]->", "(a) WITHIN 6us", 2, 5},                    //
                    Case{"Descending", "(a:Shop)-[t WHERE t.time < prev(t).time]->", "(b) WITHIN 12us", 2, 5},               //
                    Case{"BehindAnEdge", "(a)-[u:CALLS]->(b)-[t WHERE t.time > u.time]->", "(c:Shop) WITHIN 8us", 1, 3},     //
                    Case{"RingsWithATail", "(c)-[:CALLS]->(a)-[t WHERE t.time > prev(t).time]->", "(a) WITHIN 12us", 3, 5},  //
                    Case{"WithoutBounds", "(a)-[t:CALLS WHERE t.time <> prev(t).time]->", "(b:Shop) WITHIN 10us", 1, 3},     //
                    Case{"Undirected", "(a)-[t WHERE t.time > prev(t).time]-", "(a) WITHIN 8us", 3, 5, false},               //
                    Case{"AnyWay", "(a)-[t:PAYS WHERE t.time > prev(t).time]-", "(b:Shop) WITHIN 7us", 1, 4},                //
                    Case{"IdsOfVertices", "(a)-[t WHERE t.time > prev(t).time]->", "(b) WHERE id(a) < id(b) WITHIN 9us", 2, 4}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace deltamatch::match
