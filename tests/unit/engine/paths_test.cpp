// Standing queries with paths are reported as one query: order, budgets, spool, snapshots, and what explain tells.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch {
namespace {

using testing::HasSubstr;
using testing::Not;

UpdateBatch edges(const std::vector<std::pair<int, int>>& pairs, UpdateKind kind = UpdateKind::insert_edge) {
  UpdateBatch batch;
  for (const auto& [source, target] : pairs) {
    Update update;
    update.kind = kind;
    update.source = source;
    update.target = target;
    batch.add(update);
  }
  return batch;
}

std::vector<std::pair<int, int>> random_pairs(int vertices, int count) {
  std::mt19937 random(7);
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < count; ++i) {
    const int a = static_cast<int>(random() % static_cast<unsigned>(vertices));
    const int b = static_cast<int>(random() % static_cast<unsigned>(vertices));
    if (a != b) pairs.emplace_back(a, b);
  }
  return pairs;
}

/// The matches as lines, in order of arrival.
class Lines final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& match) override {
    ids.push_back(match.id);
    std::string line = match.added ? "+" : "-";
    for (std::size_t v = 0; v < match.names.size(); ++v)
      line += " " + match.names[v] + "=" + std::to_string(match.vertices[v].number());
    for (const MatchedPath& path : match.paths) {
      line += " " + std::string(path.name) + "=[";
      for (std::uint32_t step = 0; step < path.steps; ++step) {
        const MatchedEdge& edge = match.edges[path.first_edge + step];
        line += std::to_string(edge.source.number()) + ">" + std::to_string(edge.target.number()) + " ";
        if (step + 1 == path.steps) continue;
        EXPECT_EQ(match.vertices[path.first_vertex + step].number(), edge.target.number());
      }
      line.back() = ']';
    }
    lines.push_back(line);
  }
  void end(const ListingEnd& end) override { ends.push_back(end.shortfall); }
  void commit() override {}
  void abort() noexcept override {}

  std::vector<std::string> lines;
  std::vector<MatchId> ids;
  std::vector<Shortfall> ends;
};

const Query ring = parse_pattern("(a)-[t]->{2,4}(a) WHERE count(t) > 1", "ring");
const Query walk = parse_pattern("(a)-[t:``]->{1,3}(b)", "walk");

TEST(Paths, AMatchListsItsStepsInOrder) {
  Engine engine({.threads = 1});
  engine.add_query(walk, {.list = true});
  Lines sink;
  const BatchResult result = engine.process(edges({{1, 2}, {2, 3}, {3, 4}}), OnReject::stop, &sink);
  EXPECT_EQ(result.queries[0].added, Count{6});
  EXPECT_THAT(sink.lines,
              testing::UnorderedElementsAre("+ a=1 b=2 t=[1>2]", "+ a=2 b=3 t=[2>3]", "+ a=3 b=4 t=[3>4]",
                                            "+ a=1 b=3 t=[1>2 2>3]", "+ a=2 b=4 t=[2>3 3>4]", "+ a=1 b=4 t=[1>2 2>3 3>4]"));
}

TEST(Paths, AllLengthsComeInOneOrderOfIdsAndVanishUnderTheirIds) {
  Engine engine({.threads = 1});
  const QueryId id = engine.add_query(ring, {.list = true});
  Lines sink;
  const auto pairs = random_pairs(12, 60);
  const BatchResult appeared = engine.process(edges(pairs), OnReject::stop, &sink);
  ASSERT_EQ(appeared.queries.size(), 1U);
  EXPECT_EQ(appeared.queries[0].query, id);
  EXPECT_EQ(appeared.queries[0].added, Count{sink.ids.size()});
  EXPECT_TRUE(std::ranges::is_sorted(sink.ids));
  EXPECT_GT(sink.ids.size(), 50U);
  Lines gone;
  const BatchResult vanished = engine.process(edges(pairs, UpdateKind::delete_edge), OnReject::stop, &gone);
  EXPECT_EQ(gone.ids, sink.ids);
  EXPECT_EQ(vanished.queries[0].removed_digest, appeared.queries[0].added_digest);
}

TEST(Paths, TheSpoolsFileChangesNothing) {
  std::vector<std::string> expected;
  for (const std::uint64_t memory : {std::uint64_t{1} << 30, std::uint64_t{1}}) {
    Engine engine({.threads = 2});
    engine.spool({.memory = memory, .folder = std::filesystem::temp_directory_path()});
    engine.add_query(ring, {.list = true});
    Lines sink;
    engine.process(edges(random_pairs(14, 90)), OnReject::stop, &sink);
    if (expected.empty()) expected = sink.lines;
    EXPECT_EQ(sink.lines, expected);
  }
}

TEST(Paths, ABudgetCountsTheMatchesOfAllLengths) {
  Engine engine({.threads = 1});
  const QueryId id = engine.add_query(ring, {.list = true});
  engine.add_query(walk, {.list = true});
  engine.budget(id, {.time = {}, .matches = 10});
  Lines sink;
  const auto result = engine.process(edges(random_pairs(14, 90)), {.sink = &sink});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->queries[0].shortfall, Shortfall::limit);
  EXPECT_LE(result->queries[0].added, Count{10});
  EXPECT_TRUE(result->queries[1].complete());
  EXPECT_EQ(sink.ends, std::vector{Shortfall::limit});
  MatchDigest digest;
  for (std::size_t i = 0; i < static_cast<std::size_t>(result->queries[0].added); ++i) digest.add(sink.ids[i]);
  EXPECT_EQ(digest, result->queries[0].added_digest);
}

TEST(Paths, IdsStayAfterASnapshotIsRestored) {
  const auto path = std::filesystem::temp_directory_path() / "deltamatch-paths-test.snapshot";
  const auto pairs = random_pairs(10, 50);
  Lines before;
  {
    Engine engine({.threads = 1});
    engine.add_query(ring, {.list = true});
    engine.process(edges(pairs), OnReject::stop, &before);
    engine.save(path);
  }
  Engine engine = Engine::restore(path, 1);
  std::filesystem::remove(path);
  engine.add_query(ring, {.list = true});
  Lines after;
  engine.process(edges(pairs, UpdateKind::delete_edge), OnReject::stop, &after);
  EXPECT_EQ(after.ids, before.ids);
}

TEST(Paths, AQueryIsReplacedAndRemovedAsOne) {
  Engine engine({.threads = 1});
  const QueryId first = engine.add_query(ring);
  EXPECT_THROW(engine.add_query(ring), Error) << "its name is taken";
  const NewQuery added{walk, {}};
  const auto ids = engine.replace_queries({&first, 1}, {&added, 1});
  const BatchResult result = engine.process(edges({{1, 2}, {2, 1}}));
  ASSERT_EQ(result.queries.size(), 1U);
  EXPECT_EQ(result.queries[0].query, ids[0]);
  EXPECT_EQ(result.queries[0].added, Count{2}) << "all vertices of a path are distinct";
  engine.remove_query(ids[0]);
  EXPECT_TRUE(engine.process(edges({{2, 3}})).queries.empty());
}

TEST(Paths, ALabelThatComesLaterIsFound) {
  Engine engine({.threads = 1});
  const QueryId id = engine.add_query(parse_pattern("(a:A)-[t:T]->{1,2}(b)", "late"));
  engine.process(edges({{5, 6}}));
  UpdateBatch batch;
  Update update;
  update.source = 1;
  update.target = 2;
  update.label = "T";
  update.source_label = "A";
  batch.add(update);
  const BatchResult result = engine.process(batch);
  EXPECT_EQ(result.queries[0].query, id);
  EXPECT_EQ(result.queries[0].added, Count{1});
}

TEST(Paths, ExplainTellsTheVariantsAndThePlansOfTheLongest) {
  Engine engine({.threads = 1});
  const QueryId id = engine.add_query(ring);
  EXPECT_THAT(engine.explain(ring), HasSubstr("  t of 2: 2 vertices, 2 edges\n  t of 3: 3 vertices, 3 edges\n  t of 4: 4"));
  engine.process(edges({{1, 2}, {2, 1}}));
  EXPECT_THAT(engine.explain(id), HasSubstr("t of 2: 2 vertices, 2 edges, 1 match found so far\n"));
  EXPECT_THAT(engine.explain(parse_pattern("(a)-->(b)", "plain")), Not(HasSubstr("variants")));
}

TEST(Paths, AWholeMatchStopsAtItsLimitAndSumsItsVariants) {
  Engine engine({.threads = 1});
  engine.load(edges(random_pairs(20, 150)));
  Count sum = 0;
  for (const Query& variant : variants(ring)) sum += engine.match(variant).matches;
  const StaticResult all = engine.match(ring);
  EXPECT_EQ(all.matches, sum);
  EXPECT_TRUE(all.complete());
  StaticOptions some;
  some.query.list = true;
  some.limit = 7;
  Lines sink;
  const StaticResult limited = engine.match(ring, some, &sink);
  EXPECT_EQ(limited.matches, Count{7});
  EXPECT_EQ(limited.shortfall, Shortfall::limit);
  EXPECT_EQ(sink.lines.size(), 7U);
  EXPECT_EQ(sink.ends, std::vector{Shortfall::limit});
  std::vector<double> fractions;
  StaticOptions watched;
  watched.progress = [&](const StaticProgress& progress) { fractions.push_back(progress.fraction); };
  engine.match(ring, watched);
  EXPECT_TRUE(std::ranges::is_sorted(fractions));
}

TEST(Paths, ATimeOutEndsAllVariants) {
  Engine engine({.threads = 1});
  engine.load(edges(random_pairs(60, 20'000)));
  StaticOptions hurried;
  hurried.timeout = std::chrono::milliseconds(50);
  const Query endless = parse_pattern("(a)-[t]->{2,8}(b) WHERE count(t) > 1 AND id(a) <> id(b)", "endless");
  EXPECT_EQ(engine.match(endless, hurried).shortfall, Shortfall::timeout);
}

TEST(Paths, ASampleEstimatesTheSumOfTheVariants) {
  Engine engine({.threads = 1});
  engine.load(edges(random_pairs(20, 150)));
  const auto exact = static_cast<double>(engine.match(ring).matches);
  SampleOptions options;
  options.walks = 300'000;
  const SampleResult result = engine.sample(ring, options);
  EXPECT_GE(result.walks, 300'000U);
  EXPECT_NEAR(result.matches, exact, 0.1 * exact);
  EXPECT_LE(result.low, result.matches);
  EXPECT_GE(result.high, result.matches);
}

TEST(Paths, TwoStepsBackInAnyDirectionNeedParallelEdges) {
  Engine engine({.directed = false, .threads = 1});
  try {
    engine.add_query(parse_pattern("(a)-[t]-{2,3}(a)", "ring"));
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("begin the path 't' at 3 edges, as in {3,4}, or choose --edges keyed"));
  }
  engine.add_query(parse_pattern("(a)-[t]-{3,4}(a)", "ring"));
}

TEST(Paths, ASumThatCouldExceed128BitsIsRefused) {
  using Kind = AttributeType::Kind;
  Engine engine({.threads = 1, .schema = {EdgeModel::events, {{"n", {Kind::integer}}, {"f", {Kind::real}}}, {}}});
  const auto refusal = [&](const std::string& where) {
    try {
      engine.add_query(parse_pattern("(a)-[t]->{1,3}(b) WHERE " + where, ""));
      return std::string("none");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal("sum(t.n) > 5"), "none");
  EXPECT_EQ(refusal("sum(t.n) * 1000000000000000000 > 5"), "none");
  EXPECT_THAT(refusal("sum(t.n) * 1000000000000000000 * 10 > 5"), HasSubstr("could exceed 128 bits"));
  EXPECT_EQ(refusal("sum(t.f) * 1000000000000000000 * 1000000000000000000 > 5"), "none");
  EXPECT_THAT(refusal("count(t) > 1 AND sum(t.time) > datetime('2026-01-31')"), HasSubstr("calculates with a time and a time"));
  EXPECT_THAT(refusal("min(t.n) > first(t).time"), HasSubstr("compares"));
  EXPECT_THAT(refusal("least(first(t).n, first(t).time) > 5"), HasSubstr("only numbers, times and durations have a least"));
}

}  // namespace
}  // namespace deltamatch
