// Queries and sinks that an engine refuses, because nobody can mean them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

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
  EXPECT_NE(message_of([&] { engine.add_query(parse_pattern("(a)-->(b)-->(c)", "pay")); }).find("has this name already"),
            std::string::npos);
  EXPECT_EQ(engine.process(edge()).queries.size(), 1U) << "the engine is as before";
  engine.remove_query(first);
  engine.add_query(parse_pattern(path, "pay"));
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
