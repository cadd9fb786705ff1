// Compares CPU and GPU on graphs too large for the oracle: equal counts and equal digests, batch by batch.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gpu/side_by_side.hpp"
#include "gpu/support.hpp"

namespace deltamatch {
namespace {

using test::counted;
using test::embeddings;
using test::listed;
using test::Shape;
using test::Stream;

class GpuDifferential : public testing::TestWithParam<test::Setting> {
 protected:
  void SetUp() override { DELTAMATCH_NEEDS_GPU(); }

  static void compare(const Shape& shape, const std::vector<test::Registered>& queries,
                      const std::vector<std::uint32_t>& batches, std::uint64_t seed) {
    test::expect_equal_streams(shape, seed, test::backend_of(GetParam()), queries, batches);
  }
};

TEST_P(GpuDifferential, UnlabelledUndirected) {
  compare({2000, 20000, 0, 0, false, 1.5, 0},
          {{"(a)--(b)--(c)--(a)", counted},
           {"(a)--(b)--(c)--(d)--(a)", counted},
           {"(a)--(b)--(c)--(d)--(a), (a)--(c)", listed},
           {"(a)--(b)--(c)--(d)--(a), (a)--(c), (b)--(d)", listed},
           {"(a)--(b)--(c)--(d)", embeddings},
           {"(a)--(b)--(c)--(d)--(e)--(a)", counted},
           {"(a)--(b)--(c)--(d)--(e)--(f)--(a), (b)--(e)", embeddings}},
          {1, 7, 64, 512, 4096}, 1);
}

TEST_P(GpuDifferential, LabelledDirectedWithWildcards) {
  compare({3000, 30000, 3, 2, true, 1.5, 0},
          {{"(a:V0)-[:E0]->(b:V1)-[:E1]->(c:V2)-[:E0]->(a)", listed},
           {"(a:V0)-->(b:V1)-->(c)-->(a)", counted},
           {"(a)-[:E0]->(b)-[:E0]->(c)<-[:E1]-(d:V1)", counted},
           {"(a:V0)--(b:V1)--(c:V2)--(a)", listed},
           {"(a:V0|V1)-[:E0|E1]->(b:V1)-->(c:V0)", counted},
           {"(a:V0)-->(b:V1)-->(c)-->(a)", {.mode = MatchMode::homomorphism, .count = CountMode::embeddings}},
           {"(a:V0)--(b)--(c)--(a)", {.mode = MatchMode::edge_distinct, .count = CountMode::embeddings}}},
          {1, 100, 1000, 4000}, 2);
}

constexpr Shape hub{200001, 50000, 0, 0, false, 1, 200000};
constexpr Shape small_hub{20001, 5000, 0, 0, false, 1, 20000};

TEST_P(GpuDifferential, HubOfHighDegree) {
  compare(test::times(hub, small_hub),
          {{"(a)--(b)--(c)--(a)", counted}, {"(a)--(b)--(c)--(d)--(a)", counted}, {"(a)--(b)--(c)", counted}}, {64, 512}, 3);
}

TEST_P(GpuDifferential, LargeBatches) {
  compare({50000, 400000, 6, 0, false, 1.5, 0},
          {{"(a:V0)--(b:V1)--(c:V2)--(d:V3)--(a)", counted},
           {"(a:V0)--(b:V1)--(c:V2)--(d:V3)--(e:V4)--(f:V5)--(a)", counted},
           {"(a:V0)--(b:V1)--(c:V0|V2)--(d:V1|V3)--(a), (a)--(c)", listed}},
          {65536, 65536, 1}, 4);
}

// A path whose vertices have this many labels in turn.
std::string labelled_path(int vertices, int labels) {
  std::string path = "(v0:V0)";
  for (int i = 1; i < vertices; ++i) path += "--(v" + std::to_string(i) + ":V" + std::to_string(i % labels) + ")";
  return path;
}

TEST_P(GpuDifferential, CliquesOfSeven) {
  std::string clique;
  for (int i = 0; i < 7; ++i) {
    for (int j = i + 1; j < 7; ++j) {
      clique += (clique.empty() ? "" : ", ") + std::string("(c") + std::to_string(i) + ")--(c" + std::to_string(j) + ")";
    }
  }
  compare({60, 900, 0, 0, false, 1, 0}, {{clique, counted}, {clique, listed}}, {8, 32}, 7);
}

TEST_P(GpuDifferential, QueriesOfTwelveAndSixteenVertices) {
  const std::string path = labelled_path(12, 3);
  const auto batches = [](std::uint32_t first, std::uint32_t second) {
    return test::brief() ? std::vector<std::uint32_t>{2} : std::vector{first, second};
  };
  compare({4000, test::times(9000U, 6000U), 3, 0, false, 1, 0}, {{path, counted}, {path, embeddings}, {path, listed}},
          batches(16, 64), 5);
  const std::string ring = labelled_path(16, 2) + "--(v0)";
  compare({100, test::times(170U, 130U), 2, 0, false, 1, 0}, {{ring, counted}, {ring, embeddings}, {ring, listed}},
          batches(8, 32), 6);
  std::string ladder = "(a0)--(a1)--(a2)--(a3)--(a4)--(a5)--(a6)--(a7), (b0)--(b1)--(b2)--(b3)--(b4)--(b5)--(b6)--(b7)";
  for (int i = 0; i < 8; ++i) ladder += ", (a" + std::to_string(i) + ")--(b" + std::to_string(i) + ")";
  compare({60, test::times(170U, 90U), 0, 0, false, 1, 0}, {{ladder, counted}, {ladder, listed}}, batches(4, 8), 6);
}

TEST_P(GpuDifferential, QueriesOfThirtyTwoVertices) {
  const std::string path = labelled_path(32, 2);
  std::vector<std::uint32_t> batches{8, 32};
  if (test::brief()) batches = {2};
  compare({3000, 3700, 2, 0, false, 1, 0}, {{path, counted}, {path, listed}}, batches, 7);
}

TEST_P(GpuDifferential, AHubOfHighDegreeIsListed) {
  compare(test::times(hub, small_hub), {{"(a)--(b)--(c)--(a)", listed}, {"(a)--(b)--(c)--(d)--(a), (a)--(c)", listed}},
          {64, 512}, 3);
}

// Small graphs, for tools under which kernels take long.
TEST_P(GpuDifferential, SmallBatches) {
  compare({200, 1500, 2, 2, true, 1.5, 50},
          {{"(a)--(b)--(c)--(a)", counted},
           {"(a:V0)-[:E0]->(b)-->(c)", listed},
           {"(a)--(b)--(c)--(d)--(a), (a)--(c)", listed},
           {"(a:V0)--(b)--(c)--(a)", {.mode = MatchMode::edge_distinct, .count = CountMode::embeddings}}},
          {20, 20, 100}, 10);
}

// Edges that go and come back: in one batch, in the next, and some batches later.
TEST_P(GpuDifferential, EdgesThatComeBack) {
  test::SideBySide both(true, test::backend_of(GetParam()),
                        {{"(a:V0)-->(b)-->(c)-->(a)", listed}, {"(a)-[:E0]->(b)-->(c:V1)", counted}});
  Stream stream({400, 5000, 2, 2, true, 1.5, 100}, 31);
  both.load(stream.start());
  constexpr std::size_t some = 300;
  const auto batch_of = [&](std::initializer_list<bool> inserts, std::size_t from, std::size_t to) {
    UpdateBatch batch;
    for (std::size_t i = from; i < to; ++i) {
      for (const bool insert : inserts) stream.put_known(batch, i, insert);
    }
    return batch;
  };
  const BatchResult gone = both.process(batch_of({false}, 0, some), "gone");
  EXPECT_TRUE(gone.queries[0].removed > 0 && gone.queries[1].removed > 0);
  const BatchResult back = both.process(batch_of({true}, 0, some), "back");
  for (std::size_t q = 0; q < 2; ++q) {
    EXPECT_TRUE(back.queries[q].added == gone.queries[q].removed) << q;
    EXPECT_TRUE(back.queries[q].added_digest == gone.queries[q].removed_digest) << "the same matches have the same ids";
  }
  const BatchResult nothing = both.process(batch_of({false, true}, 0, some), "gone and back at once");
  EXPECT_TRUE(nothing.queries[0].added == 0 && nothing.queries[0].removed == 0);
  both.process(batch_of({false, true, false}, 0, some), "gone after all");
  both.process(stream.next(100), "between");
  both.process(batch_of({true, false, true}, 0, some / 2), "half are back");
  both.process(stream.next(100), "between again");
  both.process(batch_of({true}, 0, some), "all are back");
  both.process(batch_of({false}, some, 2 * some), "others gone");
  both.process(batch_of({true}, some, 2 * some), "others back");
}

TEST_P(GpuDifferential, CountsBeyond64Bits) {
  std::string star;
  for (int i = 0; i < 8; ++i) star += (star.empty() ? "" : ", ") + std::string("(h)--(l") + std::to_string(i) + ")";
  compare({3000, 3000, 0, 0, false, 1, 2990}, {{star, counted}, {star, embeddings}}, {8, 64}, 8);
}

INSTANTIATE_TEST_SUITE_P(Policies, GpuDifferential, testing::ValuesIn(test::settings()),
                         [](const auto& setting) { return std::string(setting.param.name); });

}  // namespace
}  // namespace deltamatch
