// Loops that read again what a loop above them has found. Counts and matches must equal the CPU's. There is room for all sets,
// for some, or for nearly none, and warps give work away or not. Also tests when loops do this by default.
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

constexpr const char* near_clique5 = "(a)--(b)--(c)--(a), (a)--(d)--(b), (c)--(d), (a)--(e)--(b), (c)--(e)";
constexpr const char* octahedron = "(a)--(b)--(c)--(d)--(a), (a)--(e)--(b), (c)--(e)--(d), (a)--(f)--(b), (c)--(f)--(d)";
constexpr const char* two_cliques = "(a)--(b)--(c)--(a), (a)--(d)--(b), (c)--(d), (d)--(e)--(f)--(d), (d)--(g)--(e), (f)--(g)";
constexpr const char* strip = "(a)--(b)--(c)--(a), (b)--(d)--(c), (c)--(e)--(d)";
constexpr const char* clique5 = "(a)--(b)--(c)--(d)--(e)--(a), (a)--(c)--(e)--(b)--(d)--(a)";

struct Way {
  const char* name;
  std::uint32_t capacity;  // ids; 0: the default
  std::uint32_t share_interval;
};

class GpuSets : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override { DELTAMATCH_NEEDS_GPU(); }

  [[nodiscard]] static std::shared_ptr<Backend> backend() {
    GpuTesting how;
    how.share_interval = GetParam().share_interval;
    how.tables = GpuTables::never;
    how.set_capacity = GetParam().capacity;
    how.reuse = GpuReuse::always;
    return make_gpu_backend({.policy = CachePolicy::resident, .memory = std::size_t{64} << 20}, how);
  }

  static void follow(const Shape& shape, const std::vector<test::Registered>& queries,
                     const std::vector<std::uint32_t>& batches, std::uint64_t seed) {
    test::expect_equal_streams(shape, seed, backend(), queries, batches);
  }
};

constexpr QueryOptions homomorphisms{.mode = MatchMode::homomorphism, .count = CountMode::embeddings};

TEST_P(GpuSets, Unlabelled) {
  follow({200, 2000, 0, 0, false, 1.5, 60},
         {{near_clique5, counted},
          {near_clique5, listed},
          {octahedron, counted},
          {clique5, listed},
          {clique5, embeddings},
          {near_clique5, homomorphisms}},
         {1, 20, 100}, 1);
}

TEST_P(GpuSets, TwoCliques) { follow({150, 900, 0, 0, false, 1.3, 0}, {{two_cliques, counted}}, {1, 10, 40}, 2); }

// Small graphs, for tools under which kernels take long.
TEST_P(GpuSets, SmallBatches) {
  follow({60, 500, 0, 0, false, 1.3, 0}, {{near_clique5, counted}, {near_clique5, listed}, {clique5, listed}}, {5, 20}, 7);
}

// Batches that change nearly every list: sets are found in lists with added and removed entries.
TEST_P(GpuSets, LargeBatches) {
  follow({150, 1800, 0, 0, false, 1.5, 0}, {{near_clique5, counted}, {near_clique5, listed}}, {1500, 1500, 1}, 3);
}

// Lists with parallel edges and lists with tags, together with lists that make sets.
TEST_P(GpuSets, LabelledDirectedWithWildcards) {
  follow({120, 2400, 2, 2, true, 1.5, 0},
         {{"(a:V0)-[:E0]->(b:V1)-[:E0]->(c:V0)<-[:E0]-(a), (a)-[:E1]->(d:V1)-[:E0]->(c), (b)-[:E0]->(d)", counted},
          {"(a:V0)-[:E0]->(b:V1)-[:E0]->(c:V0)<-[:E0]-(a), (a)-->(d:V1)--(c), (b)-->(d)", listed},
          {"(a:V0)-[:E0]->(b:V1), (a)-[:E0]->(c:V0)<-[:E0]-(b), (a)-[:E0]->(d:V0)<-[:E0]-(b), (c)--(d)", counted},
          {"(a:V0)-[:E0]->(b:V1), (a)-[:E0]->(c:V0)<-[:E0]-(b), (a)-[:E0]->(d:V0)<-[:E0]-(b), (c)-->(d)",
           {.mode = MatchMode::edge_distinct, .count = CountMode::embeddings}}},
         {1, 40, 400}, 4);
}

// Order constraints cut lists and sets.
TEST_P(GpuSets, WholeGraphs) {
  const Shape shape = test::times(Shape{400, 6000, 0, 0, false, 1.5, 0}, Shape{100, 1000, 0, 0, false, 1.3, 0});
  Stream stream(shape, 5);
  const UpdateBatch start = stream.start();
  Engine cpu({.directed = false, .threads = 0});
  Engine gpu({.directed = false, .threads = 0, .backend = backend()});
  for (Engine* engine : {&cpu, &gpu}) engine->load(start, OnReject::skip);
  for (const char* pattern : {near_clique5, octahedron, clique5}) {
    const Query query = parse_pattern(pattern, "q");
    StaticOptions options;
    options.count_from = CountFrom::edges;
    const StaticResult expected = cpu.match(query, options);
    const StaticResult got = gpu.match(query, options);
    EXPECT_TRUE(expected.matches > 0) << pattern;
    EXPECT_TRUE(expected.matches == got.matches)
        << pattern << ": " << to_string(got.matches) << ", not " << to_string(expected.matches);
    if (pattern == octahedron) continue;
    options.query.list = true;
    EXPECT_TRUE(cpu.match(query, options).digest == gpu.match(query, options).digest) << pattern;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, GpuSets,
                         testing::Values(Way{"roomy", 0, 0}, Way{"roomy_shared", 0, 1}, Way{"some", 48, 0},
                                         Way{"some_shared", 48, 1}, Way{"few_shared", 7, 1}, Way{"none_shared", 1, 1}),
                         [](const auto& way) { return std::string(way.param.name); });

// Counts look-ups for a batch if one warp works on each chunk of anchors, with room for all sets. The number then depends only
// on the programs.
std::uint64_t hits(const Shape& shape, const char* pattern, GpuReuse reuse) {
  GpuTesting how;
  how.idle_share = 1;
  how.tables = GpuTables::never;
  how.reuse = reuse;
  Engine gpu({.directed = false,
              .threads = 0,
              .backend = make_gpu_backend({.policy = CachePolicy::resident, .memory = std::size_t{64} << 20}, how)});
  Stream stream(shape, 6);
  gpu.load(stream.start(), OnReject::skip);
  gpu.add_query(parse_pattern(pattern, "q"));
  gpu.process(stream.next(200), OnReject::skip);
  return test::cache_of(gpu).hits;
}

TEST(GpuSetChoice, SetsThatAreReadOftenAreReadAgain) {
  DELTAMATCH_NEEDS_GPU();
  const Shape dense{100, 1000, 0, 0, false, 1, 0};
  EXPECT_LT(hits(dense, two_cliques, GpuReuse::always), hits(dense, two_cliques, GpuReuse::never));
  EXPECT_EQ(hits(dense, two_cliques, GpuReuse::automatic), hits(dense, two_cliques, GpuReuse::always));
}

TEST(GpuSetChoice, OthersAreNot) {
  DELTAMATCH_NEEDS_GPU();
  const Shape dense{100, 1000, 0, 0, false, 1, 0};
  EXPECT_LT(hits(dense, strip, GpuReuse::always), hits(dense, strip, GpuReuse::never)) << "it could";
  EXPECT_EQ(hits(dense, strip, GpuReuse::automatic), hits(dense, strip, GpuReuse::never));
  const Shape sparse{4000, 8000, 0, 0, false, 1, 0};
  EXPECT_EQ(hits(sparse, two_cliques, GpuReuse::automatic), hits(sparse, two_cliques, GpuReuse::never));
}

}  // namespace
}  // namespace deltamatch
