// Listings of a limited number of matches. In one graph nearly all anchors lead into dead ends, where walks alone would take an
// hour. In another the sum of a single anchor would take that long.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "deltamatch/engine.hpp"

namespace deltamatch {
namespace {

class Adder {
 public:
  void edge(std::int64_t source, std::int64_t target) {
    Update update;
    update.source = Id(source);
    update.target = Id(target);
    batch_.add(update);
  }
  UpdateBatch& batch() { return batch_; }

 private:
  UpdateBatch batch_;
};

constexpr const char* directed_ring = "(a)-->(b)-->(c)-->(d)-->(e)-->(f)-->(g)-->(h)-->(a)";
constexpr const char* ring = "(a)--(b)--(c)--(d)--(e)--(f)--(g)--(h)--(i)--(a)";
constexpr std::int64_t rings = 5;

// Layers, in which each vertex is joined to all of the next layer and no way leads back. Behind them are some rings.
Engine make_dead_ends(unsigned threads) {
  constexpr std::int64_t width = 16;
  constexpr std::int64_t depth = 9;
  Adder add;
  for (std::int64_t v = 0; v < (depth - 1) * width; ++v) {
    for (std::int64_t u = 0; u < width; ++u) add.edge(v, (v / width + 1) * width + u);
  }
  for (std::int64_t r = 0; r < rings; ++r) {
    const std::int64_t first = depth * width + 8 * r;
    for (std::int64_t i = 0; i < 8; ++i) add.edge(first + i, first + (i + 1) % 8);
  }
  Engine engine({.directed = true, .threads = threads});
  engine.load(add.batch(), OnReject::stop);
  return engine;
}

Engine make_clique(unsigned threads) {
  Adder add;
  for (std::int64_t v = 0; v < 60; ++v) {
    for (std::int64_t u = 0; u < v; ++u) add.edge(u, v);
  }
  Engine engine({.directed = false, .threads = threads});
  engine.load(add.batch(), OnReject::stop);
  return engine;
}

StaticOptions listing(Filter filter, std::optional<std::uint64_t> limit) {
  StaticOptions options;
  options.query.list = true;
  options.filter = filter;
  options.limit = limit;
  return options;
}

class LimitedListing : public testing::TestWithParam<unsigned> {};

TEST_P(LimitedListing, IsNotLostInDeadEnds) {
  Engine engine = make_dead_ends(GetParam());
  const Query query = parse_pattern(directed_ring, "q");
  for (const Filter filter : {Filter::none, Filter::label, Filter::automatic}) {
    const StaticResult some = engine.match(query, listing(filter, 3));
    EXPECT_EQ(some.matches, 3);
    EXPECT_EQ(some.shortfall, Shortfall::limit);
    for (const std::optional<std::uint64_t> limit : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(100)}) {
      const StaticResult all = engine.match(query, listing(filter, limit));
      EXPECT_EQ(all.matches, rings);
      EXPECT_TRUE(all.complete());
    }
  }
}

TEST_P(LimitedListing, DoesNotWaitForSums) {
  Engine engine = make_clique(GetParam());
  const Query query = parse_pattern(ring, "q");
  for (const Filter filter : {Filter::none, Filter::label, Filter::automatic}) {
    const StaticResult some = engine.match(query, listing(filter, 10));
    EXPECT_EQ(some.matches, 10);
    EXPECT_EQ(some.shortfall, Shortfall::limit);
  }
}

// Counts the matches that are written.
class Counter final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& /*match*/) override { ++written; }
  void commit() override {}
  void abort() noexcept override {}
  std::atomic<std::uint64_t> written = 0;
};

TEST_P(LimitedListing, WritesWithoutALimitToo) {
  Engine engine = make_clique(GetParam());
  for (const Filter filter : {Filter::none, Filter::label}) {
    Counter counter;
    StaticOptions options = listing(filter, std::nullopt);
    options.stop = [&] { return counter.written > 0; };
    EXPECT_EQ(engine.match(parse_pattern(ring, "q"), options, &counter).shortfall, Shortfall::stopped);
    EXPECT_GT(counter.written, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, LimitedListing, testing::Values(1U, 3U));

}  // namespace
}  // namespace deltamatch
