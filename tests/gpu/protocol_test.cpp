// What host and kernel tell each other while it runs: that it is to stop, which pages are full or free, that it failed.
#include <chrono>
#include <string>
#include <vector>

#include "deltamatch/error.hpp"
#include "gpu/streams.hpp"
#include "gpu/support.hpp"

namespace deltamatch {
namespace {

using test::Shape;
using test::Stream;

constexpr const char* triangle = "(a)--(b)--(c)--(a)";
constexpr const char* diamond = "(a)--(b)--(c)--(d)--(a), (a)--(c)";
constexpr const char* ring = "(a)--(b)--(c)--(d)--(e)--(a)";
constexpr const char* path = "(a)--(b)--(c)--(d)--(e)--(f)";
constexpr const char* star = "(h)--(a), (h)--(b), (h)--(c), (h)--(d), (d)--(e)";
constexpr Shape small{2000, 30000, 0, 0, false, 1.5, 0};
constexpr Shape dense{4000, 100000, 0, 0, false, 2, 0};

// Warps that stop leave anchors half done, where sums over inclusions and exclusions may be above the truth, or below zero.
TEST(GpuStop, NoCountExceedsTheTruth) {
  DELTAMATCH_NEEDS_GPU();
  Engine engine({.directed = false, .backend = make_gpu_backend({.policy = CachePolicy::resident})});
  engine.load(Stream(small, 21).start(), OnReject::skip);
  for (const char* pattern : {ring, path, star}) {
    const Query query = parse_pattern(pattern, "q");
    static_cast<void>(engine.match(query));  // brings the graph to the device
    const StaticResult whole = engine.match(query);
    ASSERT_TRUE(whole.complete());
    const auto most = std::chrono::nanoseconds(static_cast<std::int64_t>(whole.seconds * 1e9));
    unsigned cut_short = 0;
    for (int i = 1; i <= 60; ++i) {
      StaticOptions options;
      options.timeout = most * i / 60;
      const StaticResult part = engine.match(query, options);
      ASSERT_TRUE(part.matches <= whole.matches) << pattern << ": " << to_string(part.matches);
      ASSERT_TRUE(!part.complete() || part.matches == whole.matches) << pattern << ": " << to_string(part.matches);
      cut_short += part.complete() ? 0 : 1;
    }
    EXPECT_GT(cut_short, 10) << pattern;
  }
}

// What says stop is on its way beside the kernel: it must not reach the next one.
TEST(GpuStop, IsOverWithItsLaunch) {
  DELTAMATCH_NEEDS_GPU();
  Engine engine({.directed = false, .backend = make_gpu_backend({.policy = CachePolicy::resident})});
  engine.load(Stream(small, 22).start(), OnReject::skip);
  const Query counted = parse_pattern(triangle, "counted");
  const Query listed = parse_pattern(diamond, "listed");
  StaticOptions few;
  few.query.list = true;
  const Count truth = engine.match(counted).matches;
  for (int i = 0; i < 300; ++i) {
    few.limit = 1 + i % 3;
    ASSERT_EQ(engine.match(listed, few).shortfall, Shortfall::limit);
    const StaticResult next = engine.match(counted);
    ASSERT_TRUE(next.complete());
    ASSERT_TRUE(next.matches == truth) << "after " << i << ": " << to_string(next.matches);
  }
}

// Many times as many pages are filled as there are, and free ones are always short.
TEST(GpuPages, ListingGoesThroughFew) {
  DELTAMATCH_NEEDS_GPU();
  Engine cpu({.directed = false});
  cpu.load(Stream(dense, 23).start(), OnReject::skip);
  StaticOptions list;
  list.query.list = true;
  const StaticResult expected = cpu.match(parse_pattern(diamond, "diamond"), list);
  ASSERT_TRUE(expected.matches > Count{3'000'000}) << to_string(expected.matches);
  for (const std::uint32_t spare : {1U, 64U}) {
    GpuOptions options{.policy = CachePolicy::resident};
    options.testing.spare_pages = spare;
    Engine gpu({.directed = false, .backend = make_gpu_backend(options)});
    gpu.load(Stream(dense, 23).start(), OnReject::skip);
    for (int i = 0; i < 3; ++i) {
      const StaticResult got = gpu.match(parse_pattern(diamond, "diamond"), list);
      ASSERT_TRUE(got.matches == expected.matches) << spare << " spare pages: " << to_string(got.matches);
      ASSERT_TRUE(got.digest == expected.digest) << spare << " spare pages";
    }
  }
}

// Batches that grow need more memory each time, and one device lists while another is still to be launched.
TEST(GpuPages, SeveralDevicesListGrowingBatches) {
  DELTAMATCH_NEEDS_GPU();
  std::vector<int> devices{0, gpu_count() > 1 ? 1 : 0};
  GpuOptions options{.devices = devices, .memory = std::size_t{1} << 26};
  options.testing.spare_pages = 1;
  Engine cpu({.directed = false});
  Engine gpu({.directed = false, .backend = make_gpu_backend(options)});
  for (Engine* engine : {&cpu, &gpu}) {
    engine->add_query(parse_pattern(diamond, "listed"), {.list = true});
    engine->add_query(parse_pattern("(a)--(b)--(c)--(d)--(a)", "counted"));
  }
  Stream stream(dense, 24);
  const UpdateBatch start = stream.start();
  cpu.load(start, OnReject::skip);
  gpu.load(start, OnReject::skip);
  for (std::uint32_t size = 1; size <= 16384; size *= 4) {
    const UpdateBatch batch = stream.next(size);
    const BatchResult expected = cpu.process(batch, OnReject::skip);
    test::expect_equal(gpu.process(batch, OnReject::skip), expected, "batch of " + std::to_string(size));
    if (HasFailure()) return;
  }
}

class Seen final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& /*match*/) override { ++written; }
  void commit() override { committed = true; }
  void abort() noexcept override {}
  std::uint64_t written = 0;
  bool committed = false;
};

// The counting kernel runs while the launch of the listing one fails.
TEST(GpuFailure, ARefusedLaunchEndsTheBatchAndNoMore) {
  DELTAMATCH_NEEDS_GPU();
  GpuOptions options{.policy = CachePolicy::resident};
  options.testing.refused_launch = 2;
  Engine cpu({.directed = false});
  Engine gpu({.directed = false, .backend = make_gpu_backend(options)});
  for (Engine* engine : {&cpu, &gpu}) {
    engine->add_query(parse_pattern(ring, "counted"));
    engine->add_query(parse_pattern(triangle, "listed"), {.list = true});
  }
  Stream stream(dense, 25);
  const UpdateBatch start = stream.start();
  cpu.load(start, OnReject::skip);
  gpu.load(start, OnReject::skip);
  const UpdateBatch batch = stream.next(200);
  const std::uint64_t edges = gpu.graph().edges;
  Seen seen;
  EXPECT_THROW(gpu.process(batch, OnReject::skip, &seen), Error);
  EXPECT_EQ(seen.written, 0);
  EXPECT_FALSE(seen.committed);
  EXPECT_EQ(gpu.graph().edges, edges);
  test::expect_equal(gpu.process(batch, OnReject::skip, &seen), cpu.process(batch, OnReject::skip), "the batch again");
  const UpdateBatch larger = stream.next(2000);
  test::expect_equal(gpu.process(larger, OnReject::skip), cpu.process(larger, OnReject::skip), "the next batch");
}

}  // namespace
}  // namespace deltamatch
