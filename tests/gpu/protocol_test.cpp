// Tests the signals between host and kernel while it runs: to stop, full and free pages, and failures.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
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
const Shape small = test::times(Shape{2000, 30000, 0, 0, false, 1.5, 0}, Shape{300, 3000, 0, 0, false, 1.5, 0});
const Shape dense = test::times(Shape{4000, 100000, 0, 0, false, 2, 0}, Shape{400, 3000, 0, 0, false, 1.5, 0});

class Seen final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& /*match*/) override { ++written; }
  void commit() override { committed = true; }
  void abort() noexcept override {}
  std::uint64_t written = 0;
  bool committed = false;
};

// Warps that stop leave anchors half done. Sums with inclusions and exclusions may then exceed the truth, or be negative.
void stop_often(GpuTables tables, std::vector<int> devices) {
  GpuSettings gpu{{.devices = std::move(devices), .policy = CachePolicy::resident, .memory = std::size_t{1} << 26}};
  gpu.testing.tables = tables;
  Engine engine({.directed = false, .backend = make_gpu_backend(gpu, gpu.testing)});
  engine.load(Stream(small, 21).start(), OnReject::skip);
  for (const char* pattern : {ring, path, star}) {
    const Query query = parse_pattern(pattern, "q");
    static_cast<void>(engine.match(query));  // copies the graph to the device
    const StaticResult whole = engine.match(query);
    ASSERT_TRUE(whole.complete());
    double fastest = whole.seconds;  // other work on the machine may slow down single runs
    for (int i = 0; i < 9; ++i) fastest = std::min(fastest, engine.match(query).seconds);
    const auto most = std::chrono::nanoseconds(static_cast<std::int64_t>(fastest * 1e9));
    unsigned cut_short = 0;
    for (int i = 1; i <= 60; ++i) {
      StaticOptions options;
      options.timeout = most * i / 60;
      const StaticResult part = engine.match(query, options);
      ASSERT_TRUE(part.matches <= whole.matches) << pattern << ": " << to_string(part.matches);
      ASSERT_TRUE(!part.complete() || part.matches == whole.matches) << pattern << ": " << to_string(part.matches);
      cut_short += part.complete() ? 0 : 1;
    }
    EXPECT_GT(cut_short, 10U) << pattern;
  }
}

TEST(GpuStop, NoCountExceedsTheTruth) {
  DELTAMATCH_NEEDS_GPU();
  DELTAMATCH_NOT_WHERE_BRIEF();
  stop_often(GpuTables::never, {0});
  stop_often(GpuTables::always, {0});
  stop_often(GpuTables::automatic, {0, gpu_devices().size() > 1 ? 1 : 0});
}

// The stop signal travels beside the kernel. It must not reach the next one.
TEST(GpuStop, IsOverWithItsLaunch) {
  DELTAMATCH_NEEDS_GPU();
  Engine engine({.directed = false, .backend = make_gpu_backend({.policy = CachePolicy::resident})});
  engine.load(Stream(small, 22).start(), OnReject::skip);
  const Query counted = parse_pattern(triangle, "counted");
  const Query listed = parse_pattern(diamond, "listed");
  StaticOptions few;
  few.query.list = true;
  const Count truth = engine.match(counted).matches;
  for (int i = 0; i < test::times(300, 6); ++i) {
    few.limit = 1 + i % 3;
    ASSERT_EQ(engine.match(listed, few).shortfall, Shortfall::limit);
    const StaticResult next = engine.match(counted);
    ASSERT_TRUE(next.complete());
    ASSERT_TRUE(next.matches == truth) << "after " << i << ": " << to_string(next.matches);
  }
}

// Kernels that list fill pages faster than one thread empties them. They must still see the stop signal. Nearly every path of
// this query is a match.
TEST(GpuStop, IsToldToKernelsThatListWithoutEnd) {
  DELTAMATCH_NEEDS_GPU();
  DELTAMATCH_NOT_WHERE_BRIEF();
  Engine engine({.directed = false, .threads = 1, .backend = make_gpu_backend({.policy = CachePolicy::resident})});
  engine.load(Stream(dense, 27).start(), OnReject::skip);
  const Query query = parse_pattern("(a)--(b)--(c)--(d)--(e)--(f)--(g)--(h)--(i)", "path");
  StaticOptions list;
  list.query.list = true;
  list.filter = Filter::none;
  for (const bool limited : {true, false}) {
    Seen seen;
    if (limited) {
      list.limit = 100;
    } else {
      list.limit.reset();
      list.timeout = std::chrono::milliseconds(300);
    }
    const StaticResult part = engine.match(query, list, &seen);
    EXPECT_EQ(part.shortfall, limited ? Shortfall::limit : Shortfall::timeout);
    EXPECT_LT(part.seconds, 10) << (limited ? "limited" : "timed");
    EXPECT_EQ(Count{seen.written}, part.matches);
    EXPECT_TRUE(limited ? part.matches == Count{100} : part.matches > Count{1000}) << to_string(part.matches);
  }
}

// Bound vertices with few candidates each, but nested deeply: minutes of work at one root.
TEST(GpuStop, IsHeardWhereListsAreShort) {
  DELTAMATCH_NEEDS_GPU();
  DELTAMATCH_NOT_WHERE_BRIEF();
  GpuSettings options{{.policy = CachePolicy::resident}};
  options.testing.tables = GpuTables::always;
  Engine engine({.directed = false, .backend = make_gpu_backend(options, options.testing)});
  UpdateBatch clique;
  for (std::int64_t v = 0; v < 48; ++v) {
    for (std::int64_t u = 0; u < v; ++u) {
      Update update;
      update.source = Id(u);
      update.target = Id(v);
      clique.add(update);
    }
  }
  engine.load(clique, OnReject::stop);
  std::string pattern;  // a clique of eight, but two of its vertices are apart
  for (int v = 0; v < 8; ++v) {
    for (int u = 0; u < v; ++u) {
      if (u == 0 && v == 7) continue;
      pattern += (pattern.empty() ? "" : ", ") + ("(v" + std::to_string(u) + ")--(v" + std::to_string(v) + ")");
    }
  }
  StaticOptions homomorphic;
  homomorphic.query.mode = MatchMode::homomorphism;
  homomorphic.query.count = CountMode::embeddings;
  homomorphic.count_from = CountFrom::vertices;
  homomorphic.timeout = std::chrono::milliseconds(300);
  const Query query = parse_pattern(pattern, "near-clique");
  ASSERT_NE(engine.explain(query, homomorphic).find("root "), std::string::npos) << "tables have nothing to do";
  const StaticResult part = engine.match(query, homomorphic);
  EXPECT_EQ(part.shortfall, Shortfall::timeout);
  EXPECT_LT(part.seconds, 10);
  EXPECT_GT(test::cache_of(engine).kernel_seconds, 0.1) << "the device counted nothing";
}

// The run fills each page once, or many times over. Free pages are always short.
void list_through_few(const Shape& shape, Count least) {
  Engine cpu({.directed = false});
  cpu.load(Stream(shape, 23).start(), OnReject::skip);
  StaticOptions list;
  list.query.list = true;
  const StaticResult expected = cpu.match(parse_pattern(diamond, "diamond"), list);
  ASSERT_TRUE(expected.matches > least) << to_string(expected.matches);
  for (const std::uint32_t spare : {1U, 64U}) {
    GpuSettings options{{.policy = CachePolicy::resident}};
    options.testing.spare_pages = spare;
    Engine gpu({.directed = false, .backend = make_gpu_backend(options, options.testing)});
    gpu.load(Stream(shape, 23).start(), OnReject::skip);
    for (int i = 0; i < 3; ++i) {
      const StaticResult got = gpu.match(parse_pattern(diamond, "diamond"), list);
      ASSERT_TRUE(got.matches == expected.matches) << spare << " spare pages: " << to_string(got.matches);
      ASSERT_TRUE(got.digest == expected.digest) << spare << " spare pages";
    }
  }
}

TEST(GpuPages, ListingGoesThroughFew) {
  DELTAMATCH_NEEDS_GPU();
  list_through_few(dense, test::times(3'000'000, 3'000));
}

TEST(GpuPages, SmallListing) {
  DELTAMATCH_NEEDS_GPU();
  list_through_few(test::times(Shape{1500, 20000, 0, 0, false, 2, 0}, small), test::times(300'000, 3'000));
}

// Growing batches need more memory each time. One device lists while another is still to be launched.
TEST(GpuPages, SeveralDevicesListGrowingBatches) {
  DELTAMATCH_NEEDS_GPU();
  std::vector<int> devices{0, gpu_devices().size() > 1 ? 1 : 0};
  GpuSettings options{{.devices = devices, .memory = std::size_t{1} << 26}};
  options.testing.spare_pages = 1;
  Engine cpu({.directed = false});
  Engine gpu({.directed = false, .backend = make_gpu_backend(options, options.testing)});
  for (Engine* engine : {&cpu, &gpu}) {
    engine->add_query(parse_pattern(diamond, "listed"), {.list = true});
    engine->add_query(parse_pattern("(a)--(b)--(c)--(d)--(a)", "counted"));
  }
  Stream stream(dense, 24);
  const UpdateBatch start = stream.start();
  cpu.load(start, OnReject::skip);
  gpu.load(start, OnReject::skip);
  for (std::uint32_t size = 1; size <= test::times(16384U, 16U); size *= 4) {
    const UpdateBatch batch = stream.next(size);
    const BatchResult expected = cpu.process(batch, OnReject::skip);
    test::expect_equal(gpu.process(batch, OnReject::skip), expected, "batch of " + std::to_string(size));
    if (HasFailure()) return;
  }
}

// Contexts take turns on a device, and some warps run long after others. A warp that waits for a page must not take the page of
// a delayed warp.
TEST(GpuPages, OfProcessesThatShareADevice) {
  DELTAMATCH_NEEDS_GPU();
  DELTAMATCH_NOT_WHERE_BRIEF();
  constexpr auto patience = std::chrono::seconds(25);
  const std::string test = "SeveralDevicesListGrowingBatches";
  const auto* suite = testing::UnitTest::GetInstance()->current_test_suite();
  int there = 0;
  for (int i = 0; i < suite->total_test_count(); ++i) there += suite->GetTestInfo(i)->name() == test ? 1 : 0;
  ASSERT_EQ(there, 1) << "the processes would run nothing, and succeed";
  const std::string filter = "--gtest_filter=GpuPages." + test;
  for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_OUTPUT"}) unsetenv(name);
  for (int round = 0; round < 2; ++round) {
    std::vector<pid_t> processes;
    for (int i = 0; i < 8; ++i) {
      const char* const words[] = {"test_gpu_match", "--gtest_brief=1", filter.c_str(), nullptr};
      pid_t process = 0;
      const int refused = posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, const_cast<char* const*>(words), environ);
      EXPECT_EQ(refused, 0);
      if (refused == 0) processes.push_back(process);
    }
    const auto end = std::chrono::steady_clock::now() + patience;
    for (const pid_t process : processes) {
      int status = -1;
      while (waitpid(process, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > end) kill(process, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      EXPECT_EQ(status, 0) << (WIFSIGNALED(status) ? "it hung, or crashed" : "it failed");
    }
  }
}

// The kernel that counts runs, with loops or with tables, while the launch of the listing kernel fails.
void refuse(GpuTables tables) {
  GpuSettings options{{.policy = CachePolicy::resident}};
  options.testing.refused_launch = 2;
  options.testing.tables = tables;
  Engine cpu({.directed = false});
  Engine gpu({.directed = false, .backend = make_gpu_backend(options, options.testing)});
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
  const UpdateBatch larger = stream.next(test::times(2000U, 20U));
  test::expect_equal(gpu.process(larger, OnReject::skip), cpu.process(larger, OnReject::skip), "the next batch");
}

TEST(GpuFailure, ARefusedLaunchEndsTheBatchAndNoMore) {
  DELTAMATCH_NEEDS_GPU();
  refuse(GpuTables::never);
  refuse(GpuTables::always);
}

// Runs in a process of its own, since CUDA cannot be used any more after a kernel has crashed. Exits with 0 on success.
[[noreturn]] void crash(CachePolicy policy) {
  GpuSettings options{{.policy = policy, .memory = std::size_t{1} << 24}};
  options.testing.crashed_launch = 3;  // the first launch of the second batch
  Engine engine({.directed = false, .backend = make_gpu_backend(options, options.testing)});
  engine.add_query(parse_pattern(ring, "counted"));
  engine.add_query(parse_pattern(triangle, "listed"), {.list = true});
  Stream stream(small, 26);
  engine.load(stream.start(), OnReject::skip);
  Seen seen;
  engine.process(stream.next(200), OnReject::skip, &seen);
  if (!seen.committed || seen.written == 0) std::_Exit(2);
  const std::uint64_t edges = engine.graph().edges;
  Seen second;
  try {
    engine.process(stream.next(200), OnReject::skip, &second);
    std::_Exit(3);
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
  }
  if (second.written != 0 || second.committed) std::_Exit(4);
  if (engine.graph().edges != edges) std::_Exit(5);
  std::_Exit(0);
}

class GpuCrash : public testing::TestWithParam<CachePolicy> {};

TEST_P(GpuCrash, EndsTheBatchBeforeAnythingIsHandedOn) {
  DELTAMATCH_NEEDS_GPU();
  DELTAMATCH_NOT_WHERE_BRIEF();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(crash(GetParam()), testing::ExitedWithCode(0), "illegal|fault|unspecified launch failure");
}

INSTANTIATE_TEST_SUITE_P(Policies, GpuCrash, testing::Values(CachePolicy::resident, CachePolicy::random_walk));

}  // namespace
}  // namespace deltamatch
