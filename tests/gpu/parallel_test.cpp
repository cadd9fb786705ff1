// Query edges that map to hundreds of parallel data edges, in every combination.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/side_by_side.hpp"
#include "gpu/support.hpp"
#include "support/edges.hpp"

namespace deltamatch {
namespace {

constexpr std::int64_t vertices = 6;

std::string clique(int size) {
  std::string text;
  for (int v = 0; v < size; ++v) {
    for (int u = 0; u < v; ++u) {
      text += (text.empty() ? "" : ", ") + ("(v" + std::to_string(u) + ")--(v" + std::to_string(v) + ")");
    }
  }
  return text;
}

/// Makes this many parallel edges between each pair of vertices for which `pairs` returns true.
template <class Pairs>
UpdateBatch parallel_edges(int labels, const Pairs& pairs) {
  UpdateBatch batch;
  for (std::int64_t v = 0; v < vertices; ++v) {
    for (std::int64_t u = 0; u < v; ++u) {
      if (pairs(u, v)) test::join_often(batch, u, v, labels);
    }
  }
  return batch;
}

const auto all_pairs = [](std::int64_t, std::int64_t) { return true; };

Count power(int base, int exponent) {
  Count result = 1;
  for (int i = 0; i < exponent; ++i) result *= static_cast<Count>(base);
  return result;
}

class GpuParallels : public testing::TestWithParam<test::Setting> {
 protected:
  void SetUp() override { DELTAMATCH_NEEDS_GPU(); }
};

// 16 labels: counts fit 64 bits. 256: a vertex of a clique of five is reached in 2^32 ways. 300: in more than fit 32 bits.
std::vector<int> label_counts() { return test::times(std::vector{16, 256, 300}, {16}); }

TEST_P(GpuParallels, CliquesAreCountedInAllWays) {
  for (const int labels : label_counts()) {
    Engine gpu({.directed = false, .backend = test::backend_of(GetParam())});
    gpu.load(parallel_edges(labels, all_pairs), OnReject::stop);
    for (const int size : {3, 4, 5}) {
      const Count sets = size == 3 ? 20 : size == 4 ? 15 : 6;
      const Count expected = sets * power(labels, size * (size - 1) / 2);
      for (const Filter filter : {Filter::none, Filter::refine}) {
        StaticOptions options;
        options.filter = filter;
        const Count got = gpu.match(parse_pattern(clique(size), "clique"), options).matches;
        EXPECT_TRUE(got == expected) << labels << " labels, " << size << " vertices: " << to_string(got) << ", not "
                                     << to_string(expected);
      }
    }
  }
}

TEST_P(GpuParallels, BatchesBringAllWays) {
  for (const int labels : label_counts()) {
    test::SideBySide both(false, test::backend_of(GetParam()), {{clique(4), test::counted}, {clique(5), test::counted}});
    both.load(parallel_edges(labels, [](std::int64_t, std::int64_t v) { return v + 1 < vertices; }));
    const auto last = [](std::int64_t, std::int64_t v) { return v + 1 == vertices; };
    EXPECT_TRUE(both.process(parallel_edges(labels, last), "new").queries[1].added == 5 * power(labels, 10)) << labels;
    const UpdateBatch gone = parallel_edges(labels, [](std::int64_t u, std::int64_t v) { return u == 0 && v == 1; });
    UpdateBatch deletions;
    for (Update update : gone.updates()) {
      update.kind = UpdateKind::delete_edge;
      deletions.add(update);
    }
    EXPECT_TRUE(both.process(deletions, "gone").queries[1].removed == 4 * power(labels, 10)) << labels;
  }
}

TEST_P(GpuParallels, FewOfAGreatManyAreListed) {
  for (const int labels : label_counts()) {
    Engine gpu({.directed = false, .backend = test::backend_of(GetParam())});
    gpu.load(parallel_edges(labels, all_pairs), OnReject::stop);
    StaticOptions list;
    list.query.list = true;
    list.limit = 3;
    const StaticResult got = gpu.match(parse_pattern(clique(5), "clique"), list);
    EXPECT_TRUE(got.matches == Count{3}) << to_string(got.matches);
    EXPECT_EQ(got.shortfall, Shortfall::limit);
  }
}

// Listed combinations are walked one by one.
TEST_P(GpuParallels, AStopIsHeardAmongThem) {
  DELTAMATCH_NOT_WHERE_BRIEF();
  Engine gpu({.directed = false, .backend = test::backend_of(GetParam())});
  gpu.load(parallel_edges(256, all_pairs), OnReject::stop);
  StaticOptions options;
  options.query.list = true;
  // Try until the stop comes during the walk. Other processes may delay the opening of the device.
  std::chrono::milliseconds timeout{300};
  StaticResult part;
  do {
    options.timeout = timeout;
    part = gpu.match(parse_pattern(clique(4), "clique"), options);
    ASSERT_EQ(part.shortfall, Shortfall::timeout);
    ASSERT_LT(part.seconds, 10);
    timeout *= 2;
  } while (part.matches <= Count{1000} && timeout < std::chrono::seconds(10));
  EXPECT_TRUE(part.matches > Count{1000} && part.matches < 15 * power(256, 6)) << to_string(part.matches);
}

// 14 query edges must all lie between one pair of vertices, which has at most 13 edges. Trying all would take some 10^10 steps.
TEST_P(GpuParallels, TooFewOfThemAreSeenAtOnce) {
  UpdateBatch batch;
  test::join_often(batch, 1, 2, 13);
  std::string star;
  for (int leaf = 0; leaf < 14; ++leaf) star += (leaf == 0 ? "(a)--(v" : ", (a)--(v") + std::to_string(leaf) + ")";
  Engine gpu({.directed = false, .backend = test::backend_of(GetParam())});
  gpu.load(batch, OnReject::stop);
  StaticOptions options;
  options.query.mode = MatchMode::edge_distinct;
  options.query.count = CountMode::embeddings;
  options.timeout = std::chrono::seconds(20);
  const StaticResult none = gpu.match(parse_pattern(star, "star"), options);
  EXPECT_TRUE(none.complete() && none.matches == 0) << to_string(none.matches);
}

INSTANTIATE_TEST_SUITE_P(Policies, GpuParallels, testing::ValuesIn(test::settings()),
                         [](const auto& setting) { return std::string(setting.param.name); });

}  // namespace
}  // namespace deltamatch
