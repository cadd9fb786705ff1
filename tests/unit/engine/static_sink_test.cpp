// A sink that no match can reach is refused.
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

TEST(StaticSink, RefusesASinkThatAWholeMatchNeverReaches) {
  Engine engine;
  engine.load(edge());
  CountingSink sink;
  EXPECT_NE(message_of([&] { engine.match(parse_pattern(path, "pay"), {}, &sink); }).find("does not list"), std::string::npos);
  StaticOptions listing;
  listing.query.list = true;
  EXPECT_EQ(to_string(engine.match(parse_pattern(path, "pay"), listing, &sink).matches), "1");
  EXPECT_EQ(sink.written, 1);
}

}  // namespace
}  // namespace deltamatch
