// Whole graphs, too large for the oracle, matched once by CPU and GPU: equal counts and equal digests, filtered and not.
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/streams.hpp"
#include "gpu/support.hpp"
#include "unit/engine/patient_backend.hpp"

namespace deltamatch {
namespace {

using test::Shape;
using test::Stream;

class GpuWhole : public testing::TestWithParam<test::Setting> {
 protected:
  void SetUp() override { DELTAMATCH_NEEDS_GPU(); }
  template <class Check>
  static void on_all_shapes(std::uint64_t seed, const Check& check);
};

TEST(GpuStatic, EqualsTheCpu) {
  DELTAMATCH_NEEDS_GPU();
  const Shape shape = test::times(Shape{3000, 30000, 0, 0, false, 1.5, 0}, Shape{600, 4000, 0, 0, false, 1.5, 0});
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

// Counts from edges and from vertices, with tables that hold every vertex and with some that must grow first. The sums of the
// patterns have trees, bound vertices, sets of twins, and leaves that hang on the root.
TEST(GpuStatic, CountsEqualTheCpu) {
  DELTAMATCH_NEEDS_GPU();
  constexpr Shape shapes[] = {
      {2000, 12000, 0, 0, false, 1.5, 0}, {2000, 16000, 2, 0, false, 2, 500}, {1500, 9000, 0, 0, true, 1.5, 0}};
  std::vector<const char*> patterns{"(a)--(b)--(c)--(d)--(a)",
                                    "(a)--(b)--(c)--(d)--(a), (a)--(c)",
                                    "(a)--(b)--(c)--(d)--(e)--(a)",
                                    "(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)",
                                    "(a)--(b)--(c)--(d)--(e)--(f)--(a)",
                                    "(a)--(b)--(c)--(d)--(e)--(f)--(a), (b)--(e)",
                                    "(a)--(b)--(c)--(a), (c)--(d)--(e)",
                                    "(a)--(b), (a)--(c), (a)--(d), (d)--(e)",
                                    "(a)--(b)--(c)--(d)--(a), (c)--(e)--(f)"};
  if (test::brief()) patterns.resize(3);
  std::uint64_t seed = 21;
  constexpr Shape brief_shapes[] = {{100, 400, 2, 0, false, 1.2, 20}};
  for (const Shape& shape : test::times<std::span<const Shape>>(shapes, brief_shapes)) {
    Stream stream(shape, seed++);
    const UpdateBatch start = stream.start();
    Engine cpu({.directed = shape.directed});
    cpu.load(start, OnReject::skip);
    for (const auto& [tables, bytes] : {std::pair{GpuTables::automatic, std::size_t{0}}, {GpuTables::always, std::size_t{1}}}) {
      Engine gpu({.directed = shape.directed,
                  .backend = make_gpu_backend({.memory = std::size_t{1} << 28}, {.tables = tables, .table_memory = bytes})});
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

// Shapes on which whole engines are compared: with and without labels, with parallel edges and edges in both directions.
const Shape whole_shapes[] = {{800, 6000, 0, 0, false, 1.5, 300},
                              {800, 8000, 3, 0, false, 1.5, 0},
                              {300, 4000, 2, 3, false, 1.5, 0},
                              {600, 6000, 0, 0, true, 1.5, 100},
                              {300, 4000, 3, 2, true, 1.5, 0}};

constexpr Shape brief_shapes[] = {{120, 700, 2, 0, false, 1.5, 40}};

std::span<const Shape> shapes_to_match() { return test::times<std::span<const Shape>>(whole_shapes, brief_shapes); }

std::vector<std::string> whole_patterns(const Shape& shape) {
  std::vector<std::string> patterns{"(a)--(b)--(c)--(a)",           "(a)--(b)--(c)--(d)",
                                    "(a)--(b)--(c)--(d)--(a)",      "(a)--(b)--(c)--(d)--(a), (a)--(c)",
                                    "(a)--(b), (a)--(c), (a)--(d)", "(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)"};
  if (shape.directed) patterns.insert(patterns.end(), {"(a)-->(b)-->(c)-->(a)", "(a)-->(b)-->(a), (b)-->(c)"});
  if (shape.vertex_labels > 0) {
    patterns.insert(patterns.end(),
                    {"(a:V0)--(b:V1)--(c:V0)--(d:V1)--(a)", "(a:V0|V1)--(b:V1)--(c)--(a), (c)--(d:V0)",
                     // Anchors that fit in one orientation only. At the ends that do not fit, nothing else is read.
                     "(a:V0)--(b:V1)", "(c)--(d:V0), (c)--(e)", "(c)--(d:V0|V1), (c)--(e:V1)"});
  }
  if (shape.edge_labels > 0) {
    patterns.insert(patterns.end(), {"(a)-[:E0]-(b), (a)-[:E1]-(b), (b)--(c)", "(a)-[:E0]-(b)-[:E1]-(c)-[:E0|E1]-(a)"});
  }
  if (test::brief()) patterns = {patterns.at(3), patterns.back()};
  return patterns;
}

// Counts the matches of every pattern under `options` on both engines. If there are not too many, it also lists them and
// compares digests. Returns the number of matches.
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

// Checks graphs of all shapes, until something differs.
template <class Check>
void GpuWhole::on_all_shapes(std::uint64_t seed, const Check& check) {
  int number = 0;
  for (const Shape& shape : shapes_to_match()) {
    Engine cpu({.directed = shape.directed});
    Engine gpu({.directed = shape.directed, .backend = test::backend_of(GetParam())});
    load_both(gpu, cpu, shape, ++seed);
    check(gpu, cpu, shape, "shape " + std::to_string(++number));
    if (HasFailure()) return;
  }
}

// In all modes, though only isomorphism runs on the GPU.
TEST_P(GpuWhole, InducedMatches) {
  on_all_shapes(40, [](Engine& gpu, Engine& cpu, const Shape& shape, const std::string& where) {
    StaticOptions options;
    options.induced = true;
    Count all = expect_same_answers(gpu, cpu, shape, options, where);
    options.query.count = CountMode::embeddings;
    all += expect_same_answers(gpu, cpu, shape, options, where + ", embeddings");
    EXPECT_GT(all, Count{100}) << where;
    EXPECT_GT(test::cache_of(gpu).kernel_seconds, 0) << where;
    options.query.mode = MatchMode::edge_distinct;
    const Query triangle = parse_pattern("(a)--(b)--(c)--(a)", "q");
    EXPECT_TRUE(gpu.match(triangle, options).matches == cpu.match(triangle, options).matches) << where;
  });
}

// Every filter except late ones. Those need more work than a test of every policy can take.
TEST_P(GpuWhole, FilteredMatches) {
  on_all_shapes(60, [](Engine& gpu, Engine& cpu, const Shape& shape, const std::string& where) {
    for (const auto& [filter, name] : {std::pair{Filter::automatic, "auto"},
                                       {Filter::label, "label"},
                                       {Filter::degree, "degree"},
                                       {Filter::refine, "refine"}}) {
      StaticOptions options;
      options.filter = filter;
      EXPECT_GT(expect_same_answers(gpu, cpu, shape, options, where + ", " + name), Count{100});
      if (HasFailure()) return;
    }
  });
}

// Filters leave the same candidates as on the CPU.
TEST_P(GpuWhole, FiltersLeaveTheSame) {
  on_all_shapes(60, [](Engine& gpu, Engine& cpu, const Shape& shape, const std::string& where) {
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
  });
}

// Filters without one of the steps, with induced matches, in other modes, and counted from edges or vertices.
TEST_P(GpuWhole, FilteredMatchesOfAllKinds) {
  on_all_shapes(60, [](Engine& gpu, Engine& cpu, const Shape& shape, const std::string& where) {
    StaticOptions undegreed;
    undegreed.filter = Filter::refine;
    undegreed.filter_without.degree = true;
    expect_same_answers(gpu, cpu, shape, undegreed, where + ", refined without degrees");
    StaticOptions options;
    options.filter = Filter::refine;
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
  });
}

INSTANTIATE_TEST_SUITE_P(Policies, GpuWhole, testing::ValuesIn(test::settings()),
                         [](const auto& setting) { return std::string(setting.param.name); });

// These queries need no matching, so kernels only ran for the filter.
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
    const double before = test::cache_of(gpu).kernel_seconds;
    const StaticResult got = gpu.match(parse_pattern(pattern, "q"), options);
    const StaticResult expected = cpu.match(parse_pattern(pattern, "q"), options);
    EXPECT_TRUE(got.matches == 0 && expected.matches == 0) << pattern;
    EXPECT_GT(test::cache_of(gpu).kernel_seconds, before) << pattern;
    ASSERT_EQ(got.filter.steps.size(), expected.filter.steps.size()) << pattern;
    EXPECT_EQ(got.filter.steps.back().candidates, expected.filter.steps.back().candidates) << pattern;
  }
}

// Without labels, a filter waits to see whether matching ends soon. The second launch lasts until the filter begins. What the
// first launch found is kept, and the others read lists of candidates.
TEST(GpuStatic, FiltersBeginLate) {
  DELTAMATCH_NEEDS_GPU();
  DELTAMATCH_NOT_WHERE_BRIEF();
  constexpr std::int64_t vertices = 20000;
  UpdateBatch start = Stream({vertices, 80000, 0, 0, false, 1.5, 3000}, 81).start();
  for (std::int64_t leaf = 0; leaf < 2 * vertices; ++leaf) {  // in no match
    Update update;
    update.source = leaf % vertices;
    update.target = vertices + leaf;
    start.add(update);
  }
  const auto backend = std::make_shared<test::PatientBackend>(make_gpu_backend({.memory = std::size_t{1} << 28}));
  Engine cpu({.directed = false});
  Engine gpu({.directed = false, .backend = backend});
  for (Engine* engine : {&cpu, &gpu}) (void)engine->load(start, OnReject::skip);
  const Query diamond = parse_pattern("(a)--(b)--(c)--(d)--(a), (a)--(c)", "diamond");
  for (const bool induced : {false, true}) {
    SCOPED_TRACE(induced ? "induced" : "not induced");
    StaticOptions options;
    options.query.list = true;
    options.induced = induced;
    options.filter = Filter::none;
    const StaticResult expected = cpu.match(diamond, options);
    EXPECT_GT(expected.matches, Count{10'000});
    options.filter = Filter::automatic;
    std::uint64_t kept = 0;
    // The first launch may be delayed for as long as the filter waits. Then it is lost.
    for (int tries = 0; tries < 5 && kept == 0; ++tries) {
      backend->patience = {.waits = true};
      const StaticResult got = gpu.match(diamond, options);
      EXPECT_FALSE(got.filter.steps.empty()) << "matching was over before";
      EXPECT_GE(backend->patience.on_graph, 1U) << "nothing was matched before";
      EXPECT_GE(backend->patience.among_candidates, 1U) << "nothing was matched afterwards";
      EXPECT_TRUE(got.matches == expected.matches) << to_string(got.matches) << ", not " << to_string(expected.matches);
      EXPECT_EQ(got.digest, expected.digest);
      kept = backend->patience.kept;
    }
    EXPECT_GT(kept, 0U) << "the first launch was lost in every try";
  }
}

// A whole graph is matched in portions. If the sums of one exceed 64 bits, it is counted again, and the others are kept.
TEST(GpuStatic, AnOverflowLosesNoOtherPortion) {
  DELTAMATCH_NEEDS_GPU();
  UpdateBatch start;
  const auto join = [&](std::int64_t a, std::int64_t b) {
    Update update;
    update.source = a;
    update.target = b;
    start.add(update);
  };
  const std::int64_t small_stars = test::times(40000, 4000);
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
    EXPECT_GT(expected, static_cast<Count>(small_stars) * 7);
    EXPECT_TRUE(gpu.match(star, options).matches == expected) << static_cast<int>(from);
  }
}

}  // namespace
}  // namespace deltamatch
