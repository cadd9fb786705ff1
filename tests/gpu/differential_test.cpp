// CPU and GPU side by side on graphs too large for the oracle: equal counts and equal digests, batch by batch.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gpu/streams.hpp"
#include "gpu/support.hpp"

namespace deltamatch {
namespace {

using test::Shape;
using test::Stream;

struct Registered {
  std::string pattern;
  QueryOptions options;
};

class GpuDifferential : public testing::TestWithParam<test::Setting> {
 protected:
  void SetUp() override { DELTAMATCH_NEEDS_GPU(); }

  void compare(const Shape& shape, const std::vector<Registered>& queries, const std::vector<std::uint32_t>& batches,
               std::uint64_t seed) {
    Engine cpu({.directed = shape.directed, .threads = 0});
    Engine gpu({.directed = shape.directed, .threads = 0, .backend = test::backend_of(GetParam())});
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const Query query = parse_pattern(queries[q].pattern, "q" + std::to_string(q));
      cpu.add_query(query, queries[q].options);
      gpu.add_query(query, queries[q].options);
    }
    Stream stream(shape, seed);
    const UpdateBatch start = stream.start();
    cpu.load(start, OnReject::skip);
    gpu.load(start, OnReject::skip);
    std::vector<Count> found(queries.size());
    for (std::size_t b = 0; b < batches.size(); ++b) {
      const UpdateBatch batch = stream.next(batches[b]);
      const BatchResult expected = cpu.process(batch, OnReject::skip);
      const BatchResult got = gpu.process(batch, OnReject::skip);
      test::expect_equal(got, expected, "batch " + std::to_string(b));
      if (HasFailure()) return;
      for (std::size_t q = 0; q < queries.size(); ++q) found[q] += expected.queries[q].added + expected.queries[q].removed;
    }
    for (std::size_t q = 0; q < queries.size(); ++q)
      EXPECT_TRUE(found[q] > 0) << queries[q].pattern << ": nothing was compared";
  }
};

constexpr QueryOptions counted{};
constexpr QueryOptions listed{.list = true};
constexpr QueryOptions embeddings{.count = CountMode::embeddings};

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

TEST_P(GpuDifferential, HubOfHighDegree) {
  compare({200001, 50000, 0, 0, false, 1, 200000},
          {{"(a)--(b)--(c)--(a)", counted}, {"(a)--(b)--(c)--(d)--(a)", counted}, {"(a)--(b)--(c)", counted}}, {64, 512}, 3);
}

TEST_P(GpuDifferential, LargeBatches) {
  compare({50000, 400000, 6, 0, false, 1.5, 0},
          {{"(a:V0)--(b:V1)--(c:V2)--(d:V3)--(a)", counted},
           {"(a:V0)--(b:V1)--(c:V2)--(d:V3)--(e:V4)--(f:V5)--(a)", counted},
           {"(a:V0)--(b:V1)--(c:V0|V2)--(d:V1|V3)--(a), (a)--(c)", listed}},
          {65536, 65536, 1}, 4);
}

// Vertices that bear so many labels in turn.
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
  compare({4000, 9000, 3, 0, false, 1, 0}, {{path, counted}, {path, embeddings}, {path, listed}}, {16, 64}, 5);
  const std::string ring = labelled_path(16, 2) + "--(v0)";
  compare({100, 170, 2, 0, false, 1, 0}, {{ring, counted}, {ring, embeddings}, {ring, listed}}, {8, 32}, 6);
  std::string ladder = "(a0)--(a1)--(a2)--(a3)--(a4)--(a5)--(a6)--(a7), (b0)--(b1)--(b2)--(b3)--(b4)--(b5)--(b6)--(b7)";
  for (int i = 0; i < 8; ++i) ladder += ", (a" + std::to_string(i) + ")--(b" + std::to_string(i) + ")";
  compare({60, 170, 0, 0, false, 1, 0}, {{ladder, counted}, {ladder, listed}}, {4, 8}, 6);
}

TEST_P(GpuDifferential, QueriesOfThirtyTwoVertices) {
  const std::string path = labelled_path(32, 2);
  compare({3000, 3700, 2, 0, false, 1, 0}, {{path, counted}, {path, listed}}, {8, 32}, 7);
}

TEST_P(GpuDifferential, AHubOfHighDegreeIsListed) {
  compare({200001, 50000, 0, 0, false, 1, 200000},
          {{"(a)--(b)--(c)--(a)", listed}, {"(a)--(b)--(c)--(d)--(a), (a)--(c)", listed}}, {64, 512}, 3);
}

// What small graphs can show, for tools under which kernels take long.
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
  const Shape shape{400, 5000, 2, 2, true, 1.5, 100};
  Engine cpu({.directed = true});
  Engine gpu({.directed = true, .backend = test::backend_of(GetParam())});
  for (Engine* engine : {&cpu, &gpu}) {
    engine->add_query(parse_pattern("(a:V0)-->(b)-->(c)-->(a)", "listed"), {.list = true});
    engine->add_query(parse_pattern("(a)-[:E0]->(b)-->(c:V1)", "counted"));
  }
  Stream stream(shape, 31);
  const UpdateBatch start = stream.start();
  cpu.load(start, OnReject::skip);
  gpu.load(start, OnReject::skip);
  constexpr std::size_t some = 300;
  const auto batch_of = [&](std::initializer_list<bool> inserts, std::size_t from, std::size_t to) {
    UpdateBatch batch;
    for (std::size_t i = from; i < to; ++i) {
      for (const bool insert : inserts) stream.put_known(batch, i, insert);
    }
    return batch;
  };
  const auto process = [&](const UpdateBatch& batch, const std::string& what) {
    const BatchResult expected = cpu.process(batch, OnReject::skip);
    BatchResult got = gpu.process(batch, OnReject::skip);
    test::expect_equal(got, expected, what);
    return got;
  };
  const BatchResult gone = process(batch_of({false}, 0, some), "gone");
  EXPECT_TRUE(gone.queries[0].removed > 0 && gone.queries[1].removed > 0);
  const BatchResult back = process(batch_of({true}, 0, some), "back");
  for (std::size_t q = 0; q < 2; ++q) {
    EXPECT_TRUE(back.queries[q].added == gone.queries[q].removed) << q;
    EXPECT_TRUE(back.queries[q].added_digest == gone.queries[q].removed_digest) << "the same matches have the same ids";
  }
  const BatchResult nothing = process(batch_of({false, true}, 0, some), "gone and back at once");
  EXPECT_TRUE(nothing.queries[0].added == 0 && nothing.queries[0].removed == 0);
  process(batch_of({false, true, false}, 0, some), "gone after all");
  process(stream.next(100), "between");
  process(batch_of({true, false, true}, 0, some / 2), "half are back");
  process(stream.next(100), "between again");
  process(batch_of({true}, 0, some), "all are back");
  process(batch_of({false}, some, 2 * some), "others gone");
  process(batch_of({true}, some, 2 * some), "others back");
}

TEST_P(GpuDifferential, CountsBeyond64Bits) {
  std::string star;
  for (int i = 0; i < 8; ++i) star += (star.empty() ? "" : ", ") + std::string("(h)--(l") + std::to_string(i) + ")";
  compare({3000, 3000, 0, 0, false, 1, 2990}, {{star, counted}, {star, embeddings}}, {8, 64}, 8);
}

INSTANTIATE_TEST_SUITE_P(Policies, GpuDifferential, testing::ValuesIn(test::settings()),
                         [](const auto& setting) { return std::string(setting.param.name); });

TEST(GpuStatic, EqualsTheCpu) {
  DELTAMATCH_NEEDS_GPU();
  const Shape shape{3000, 30000, 0, 0, false, 1.5, 0};
  Engine cpu({.directed = false});
  Engine gpu({.directed = false, .backend = make_gpu_backend({.memory = std::size_t{1} << 28})});
  Stream stream(shape, 9);
  const UpdateBatch start = stream.start();
  cpu.load(start, OnReject::skip);
  gpu.load(start, OnReject::skip);
  for (const char* pattern : {"(a)--(b)--(c)--(a)", "(a)--(b)--(c)--(d)--(a)", "(a)--(b)--(c)--(d)--(a), (a)--(c), (b)--(d)"}) {
    const Query query = parse_pattern(pattern, "q");
    const StaticResult expected = cpu.match(query);
    const StaticResult got = gpu.match(query);
    EXPECT_TRUE(expected.matches == got.matches)
        << pattern << ": " << to_string(got.matches) << ", not " << to_string(expected.matches);
    StaticOptions list;
    list.query.list = true;
    EXPECT_TRUE(cpu.match(query, list).digest == gpu.match(query, list).digest) << pattern;
  }
}

// Counts from edges and from vertices, with tables that hold every vertex and with some that must grow first, of patterns whose
// sums have trees, bound vertices, sets of twins, and what hangs on the root.
TEST(GpuStatic, CountsEqualTheCpu) {
  DELTAMATCH_NEEDS_GPU();
  const Shape shapes[] = {
      {2000, 12000, 0, 0, false, 1.5, 0}, {2000, 16000, 2, 0, false, 2, 500}, {1500, 9000, 0, 0, true, 1.5, 0}};
  const char* const patterns[] = {"(a)--(b)--(c)--(d)--(a)",
                                  "(a)--(b)--(c)--(d)--(a), (a)--(c)",
                                  "(a)--(b)--(c)--(d)--(e)--(a)",
                                  "(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)",
                                  "(a)--(b)--(c)--(d)--(e)--(f)--(a)",
                                  "(a)--(b)--(c)--(d)--(e)--(f)--(a), (b)--(e)",
                                  "(a)--(b)--(c)--(a), (c)--(d)--(e)",
                                  "(a)--(b), (a)--(c), (a)--(d), (d)--(e)",
                                  "(a)--(b)--(c)--(d)--(a), (c)--(e)--(f)"};
  std::uint64_t seed = 21;
  for (const Shape& shape : shapes) {
    Stream stream(shape, seed++);
    const UpdateBatch start = stream.start();
    Engine cpu({.directed = shape.directed});
    cpu.load(start, OnReject::skip);
    for (const auto& [tables, bytes] : {std::pair{GpuTables::automatic, std::size_t{0}}, {GpuTables::always, std::size_t{1}}}) {
      Engine gpu({.directed = shape.directed,
                  .backend = make_gpu_backend(
                      {.memory = std::size_t{1} << 28, .testing = {.tables = tables, .table_memory = bytes}})});
      gpu.load(start, OnReject::skip);
      for (const char* pattern : patterns) {
        const Query query = parse_pattern(pattern, "q");
        StaticOptions options;
        const Count expected = cpu.match(query, options).matches;
        for (const CountFrom from : {CountFrom::automatic, CountFrom::edges, CountFrom::vertices}) {
          options.count_from = from;
          const Count got = gpu.match(query, options).matches;
          EXPECT_TRUE(expected == got) << pattern << " from " << static_cast<int>(from) << " in shape " << seed << ": "
                                       << to_string(got) << ", not " << to_string(expected);
        }
      }
    }
  }
}

// What engines are held to each other on as a whole: without labels and with them, parallel edges and edges back among them.
const Shape whole_shapes[] = {{800, 6000, 0, 0, false, 1.5, 300},
                              {800, 8000, 3, 0, false, 1.5, 0},
                              {300, 4000, 2, 3, false, 1.5, 0},
                              {600, 6000, 0, 0, true, 1.5, 100},
                              {300, 4000, 3, 2, true, 1.5, 0}};

std::vector<std::string> whole_patterns(const Shape& shape) {
  std::vector<std::string> patterns{"(a)--(b)--(c)--(a)",           "(a)--(b)--(c)--(d)",
                                    "(a)--(b)--(c)--(d)--(a)",      "(a)--(b)--(c)--(d)--(a), (a)--(c)",
                                    "(a)--(b), (a)--(c), (a)--(d)", "(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)"};
  if (shape.directed) patterns.insert(patterns.end(), {"(a)-->(b)-->(c)-->(a)", "(a)-->(b)-->(a), (b)-->(c)"});
  if (shape.vertex_labels > 0) {
    patterns.insert(patterns.end(),
                    {"(a:V0)--(b:V1)--(c:V0)--(d:V1)--(a)", "(a:V0|V1)--(b:V1)--(c)--(a), (c)--(d:V0)",
                     // Anchors that fit in one orientation only, with nothing else to read at their misfit ends.
                     "(a:V0)--(b:V1)", "(c)--(d:V0), (c)--(e)", "(c)--(d:V0|V1), (c)--(e:V1)"});
  }
  if (shape.edge_labels > 0) {
    patterns.insert(patterns.end(), {"(a)-[:E0]-(b), (a)-[:E1]-(b), (b)--(c)", "(a)-[:E0]-(b)-[:E1]-(c)-[:E0|E1]-(a)"});
  }
  return patterns;
}

// Counts and, where they are not too many, lists every pattern under `options` on both; the digests tell the listed matches
// apart. Returns how many there are.
Count expect_same_answers(Engine& gpu, Engine& cpu, const Shape& shape, StaticOptions options, const std::string& what) {
  constexpr Count most_listed = 300'000;
  Count all = 0;
  for (const std::string& pattern : whole_patterns(shape)) {
    const Query query = parse_pattern(pattern, "q");
    Count matches = 0;
    for (const bool list : {false, true}) {
      if (matches > most_listed) break;
      options.query.list = list;
      StaticOptions plain = options;
      plain.filter = Filter::none;
      const StaticResult expected = cpu.match(query, plain);
      const StaticResult got = gpu.match(query, options);
      EXPECT_TRUE(got.matches == expected.matches && got.complete() && (!list || got.digest == expected.digest))
          << what << ", " << pattern << (list ? ", listed: " : ": ") << to_string(got.matches) << ", not "
          << to_string(expected.matches);
      all += matches = expected.matches;
    }
  }
  return all;
}

void load_both(Engine& gpu, Engine& cpu, const Shape& shape, std::uint64_t seed) {
  const UpdateBatch start = Stream(shape, seed).start();
  (void)gpu.load(start, OnReject::skip);
  (void)cpu.load(start, OnReject::skip);
}

// In all modes, though only isomorphism is left to the GPU.
TEST_P(GpuDifferential, InducedMatches) {
  std::uint64_t seed = 40;
  for (const Shape& shape : whole_shapes) {
    Engine cpu({.directed = shape.directed});
    Engine gpu({.directed = shape.directed, .backend = test::backend_of(GetParam())});
    load_both(gpu, cpu, shape, ++seed);
    const std::string where = "shape " + std::to_string(seed - 40);
    StaticOptions options;
    options.induced = true;
    Count all = expect_same_answers(gpu, cpu, shape, options, where);
    options.query.count = CountMode::embeddings;
    all += expect_same_answers(gpu, cpu, shape, options, where + ", embeddings");
    EXPECT_GT(all, Count{1000}) << where;
    EXPECT_GT(gpu.cache().kernel_seconds, 0) << where;
    options.query.mode = MatchMode::edge_distinct;
    const Query triangle = parse_pattern("(a)--(b)--(c)--(a)", "q");
    EXPECT_TRUE(gpu.match(triangle, options).matches == cpu.match(triangle, options).matches) << where;
    if (HasFailure()) return;
  }
}

// Every filter, induced or not; what it leaves is the CPU's. Late ones need more work than fits a test of every policy.
TEST_P(GpuDifferential, FilteredMatches) {
  std::uint64_t seed = 60;
  for (const Shape& shape : whole_shapes) {
    Engine cpu({.directed = shape.directed});
    Engine gpu({.directed = shape.directed, .backend = test::backend_of(GetParam())});
    load_both(gpu, cpu, shape, ++seed);
    const std::string where = "shape " + std::to_string(seed - 60);
    for (const auto& [filter, name] : {std::pair{Filter::automatic, "auto"},
                                       {Filter::label, "label"},
                                       {Filter::degree, "degree"},
                                       {Filter::refine, "refine"}}) {
      StaticOptions options;
      options.filter = filter;
      EXPECT_GT(expect_same_answers(gpu, cpu, shape, options, where + ", " + name), Count{1000});
      if (HasFailure()) return;
    }
    StaticOptions options;
    options.filter = Filter::refine;
    for (const std::string& pattern : whole_patterns(shape)) {
      const Query query = parse_pattern(pattern, "q");
      const FilterReport expected = cpu.match(query, options).filter;
      const FilterReport got = gpu.match(query, options).filter;
      ASSERT_EQ(got.steps.size(), expected.steps.size()) << where << ", " << pattern;
      for (std::size_t s = 0; s < expected.steps.size(); ++s) {
        EXPECT_EQ(got.steps[s].name, expected.steps[s].name) << where << ", " << pattern;
        EXPECT_EQ(got.steps[s].candidates, expected.steps[s].candidates) << where << ", " << pattern << ", step " << s;
      }
      EXPECT_EQ(got.used, expected.used) << where << ", " << pattern;
      EXPECT_EQ(got.entries, expected.entries) << where << ", " << pattern;
    }
    options.induced = true;
    expect_same_answers(gpu, cpu, shape, options, where + ", induced");
    options.query.count = CountMode::embeddings;
    expect_same_answers(gpu, cpu, shape, options, where + ", induced embeddings");
    for (const MatchMode mode : {MatchMode::edge_distinct, MatchMode::homomorphism}) {
      StaticOptions other;
      other.filter = Filter::refine;
      other.query.mode = mode;
      other.query.count = CountMode::embeddings;
      expect_same_answers(gpu, cpu, shape, other, where + ", mode " + std::to_string(static_cast<int>(mode)));
    }
    for (const CountFrom from : {CountFrom::edges, CountFrom::vertices}) {
      StaticOptions other;
      other.filter = Filter::degree;
      other.count_from = from;
      expect_same_answers(gpu, cpu, shape, other, where + ", from " + std::to_string(static_cast<int>(from)));
    }
    if (HasFailure()) return;
  }
}

// What needs no matching at all: that kernels ran is the filter's doing.
TEST(GpuStatic, CandidatesAreFilteredOnTheDevice) {
  DELTAMATCH_NEEDS_GPU();
  const Shape& shape = whole_shapes[1];
  Engine cpu({.directed = shape.directed});
  Engine gpu({.directed = shape.directed,
              .backend = make_gpu_backend({.policy = CachePolicy::resident, .memory = std::size_t{1} << 26})});
  load_both(gpu, cpu, shape, 80);
  StaticOptions options;
  for (const auto& [filter, pattern] : {std::pair{Filter::label, "(a:V0)--(b:absent)"},
                                        {Filter::degree, "(a:V0)--(b:V1)-[:absent]-(c)"},
                                        {Filter::refine, "(a)--(b:V1)--(c:absent)"}}) {
    options.filter = filter;
    const double before = gpu.cache().kernel_seconds;
    const StaticResult got = gpu.match(parse_pattern(pattern, "q"), options);
    const StaticResult expected = cpu.match(parse_pattern(pattern, "q"), options);
    EXPECT_TRUE(got.matches == 0 && expected.matches == 0) << pattern;
    EXPECT_GT(gpu.cache().kernel_seconds, before) << pattern;
    ASSERT_EQ(got.filter.steps.size(), expected.filter.steps.size()) << pattern;
    EXPECT_EQ(got.filter.steps.back().candidates, expected.filter.steps.back().candidates) << pattern;
  }
}

// To hand a million matches on takes longer than the filter waits, and anchors are left by then.
TEST(GpuStatic, FiltersBeginLate) {
  DELTAMATCH_NEEDS_GPU();
  const Shape shape{20000, 80000, 3, 0, false, 1.5, 3000};
  Engine cpu({.directed = false});
  Engine gpu({.directed = false, .backend = make_gpu_backend({.memory = std::size_t{1} << 28})});
  load_both(gpu, cpu, shape, 81);
  StaticOptions options;
  options.query.list = true;
  for (const bool induced : {false, true}) {
    options.induced = induced;
    const Query query = parse_pattern("(a:V1)--(b:V0)--(c:V2)", "wedge");
    options.filter = Filter::automatic;
    const StaticResult got = gpu.match(query, options);
    options.filter = Filter::none;
    const StaticResult expected = cpu.match(query, options);
    EXPECT_FALSE(got.filter.steps.empty()) << "matching was over before";
    EXPECT_GT(expected.matches, Count{500'000});
    EXPECT_TRUE(got.matches == expected.matches) << to_string(got.matches) << ", not " << to_string(expected.matches);
    EXPECT_EQ(got.digest, expected.digest);
  }
}

// A whole graph is matched in portions. One whose sums exceed 64 bits is counted again, and the others are kept.
TEST(GpuStatic, AnOverflowLosesNoOtherPortion) {
  DELTAMATCH_NEEDS_GPU();
  UpdateBatch start;
  const auto join = [&](std::int64_t a, std::int64_t b) {
    Update update;
    update.source = a;
    update.target = b;
    start.add(update);
  };
  constexpr std::int64_t small_stars = 40000;
  for (std::int64_t star = 0; star < small_stars; ++star) {
    for (std::int64_t leaf = 1; leaf <= 7; ++leaf) join(8 * star, 8 * star + leaf);
  }
  for (std::int64_t leaf = 1; leaf <= 20000; ++leaf) join(-1, -1 - leaf);
  Engine cpu({.directed = false});
  Engine gpu({.directed = false, .backend = make_gpu_backend({.memory = std::size_t{1} << 28})});
  for (Engine* engine : {&cpu, &gpu}) (void)engine->load(start, OnReject::skip);
  const Query star = parse_pattern("(h)--(a), (h)--(b), (h)--(c), (h)--(d), (h)--(e), (h)--(f)", "star");
  for (const CountFrom from : {CountFrom::edges, CountFrom::vertices}) {
    StaticOptions options;
    options.count_from = from;
    const Count expected = cpu.match(star, options).matches;
    EXPECT_GT(expected, Count{small_stars} * 7);
    EXPECT_TRUE(gpu.match(star, options).matches == expected) << static_cast<int>(from);
  }
}

// The graph fits the budget when it is loaded, and no longer after some batches: it goes on with a cache, and says so.
TEST(GpuMemory, AGraphThatOutgrowsItIsCached) {
  DELTAMATCH_NEEDS_GPU();
  constexpr std::uint32_t vertices = 20000;
  Engine cpu({.directed = false});
  Engine gpu({.directed = false, .backend = make_gpu_backend({.memory = std::size_t{4} << 20})});
  for (Engine* engine : {&cpu, &gpu}) engine->add_query(parse_pattern("(a)--(b)--(c)--(a)", "triangle"), {.list = true});
  const UpdateBatch start = Stream({vertices, 30000, 0, 0, false, 1, 0}, 12).start();
  cpu.load(start, OnReject::skip);
  gpu.load(start, OnReject::skip);
  for (std::uint32_t b = 0; b < 5; ++b) {
    const UpdateBatch batch = Stream({vertices, b == 0 ? 100U : 200000U, 0, 0, false, 1, 0}, 13 + b).start();
    const BatchResult expected = cpu.process(batch, OnReject::skip);
    const BatchResult got = gpu.process(batch, OnReject::skip);
    ASSERT_TRUE(expected.queries[0].added == got.queries[0].added) << "batch " << b;
    ASSERT_TRUE(expected.queries[0].added_digest == got.queries[0].added_digest) << "batch " << b;
    if (b > 0) continue;
    EXPECT_EQ(gpu.cache().misses, 0) << "it fits";
    EXPECT_EQ(gpu.cache().notice, "");
  }
  EXPECT_GT(gpu.cache().misses, 0);
  EXPECT_EQ(gpu.cache().notice, "the graph has outgrown device memory; what is hot of it is cached");
}

// Warps that look for idle ones at every step give nearly everything away, so that tickets go round the queue many times.
void share_all(const Shape& shape, int batches, std::uint32_t updates, std::uint64_t parts) {
  Engine cpu({.directed = false});
  Engine gpu(
      {.directed = false, .backend = make_gpu_backend({.memory = std::size_t{1} << 26, .testing = {.share_interval = 1}})});
  for (Engine* engine : {&cpu, &gpu}) {
    engine->add_query(parse_pattern("(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)", "house"));
    engine->add_query(parse_pattern("(a)--(b)--(c)--(d)--(a), (a)--(c), (b)--(d)", "clique"), {.list = true});
    engine->add_query(parse_pattern("(a)--(b)--(c)--(d)--(e)--(a)", "ring"), {.count = CountMode::embeddings});
  }
  Stream stream(shape, 11);
  const UpdateBatch start = stream.start();
  cpu.load(start, OnReject::skip);
  gpu.load(start, OnReject::skip);
  for (int b = 0; b < batches; ++b) {
    const UpdateBatch batch = stream.next(updates);
    const BatchResult expected = cpu.process(batch, OnReject::skip);
    test::expect_equal(gpu.process(batch, OnReject::skip), expected, "batch " + std::to_string(b));
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(gpu.cache().shared_parts, parts);
}

TEST(GpuSharing, KeepsEveryPartOnce) {
  DELTAMATCH_NEEDS_GPU();
  share_all({3000, 60000, 0, 0, false, 2.5, 2000}, 60, 40, 100000);
}

TEST(GpuSharing, SmallBatches) {
  DELTAMATCH_NEEDS_GPU();
  share_all({300, 3000, 0, 0, false, 1.5, 200}, 5, 10, 100);
}

// Several GPUs share a batch's anchors; one device twice is as good a test of the sharing.
TEST(GpuSeveralDevices, EqualOne) {
  DELTAMATCH_NEEDS_GPU();
  std::vector<int> devices = gpu_devices();
  if (devices.size() == 1) devices.push_back(0);
  const Shape shape{5000, 60000, 3, 0, false, 1.5, 0};
  Engine one({.directed = false, .backend = make_gpu_backend({.memory = std::size_t{1} << 26})});
  Engine all({.directed = false, .backend = make_gpu_backend({.devices = devices, .memory = std::size_t{1} << 26})});
  for (const char* pattern : {"(a:V0)--(b:V1)--(c:V2)--(a)", "(a:V0)--(b:V1)--(c)--(d)--(a)"}) {
    for (Engine* engine : {&one, &all}) {
      engine->add_query(parse_pattern(pattern, "l"), {.list = true});
      engine->add_query(parse_pattern(pattern, "c"));
    }
  }
  Stream stream(shape, 10);
  const UpdateBatch start = stream.start();
  one.load(start, OnReject::skip);
  all.load(start, OnReject::skip);
  for (int b = 0; b < 5; ++b) {
    const UpdateBatch batch = stream.next(1000);
    const BatchResult expected = one.process(batch, OnReject::skip);
    const BatchResult got = all.process(batch, OnReject::skip);
    test::expect_equal(got, expected, "batch " + std::to_string(b));
  }
}

}  // namespace
}  // namespace deltamatch
