// Host memory that CUDA does not register: policies that need it are refused, and `auto` works without it.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "gpu/streams.hpp"
#include "gpu/support.hpp"

namespace deltamatch {
namespace {

using test::Stream;

constexpr test::Shape shape{40000, 600000, 0, 0, false, 1.5, 0};  // lists of some 5 MiB

std::shared_ptr<Backend> unregistered(CachePolicy policy, std::size_t memory) {
  return make_gpu_backend({.policy = policy, .memory = memory}, {.refused_slab = 1});
}

Engine engine_with(std::shared_ptr<Backend> backend, const UpdateBatch& start) {
  Engine engine({.directed = false, .backend = std::move(backend)});
  engine.add_query(parse_pattern("(a)--(b)--(c)--(a)", "triangle"), {.list = true});
  engine.add_query(parse_pattern("(a)--(b)--(c)--(d)--(a)", "ring"));
  engine.load(start, OnReject::skip);
  return engine;
}

// Every batch is refused with the reason, and changes nothing.
void expect_refused(Engine& engine, Stream& stream, const std::vector<std::string>& says) {
  const std::uint64_t edges = engine.graph().edges;
  for (int b = 0; b < 2; ++b) {
    try {
      engine.process(stream.next(100), OnReject::skip);
      ADD_FAILURE() << "nothing was refused";
    } catch (const Error& error) {
      for (const std::string& part : says) EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    EXPECT_EQ(engine.graph().edges, edges);
    EXPECT_EQ(engine.batch(), 0U);
  }
}

TEST(GpuRegistration, WhereItIsRefusedAutoKeepsTheGraphOnTheDeviceAndSaysSo) {
  DELTAMATCH_NEEDS_GPU();
  Stream stream(shape, 61);
  const UpdateBatch start = stream.start();
  Engine cpu = engine_with(nullptr, start);
  Engine gpu = engine_with(unregistered(CachePolicy::automatic, std::size_t{64} << 20), start);
  for (int b = 0; b < 4; ++b) {
    const UpdateBatch batch = stream.next(500);
    const BatchResult expected = cpu.process(batch, OnReject::skip);
    test::expect_equal(gpu.process(batch, OnReject::skip), expected, "batch " + std::to_string(b));
  }
  const gpu::CacheStatistics cache = test::cache_of(gpu);
  EXPECT_NE(cache.notice.find("CUDA cannot register host memory"), std::string::npos) << cache.notice;
  EXPECT_NE(cache.notice.find("the device keeps the graph"), std::string::npos) << cache.notice;
  EXPECT_GT(cache.hits, 0U);
  EXPECT_EQ(cache.misses, 0U) << "kernels must not read host memory";
}

TEST(GpuRegistration, WhereItIsRefusedOtherPoliciesAreWithTheReason) {
  DELTAMATCH_NEEDS_GPU();
  for (const CachePolicy policy : {CachePolicy::random_walk, CachePolicy::degree, CachePolicy::k_hop, CachePolicy::none}) {
    Stream stream(shape, 62);
    Engine gpu = engine_with(unregistered(policy, policy == CachePolicy::none ? 0 : std::size_t{64} << 20), stream.start());
    expect_refused(gpu, stream, {"CUDA cannot register host memory", "ulimit -l", "the policy resident"});
  }
}

// Kernels cannot read the graph in host memory, and it does not fit the device. So the CPU matches, and devices are tried again
// later.
TEST(GpuRegistration, WhereItIsRefusedAndTheGraphDoesNotFitTheCpuMatches) {
  DELTAMATCH_NEEDS_GPU();
  Stream stream(shape, 63);
  const UpdateBatch start = stream.start();
  Engine cpu = engine_with(nullptr, start);
  Engine gpu = engine_with(unregistered(CachePolicy::automatic, std::size_t{1} << 20), start);
  std::uint64_t queries = 0;
  for (int b = 0; b < 130; ++b) {
    const UpdateBatch batch = stream.next(20);
    test::expect_equal(gpu.process(batch, OnReject::skip), cpu.process(batch, OnReject::skip), "batch " + std::to_string(b));
    EXPECT_GT(test::cache_of(gpu).on_cpu, queries) << b;
    queries = test::cache_of(gpu).on_cpu;
  }
  const std::string notice = test::cache_of(gpu).notice;
  for (const char* part : {"CUDA cannot register host memory", "the CPU matches", "MiB of lists", "raise --gpu-memory"}) {
    EXPECT_NE(notice.find(part), std::string::npos) << notice;
  }
}

// Registered or not, a resident graph is not read from the host.
TEST(GpuRegistration, IsNoneOfResidentsConcern) {
  DELTAMATCH_NEEDS_GPU();
  Stream stream(shape, 64);
  const UpdateBatch start = stream.start();
  Engine cpu = engine_with(nullptr, start);
  Engine gpu = engine_with(unregistered(CachePolicy::resident, std::size_t{64} << 20), start);
  const UpdateBatch batch = stream.next(500);
  const BatchResult expected = cpu.process(batch, OnReject::skip);
  test::expect_equal(gpu.process(batch, OnReject::skip), expected, "batch");
  EXPECT_EQ(test::cache_of(gpu).notice, "");
}

// Lists that a filter leaves are lent to the graph in slabs of their own. If kernels cannot read them, the CPU matches. The
// device takes the next query again.
TEST(GpuRegistration, ListsThatAreLentAndNotRegisteredAreMatchedOnTheCpu) {
  DELTAMATCH_NEEDS_GPU();
  const UpdateBatch start = Stream({800, 8000, 3, 0, false, 1.5, 0}, 65).start();
  Engine cpu({.directed = false});
  cpu.load(start, OnReject::skip);
  const Query ring = parse_pattern("(a:V0)--(b:V1)--(c:V2)--(d:V0)--(a)", "ring");
  StaticOptions whole;
  whole.filter = Filter::none;
  StaticOptions filtered;
  filtered.filter = Filter::refine;
  const Count expected = cpu.match(ring, whole).matches;
  ASSERT_GT(expected, Count{1000});
  ASSERT_TRUE(cpu.match(ring, filtered).filter.used);
  int refused = 0;
  int on_cpu = 0;
  bool on_device = false;
  for (std::uint32_t slab = 1; slab <= 16 && !on_device; ++slab) {
    Engine gpu(
        {.directed = false,
         .backend = make_gpu_backend({.policy = CachePolicy::degree, .memory = std::size_t{1} << 20}, {.refused_slab = slab})});
    gpu.load(start, OnReject::skip);
    try {
      EXPECT_TRUE(gpu.match(ring, filtered).matches == expected) << "slab " << slab;
    } catch (const Error& error) {  // the graph's own lists
      EXPECT_NE(std::string(error.what()).find("CUDA cannot register host memory"), std::string::npos) << error.what();
      EXPECT_EQ(on_cpu, 0) << "those come first";
      ++refused;
      continue;
    }
    const double before = test::cache_of(gpu).kernel_seconds;
    on_device = before > 0;
    on_cpu += on_device ? 0 : 1;
    EXPECT_TRUE(gpu.match(ring, whole).matches == expected) << "slab " << slab;
    EXPECT_GT(test::cache_of(gpu).kernel_seconds, before) << "slab " << slab;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(on_cpu, 0);
  EXPECT_TRUE(on_device) << "where all slabs are registered";
}

// A ring of six labels that closes once. From either end, a hundred thousand walks that do not close come first. Other rings
// stand alone.
UpdateBatch late_ring() {
  enum : std::int64_t { a, b, c, d, e, f, labels };
  const std::array<std::string, labels> names{"A", "B", "C", "D", "E", "F"};
  constexpr std::int64_t width = 300;
  constexpr std::int64_t blind = 400;  // vertices of D and of E that lead to nothing
  UpdateBatch batch;
  const auto join = [&](std::int64_t label, std::int64_t number, std::int64_t to_label, std::int64_t to) {
    Update update;
    update.source = Id(1000 * label + number);
    update.target = Id(1000 * to_label + to);
    update.source_label = names[static_cast<std::size_t>(label)];
    update.target_label = names[static_cast<std::size_t>(to_label)];
    batch.add(update);
  };
  join(a, 0, b, 0);
  for (std::int64_t i = 0; i < width; ++i) {
    join(b, 0, c, i);
    join(c, i, d, i);
    join(a, 0, f, i);
    for (std::int64_t j = 0; j < blind; ++j) {
      join(d, i, e, 500 + j);
      join(e, i, d, 500 + j);
    }
    for (std::int64_t j = 0; j + 1 < width; ++j) join(f, i, e, j);
  }
  join(f, width - 1, e, width - 1);  // the last of each
  join(e, width - 1, d, width - 1);
  for (std::int64_t ring = 950; ring < 990; ++ring) {
    for (std::int64_t label = 0; label < labels; ++label) join(label, ring, (label + 1) % labels, ring);
  }
  return batch;
}

// If an anchor leads to nothing for long, listing on the CPU leaves it for later. It is then tried on the CPU again.
TEST(GpuRegistration, WhatTheCpuLeavesOfAListingIsTriedAgain) {
  DELTAMATCH_NEEDS_GPU();
  const UpdateBatch start = late_ring();
  const Query ring = parse_pattern("(a:A)--(b:B)--(c:C)--(d:D)--(e:E)--(f:F)--(a)", "ring");
  StaticOptions listed;
  listed.query.list = true;
  listed.filter = Filter::label;
  Engine cpu({.directed = false});
  cpu.load(start, OnReject::skip);
  const StaticResult expected = cpu.match(ring, listed);
  ASSERT_TRUE(expected.matches == Count{41}) << to_string(expected.matches);
  ASSERT_TRUE(expected.filter.used);
  int on_cpu = 0;
  for (std::uint32_t slab = 1; slab <= 16; ++slab) {
    Engine gpu(
        {.directed = false,
         .backend = make_gpu_backend({.policy = CachePolicy::degree, .memory = std::size_t{1} << 20}, {.refused_slab = slab})});
    gpu.load(start, OnReject::skip);
    try {
      const StaticResult got = gpu.match(ring, listed);
      EXPECT_TRUE(got.matches == expected.matches) << "slab " << slab << ": " << to_string(got.matches);
      EXPECT_TRUE(got.digest == expected.digest) << "slab " << slab;
    } catch (const Error& error) {  // the graph's own lists
      EXPECT_NE(std::string(error.what()).find("CUDA cannot register host memory"), std::string::npos) << error.what();
    }
    on_cpu += test::cache_of(gpu).on_cpu > 1 ? 1 : 0;  // more calls than the first
  }
  EXPECT_GT(on_cpu, 0) << "nothing was left";
}

}  // namespace
}  // namespace deltamatch
