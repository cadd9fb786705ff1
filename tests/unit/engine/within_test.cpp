// Patterns with WITHIN in an engine without a window: how long edges are kept, and which records come too late.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "deltamatch/engine.hpp"

namespace deltamatch {
namespace {

constexpr Timestamp hour = 3'600'000'000;

Engine events(Timestamp lateness = 0) { return Engine({.allowed_lateness = lateness, .schema = {.model = EdgeModel::events}}); }

Query ring(std::string_view within) {
  return parse_pattern("(a)-[t1]->(b)-[t2]->(a) WHERE t1.time < t2.time WITHIN " + std::string(within), within);
}

void pay(UpdateBatch& batch, std::string_view from, std::string_view to, Timestamp time) {
  batch.add({.source = from, .target = to, .time = time});
}

BatchResult pay(Engine& engine, std::string_view from, std::string_view to, Timestamp time) {
  UpdateBatch batch;
  pay(batch, from, to, time);
  return engine.process(batch);
}

TEST(Within, EdgesAsFarApartAsItIsAreNoMatch) {
  Engine engine = events();
  engine.add_query(ring("24h"));
  pay(engine, "ann", "bob", 0);
  EXPECT_EQ(pay(engine, "bob", "ann", 24 * hour).queries.at(0).added, 0);
  pay(engine, "cy", "dan", 30 * hour);
  const BatchResult last = pay(engine, "dan", "cy", 54 * hour - 1);
  EXPECT_EQ(last.queries.at(0).added, 1);
  EXPECT_EQ(pay(engine, "eve", "fay", 900 * hour).queries.at(0).removed, 0) << "a match that ages does not vanish";
}

TEST(Within, InsertionsLaterThanAllowedAreCounted) {
  Engine engine = events(hour);
  engine.add_query(ring("24h"));
  UpdateBatch batch;
  pay(batch, "ann", "bob", 10 * hour);
  pay(batch, "bob", "cy", 9 * hour);      // as late as is allowed
  pay(batch, "cy", "dan", 9 * hour - 1);  // later
  pay(batch, "dan", "eve", 11 * hour);
  EXPECT_EQ(engine.process(batch).out_of_order, 1U);
  EXPECT_EQ(pay(engine, "eve", "fay", 10 * hour - 1).out_of_order, 1U) << "the watermark of the batch before counts";
  EXPECT_EQ(pay(engine, "eve", "fay", 12 * hour).out_of_order, 0U);
}

TEST(Within, RefusedRecordsAreNotOutOfOrder) {
  Engine engine({.schema = {.model = EdgeModel::events, .edges = {{.name = "amount"}}}});
  engine.add_query(ring("24h"));
  pay(engine, "ann", "bob", 10 * hour);
  UpdateBatch batch;
  const AttributeValue wrong = 0.5;
  const Properties properties{.attributes = {&wrong, 1}};
  batch.add({.source = "bob", .target = "ann", .time = 9 * hour, .properties = &properties});
  pay(batch, "bob", "ann", 9 * hour);
  const BatchResult result = engine.process(batch, OnReject::skip);
  EXPECT_EQ(result.rejects.size(), 1U);
  EXPECT_EQ(result.out_of_order, 1U);
}

TEST(Within, NothingIsOutOfOrderIfNoQueryHasIt) {
  Engine engine = events();
  engine.add_query(parse_pattern("(a)-->(b)-->(a)", "pair"));
  pay(engine, "ann", "bob", 10 * hour);
  EXPECT_EQ(pay(engine, "bob", "ann", 9 * hour).out_of_order, 0U);
}

TEST(Within, EdgesBelowTheLongestAreLate) {
  Engine engine = events();
  engine.add_query(ring("24h"));
  pay(engine, "ann", "bob", 100 * hour);
  const BatchResult result = pay(engine, "bob", "ann", 70 * hour);
  EXPECT_EQ(result.ignored.late, 1U);
  EXPECT_EQ(result.out_of_order, 1U);
}

TEST(Within, AQueryAddedLateFindsOlderEdgesOnlyIfTheyWereRetained) {
  for (const bool retained : {false, true}) {
    Engine engine = events();
    engine.add_query(ring("24h"));
    if (retained) engine.retain(7 * 24 * hour);
    EXPECT_EQ(engine.retention(), (retained ? 7 : 1) * 24 * hour);
    pay(engine, "ann", "bob", 0);
    pay(engine, "cy", "dan", 48 * hour);
    pay(engine, "cy", "dan", 49 * hour);
    engine.add_query(ring("3d"));
    EXPECT_EQ(pay(engine, "bob", "ann", 50 * hour).queries.at(1).added, retained ? 1 : 0);
  }
}

}  // namespace
}  // namespace deltamatch
