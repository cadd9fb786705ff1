// What an engine refuses of queries and sinks that cannot be meant.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"

namespace deltamatch {
namespace {

class CountingSink final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& /*match*/) override { ++written; }
  void commit() override {}
  void abort() noexcept override {}
  int written = 0;
};

constexpr const char* path = "(a)-->(b)";

UpdateBatch edge() {
  UpdateBatch batch;
  batch.add({.source = 1, .target = 2});
  return batch;
}

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Registration, RefusesANameThatIsTaken) {
  Engine engine;
  const QueryId first = engine.add_query(parse_pattern(path, "pay"));
  EXPECT_NE(message_of([&] {
              engine.add_query(parse_pattern("(a)-->(b)-->(c)", "pay"));
            }).rfind("query pay: another standing query has this name", 0),
            std::string::npos);
  EXPECT_EQ(engine.process(edge()).queries.size(), 1U) << "the engine is as before";
  engine.remove_query(first);
  engine.add_query(parse_pattern(path, "pay"));
}

TEST(Registration, OrderByTimeNeedsASpanForWhichDeletionsAreRemembered) {
  EXPECT_EQ(message_of([] { const Engine engine({.order = EventOrder::time}); }),
            "order: order by time needs a window, because deletions are remembered for it; set a window, or order by arrival");
  Engine engine({.order = EventOrder::time, .schema = {EdgeModel::events, {}, {}}});
  const Query within = parse_pattern("(a)-->(b)-->(c) WITHIN 1h", "within");
  engine.add_query(within);
  EXPECT_EQ(message_of([&] { engine.add_query(parse_pattern(path, "pay")); }),
            "order: order by time needs a window, or WITHIN in every query, because deletions are remembered for it; set a "
            "window, end each pattern with WITHIN TIME, or order by arrival");
  EXPECT_EQ(engine.retention(), 3'600'000'000);
  Engine windowed({.window = 10, .order = EventOrder::time, .schema = {EdgeModel::events, {}, {}}});
  windowed.add_query(parse_pattern(path, "pay"));
}

TEST(Registration, ReplacesQueriesByOthersOfTheirNames) {
  Engine engine;
  const QueryId pay = engine.add_query(parse_pattern(path, "pay"));
  engine.add_query(parse_pattern(path, "stays"));
  const NewQuery longer{parse_pattern("(a)-->(b)-->(c)", "pay"), {}};
  const NewQuery taken{parse_pattern(path, "stays"), {}};
  EXPECT_NE(message_of([&] { engine.replace_queries(std::vector{pay}, std::vector{longer, taken}); }).find("query stays: "),
            std::string::npos);
  EXPECT_NE(message_of([&] { engine.replace_queries({}, std::vector{longer}); }).find("query pay: "), std::string::npos);
  EXPECT_NE(message_of([&] { engine.replace_queries(std::vector{pay}, std::vector{longer, longer}); }).find("query pay: "),
            std::string::npos);
  EXPECT_FALSE(message_of([&] { engine.replace_queries(std::vector{QueryId{7}}, {}); }).empty());
  EXPECT_EQ(to_string(engine.process(edge()).queries.at(0).added), "1") << "the engine is as before";

  const std::vector<QueryId> fresh = engine.replace_queries(std::vector{pay}, std::vector{longer});
  ASSERT_EQ(fresh.size(), 1U);
  EXPECT_NE(fresh[0], pay);
  UpdateBatch next;
  next.add({.source = 2, .target = 3});
  const BatchResult result = engine.process(next);
  ASSERT_EQ(result.queries.size(), 2U);
  EXPECT_EQ(result.queries[1].query, fresh[0]) << "a new query stands behind those that stayed";
  EXPECT_EQ(to_string(result.queries[1].added), "1");
}

TEST(Registration, TakesManyQueriesWithoutAName) {
  Engine engine;
  engine.add_query(parse_pattern(path, ""));
  engine.add_query(parse_pattern(path, ""));
  EXPECT_EQ(engine.process(edge()).queries.size(), 2U);
}

TEST(Registration, RefusesASinkThatNoQueryReaches) {
  Engine engine;
  engine.add_query(parse_pattern(path, "pay"));
  CountingSink sink;
  EXPECT_NE(message_of([&] { engine.process(edge(), OnReject::stop, &sink); }).find("no standing query lists"),
            std::string::npos);
  EXPECT_EQ(engine.graph().edges, 0U) << "the batch was not applied";
  EXPECT_NE(message_of([&] { engine.match(parse_pattern(path, "pay"), {}, &sink); }).find("does not list"), std::string::npos);

  engine.add_query(parse_pattern(path, "listed"), {.list = true});
  engine.process(edge(), OnReject::stop, &sink);
  EXPECT_EQ(sink.written, 1);
  StaticOptions listing;
  listing.query.list = true;
  EXPECT_EQ(to_string(engine.match(parse_pattern(path, "pay"), listing, &sink).matches), "1");
}

TEST(Registration, TakesASinkBeforeAnyQueryStands) {
  Engine engine;
  CountingSink sink;
  EXPECT_EQ(engine.process(edge(), OnReject::stop, &sink).inserted, 1U);
}

}  // namespace
}  // namespace deltamatch
