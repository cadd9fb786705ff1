// Counting a whole graph by the sizes of runs finds as many matches as choosing every edge.
#include "match/time_search.hpp"

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
  std::string pattern;
  bool directed = true;
  friend void PrintTo(const Case& each, std::ostream* out) { *out << (each.directed ? "directed" : "undirected"); }
};

/// Few vertices and many edges, so that lists are long and lead to matched vertices again and again. One edge in ten has no
/// time, and times repeat.
Engine dense(bool directed, std::uint32_t seed) {
  Engine engine({.directed = directed, .threads = 1, .schema = {EdgeModel::events, {}, {}}});
  std::mt19937 random(seed);
  UpdateBatch batch;
  for (int i = 0; i < 300; ++i) {
    Update update;
    update.source = static_cast<std::int64_t>(random() % 6);
    update.target = static_cast<std::int64_t>(random() % 6);
    if (update.source == update.target) continue;
    update.label = random() % 3 == 0 ? "CALLS" : "PAYS";
    update.source_label = update.source.number() % 2 == 0 ? "Account" : "Shop";
    update.target_label = update.target.number() % 2 == 0 ? "Account" : "Shop";
    if (random() % 10 != 0) update.time = static_cast<Timestamp>(random() % 80);
    batch.add(update);
  }
  EXPECT_TRUE(engine.load(batch).rejects.empty());
  return engine;
}

class Ranges : public testing::TestWithParam<Case> {};

TEST_P(Ranges, CountWhatIsListed) {
  const Query query = parse_pattern(GetParam().pattern, "q");
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    Engine engine = dense(GetParam().directed, seed);
    for (const MatchMode mode : {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism}) {
      for (const CountMode count : {CountMode::subgraphs, CountMode::embeddings}) {
        if (mode != MatchMode::isomorphism && count == CountMode::subgraphs) continue;
        StaticOptions options;
        options.query.mode = mode;
        options.query.count = count;
        const Count counted = engine.match(query, options).matches;
        options.query.list = true;
        EXPECT_EQ(engine.match(query, options).matches, counted) << seed << ' ' << static_cast<int>(mode);
        EXPECT_GT(counted, 0U);
      }
    }
  }
}

/// Processes one payment, and returns how many matches of the query appeared.
Count found_by(Engine& engine, std::int64_t from, std::int64_t to, const std::string& label, std::size_t query = 0) {
  static Timestamp time = 0;
  UpdateBatch batch;
  Update update;
  update.source = from;
  update.target = to;
  update.label = label;
  update.time = ++time;
  batch.add(update);
  return engine.process(batch).queries.at(query).added;
}

Query wedge(const std::string& labels) {
  return parse_pattern("(a)-[t" + labels + "]->(b)-[u" + labels + "]->(c) WHERE t.time < u.time", "wedge" + labels);
}

TEST(TimeLists, HoldWhatAQueryReadsThatIsAddedLater) {
  Engine engine({.threads = 1, .schema = {EdgeModel::events, {}, {}}});
  engine.add_query(wedge(":PAYS"));
  EXPECT_EQ(found_by(engine, 1, 2, "CALLS"), 0U);
  EXPECT_EQ(found_by(engine, 1, 2, "PAYS"), 0U);
  EXPECT_EQ(found_by(engine, 2, 3, "PAYS"), 1U);
  engine.add_query(wedge(":CALLS"));
  EXPECT_EQ(found_by(engine, 2, 3, "CALLS", 1), 1U);
  EXPECT_EQ(found_by(engine, 2, 4, "PAYS"), 1U);
}

TEST(TimeLists, HoldLabelsThatAppearLater) {
  Engine engine({.threads = 1, .schema = {EdgeModel::events, {}, {}}});
  engine.add_query(wedge(""));
  EXPECT_EQ(found_by(engine, 1, 2, "PAYS"), 0U);
  EXPECT_EQ(found_by(engine, 2, 3, "CALLS"), 1U);
  EXPECT_EQ(found_by(engine, 3, 4, "OWNS"), 1U);
  EXPECT_EQ(found_by(engine, 2, 5, "OWNS"), 1U);
}

TEST(TimeLists, HoldWhatIsReadAgainAfterAQueryWasTakenAway) {
  Engine engine({.threads = 1, .schema = {EdgeModel::events, {}, {}}});
  const QueryId pays = engine.add_query(wedge(":PAYS"));
  engine.add_query(wedge(":CALLS"));
  EXPECT_EQ(found_by(engine, 1, 2, "PAYS"), 0U);
  engine.remove_query(pays);
  EXPECT_EQ(found_by(engine, 1, 2, "CALLS"), 0U);
  EXPECT_EQ(found_by(engine, 5, 6, "PAYS"), 0U);
  engine.add_query(wedge(":PAYS"));
  EXPECT_EQ(found_by(engine, 6, 7, "PAYS", 1), 1U);
  EXPECT_EQ(found_by(engine, 2, 7, "PAYS", 1), 1U);
}

/// A vertex with a self-loop is matched twice, but its image is one vertex.
TEST(RangesWithSelfLoops, LeaveOutAMatchedVertexOnce) {
  Engine engine({.threads = 1, .schema = {EdgeModel::events, {}, {}}, .self_loops = SelfLoops::keep});
  UpdateBatch batch;
  Timestamp time = 0;
  const auto add = [&](std::int64_t source, std::int64_t target) {
    batch.add({.source = source, .target = target, .time = ++time});
  };
  add(1, 1);
  add(1, 2);
  for (int i = 0; i < 2; ++i) add(2, 1);
  for (std::int64_t other = 3; other < 15; ++other) add(2, other);
  EXPECT_TRUE(engine.load(batch).rejects.empty());
  const Query query = parse_pattern("(a)-[l]->(a), (a)-[t]->(b)-[u]->(c) WHERE t.time < u.time", "q");
  EXPECT_EQ(engine.match(query).matches, 12U);
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, Ranges,
    testing::Values(Case{"(a)-[t]->(b)-[u]->(c) WHERE t.time < u.time"},                                    //
                    Case{"(a)-[t]->(b)-[u]->(c) WHERE u.time < t.time WITHIN 20us"},                        //
                    Case{"(a)-[t:PAYS]->(b)-[u]->(c:Shop) WHERE t.time <= u.time"},                         //
                    Case{"(a)-[t]->(b)-[u]->(c)-[v:CALLS]->(d) WHERE t.time < u.time < v.time"},            //
                    Case{"(a:Account)-[t]-(b)-[u]-(c:Shop) WHERE t.time < u.time"},                         //
                    Case{"(a)-[t]->(b), (a)-[u]->(c), (a)-[v]->(d) WHERE t.time < u.time < v.time"},        //
                    Case{"(a)-[t]->(b)-[u]->(c), (a)-[v]->(b) WHERE t.time < u.time AND t.time < v.time"},  //
                    Case{"(a)-[t]-(b)-[u]-(c) WHERE t.time < u.time", false},                               //
                    Case{"(a)-[t:PAYS]-(b)-[u]-(c)-[v]-(d:Account) WHERE t.time < u.time < v.time WITHIN 30us", false}));

}  // namespace
}  // namespace deltamatch::match
