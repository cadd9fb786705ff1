// Whole graphs that do not fit device memory. Counts and digests equal the CPU's, no matter what is cached and how little.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "engine/storage/bulk_loader.hpp"
#include "gpu/streams.hpp"
#include "gpu/support.hpp"

namespace deltamatch {
namespace {

using test::Shape;
using test::Stream;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

struct Budget {
  const char* name;
  CachePolicy policy;
  std::size_t memory;
  WalkCount walk_count = WalkCount::even;
};
std::ostream& operator<<(std::ostream& out, const Budget& budget) { return out << budget.name; }

// A budget for caches that hold some of the lists that queries read, not all.
std::size_t some() { return test::times(mebibyte, mebibyte / 8); }

class GpuStaticMemory : public testing::TestWithParam<Budget> {
 protected:
  void SetUp() override { DELTAMATCH_NEEDS_GPU(); }
  [[nodiscard]] static std::shared_ptr<Backend> backend() {
    return make_gpu_backend({.policy = GetParam().policy, .memory = GetParam().memory, .walk_count = GetParam().walk_count});
  }
  static void expect_same(Engine& cpu, Engine& gpu, const std::string& pattern) {
    const Query query = parse_pattern(pattern, "q");
    for (const CountFrom from : {CountFrom::automatic, CountFrom::edges, CountFrom::vertices}) {
      if (test::brief() && from != CountFrom::automatic) break;
      StaticOptions options;
      options.count_from = from;
      const Count expected = cpu.match(query, options).matches;
      const Count got = gpu.match(query, options).matches;
      EXPECT_TRUE(expected == got) << pattern << " from " << static_cast<int>(from) << ": " << to_string(got) << ", not "
                                   << to_string(expected);
    }
  }
};

TEST_P(GpuStaticMemory, CountsEqualTheCpu) {
  Stream stream(test::times(Shape{30000, 250000, 2, 0, false, 2, 2000}, Shape{30000, 250000, 4, 0, false, 1, 0}), 31);
  const UpdateBatch start = stream.start();
  Engine cpu({.directed = false, .threads = 0});
  Engine gpu({.directed = false, .threads = 0, .backend = backend()});
  for (Engine* engine : {&cpu, &gpu}) engine->load(start, OnReject::skip);
  // With and without labels in turn, so that other lists are read.
  std::vector<const char*> patterns{"(a)--(b)--(c)--(a)", "(a:V0)--(b:V1)--(c:V0)--(d:V1)--(a)",
                                    "(a)--(b)--(c)--(d)--(a), (a)--(c)", "(a:V0)--(b:V0)--(c:V0)--(a)--(d:V1)"};
  if (test::brief()) patterns = {patterns.back()};
  for (const char* pattern : patterns) expect_same(cpu, gpu, pattern);
  StaticOptions list;
  list.query.list = true;
  const Query labelled = parse_pattern("(a:V0)--(b:V0)--(c:V1)--(a)", "q");
  EXPECT_TRUE(cpu.match(labelled, list).digest == gpu.match(labelled, list).digest);
  const CachePolicy policy = GetParam().policy;
  if (policy == CachePolicy::random_walk || policy == CachePolicy::degree || policy == CachePolicy::k_hop) {
    EXPECT_EQ(test::cache_of(gpu).cached_bytes > 0, GetParam().memory >= some());
    EXPECT_EQ(test::cache_of(gpu).hits > 0, GetParam().memory >= some());
    EXPECT_GT(test::cache_of(gpu).misses, 0) << "not all fits";
    EXPECT_GE(test::cache_of(gpu).choices, GetParam().memory >= some() ? 1U : 0U);
  }
}

TEST_P(GpuStaticMemory, CountsOfDirectedGraphsWithEdgeLabelsEqualTheCpu) {
  Stream stream({20000, 150000, 3, 2, true, 1.5, 0}, 32);
  const UpdateBatch start = stream.start();
  Engine cpu({.threads = 0});
  Engine gpu({.threads = 0, .backend = backend()});
  for (Engine* engine : {&cpu, &gpu}) engine->load(start, OnReject::skip);
  for (const char* pattern : {"(a:V0)-[:E0]->(b:V1)-[:E1]->(c:V2)-[:E0]->(d:V0)", "(a:V0)-->(b:V1)--(c:V2)",
                              "(a:V0)-[:E0]->(b:V1|V2)<-[:E0]-(c:V0)-[:E0]->(d:V1)<-[:E0]-(a)"}) {
    expect_same(cpu, gpu, pattern);
  }
}

// Runs one query after the other, filtered or not. The reported bytes on the device must never exceed the budget.
TEST_P(GpuStaticMemory, TheBudgetIsKept) {
  const UpdateBatch start = Stream({30000, 250000, 4, 0, false, 1.5, 0}, 35).start();
  Engine cpu({.directed = false, .threads = 0});
  Engine gpu({.directed = false, .threads = 0, .backend = backend()});
  for (Engine* engine : {&cpu, &gpu}) engine->load(start, OnReject::skip);
  std::uint64_t most = 0;
  std::vector<const char*> patterns{"(a)--(b)--(c)--(a)", "(a:V2)--(b:V3)--(c:V1)--(a)", "(a:V0)--(b:V1)--(c:V0)--(d:V1)--(a)",
                                    "(a:V0)--(b:V1)--(c:V2)--(d:V3)--(a), (a)--(c)"};
  if (test::brief()) patterns.resize(2);
  for (const char* pattern : patterns) {
    for (const Filter filter : {Filter::none, Filter::refine}) {
      const Query query = parse_pattern(pattern, "q");
      StaticOptions options;
      options.filter = filter;
      EXPECT_TRUE(gpu.match(query, options).matches == cpu.match(query, options).matches) << pattern;
      EXPECT_LE(test::cache_of(gpu).cached_bytes, GetParam().memory) << pattern;
      most = std::max(most, test::cache_of(gpu).cached_bytes);
    }
  }
  EXPECT_EQ(most > 0, GetParam().memory >= some());
}

// Loads only the part of a graph file that the query's labels can touch.
TEST_P(GpuStaticMemory, APartOfAGraphFileCountsAsOnTheCpu) {
  std::string name = (std::filesystem::temp_directory_path() / "deltamatch-gpu-static-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  const std::filesystem::path path = folder / "graph.dmg";
  {
    Engine whole({.directed = false, .threads = 0});
    whole.load(Stream({30000, 250000, 6, 0, false, 2, 0}, 33).start(), OnReject::skip);
    engine::BulkLoader::save(whole, path);
  }
  for (const char* pattern : {"(a:V0)--(b:V1)--(c:V0)--(d:V1)--(a)", "(a:V2)--(b:V3)--(c:V4)--(a)"}) {
    engine::EdgeDemand demand;
    demand.add(parse_pattern(pattern, "q"), false);
    Engine cpu({.directed = false, .threads = 0});
    Engine gpu({.directed = false, .threads = 0, .backend = backend()});
    for (Engine* engine : {&cpu, &gpu}) {
      engine::GraphFile file(path);
      engine::BulkLoader::load(*engine, file, &demand);
    }
    expect_same(cpu, gpu, pattern);
  }
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Budgets, GpuStaticMemory,
                         testing::Values(Budget{"none", CachePolicy::none, 0}, Budget{"degree", CachePolicy::degree, some()},
                                         Budget{"k_hop", CachePolicy::k_hop, some()},
                                         Budget{"random_walk", CachePolicy::random_walk, some()},
                                         Budget{"random_walk_empty", CachePolicy::random_walk, 1},
                                         Budget{"random_walk_paper", CachePolicy::random_walk, some(), WalkCount::paper},
                                         Budget{"automatic", CachePolicy::automatic, 2 * mebibyte},
                                         Budget{"resident", CachePolicy::resident, 64 * mebibyte}),
                         [](const auto& budget) { return std::string(budget.param.name); });

// The graph does not fit the budget, but the lists that a labelled query reads do. The device holds them for one query after
// the other.
TEST(GpuStaticLabels, WhatAQueryReadsIsResidentWhereTheGraphDoesNotFit) {
  DELTAMATCH_NEEDS_GPU();
  const UpdateBatch start = Stream({20000, 200000, 8, 0, false, test::times(1.5, 1.0), 0}, 34).start();
  Engine cpu({.directed = false, .threads = 0});
  Engine gpu({.directed = false, .threads = 0, .backend = make_gpu_backend({.memory = 3 * mebibyte / 2})});
  for (Engine* engine : {&cpu, &gpu}) engine->load(start, OnReject::skip);
  const auto count = [&](const char* pattern) {
    const Query query = parse_pattern(pattern, "q");
    const Count expected = cpu.match(query).matches;
    EXPECT_GT(expected, 0) << pattern;
    EXPECT_TRUE(gpu.match(query).matches == expected) << pattern;
    return test::cache_of(gpu);
  };
  for (const char* pattern : {"(a:V0)--(b:V1)--(c:V0)--(d:V1)--(a)", "(a:V2)--(b:V3)--(c:V4)--(d:V2)"}) {
    const gpu::CacheStatistics cache = count(pattern);
    EXPECT_EQ(cache.misses, 0) << pattern;
    EXPECT_NE(cache.notice.find("that the query reads"), std::string::npos) << cache.notice;
  }
  if (test::brief()) return;
  const gpu::CacheStatistics before = count("(a)--(b)--(c)--(d)--(a), (a)--(c)");
  EXPECT_GT(before.misses, 0) << "it reads all lists, which are cached";
  EXPECT_EQ(before.notice, "");
  EXPECT_EQ(count("(a:V5)--(b:V6)--(c:V5)").misses, before.misses) << "and then few again";
}

// The graph fits when it is first matched, and grows many times over before the next queries. Then the device holds what these
// read.
TEST(GpuStaticLabels, WhatAQueryReadsIsResidentWhereTheGraphHasOutgrownTheDevice) {
  DELTAMATCH_NEEDS_GPU();
  const UpdateBatch few = Stream({2000, 10000, 8, 0, false, test::times(1.5, 1.0), 0}, 34).start();
  const UpdateBatch many = Stream({20000, 500000, 8, 0, false, test::times(1.5, 1.0), 0}, 34).start();
  for (const CachePolicy policy : {CachePolicy::automatic, CachePolicy::resident}) {
    for (const Filter filter : {Filter::automatic, Filter::none}) {  // the filter's steps or the match open the devices
      SCOPED_TRACE(std::string(policy == CachePolicy::resident ? "resident" : "automatic") +
                   (filter == Filter::none ? ", no filter" : ", filter"));
      Engine cpu({.directed = false, .threads = 0});
      Engine gpu(
          {.directed = false, .threads = 0, .backend = make_gpu_backend({.policy = policy, .memory = 3 * mebibyte / 2})});
      StaticOptions options;
      options.filter = filter;
      const auto count = [&](const char* pattern) {
        const Query query = parse_pattern(pattern, "q");
        EXPECT_TRUE(gpu.match(query, options).matches == cpu.match(query, options).matches) << pattern;
        const gpu::CacheStatistics cache = test::cache_of(gpu);
        EXPECT_EQ(cache.misses, 0) << pattern;
        return cache.notice;
      };
      for (Engine* engine : {&cpu, &gpu}) engine->load(few, OnReject::skip);
      EXPECT_EQ(count("(a)--(b)--(c)--(d)--(a)"), "") << "all of it fits";
      for (Engine* engine : {&cpu, &gpu}) engine->load(many, OnReject::skip);
      count("(a:V0)--(b:V1)--(c:V0)--(d:V1)--(a)");
      EXPECT_NE(count("(a:V2)--(b:V3)--(c:V4)--(d:V2)").find("that the query reads"), std::string::npos)
          << "what both read does not fit";
    }
  }
}

}  // namespace
}  // namespace deltamatch
