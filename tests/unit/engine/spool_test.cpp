// Spooled matches of a batch. Whatever part is in memory and whatever part is in the file, the same matches are read back by
// id. If the file cannot be written, the batch fails before anything is reported.
#include "engine/listing/spool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::engine {
namespace {

using testing::HasSubstr;

constexpr Spool::Shape shape{3, 2};

/// Stands for a match whose id is `number`.
struct Fake {
  MatchId id;
  std::vector<VertexId> vertices;
  std::vector<graph::Edge> edges;
  explicit Fake(std::uint32_t number)
      : id{number % 7, number}, vertices{number, number + 1, number + 2}, edges{{number, 1, 2}, {3, number, 4}} {}
};

Delivery::Batch run_of(std::vector<std::uint32_t> numbers, std::mt19937& random) {
  Delivery::Batch run;
  std::shuffle(numbers.begin(), numbers.end(), random);
  std::vector<std::pair<MatchId, std::uint32_t>> by_id;
  for (const std::uint32_t number : numbers) {
    const Fake match(number);
    by_id.emplace_back(match.id, static_cast<std::uint32_t>(by_id.size()));
    run.vertices.insert(run.vertices.end(), match.vertices.begin(), match.vertices.end());
    run.edges.insert(run.edges.end(), match.edges.begin(), match.edges.end());
    run.digest.add(match.id);
  }
  std::sort(by_id.begin(), by_id.end());
  for (const auto& [id, at] : by_id) {
    run.ids.push_back(id);
    run.order.push_back(at);
  }
  return run;
}

std::vector<std::uint32_t> in_order(std::vector<std::uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end(), [](std::uint32_t a, std::uint32_t b) { return Fake(a).id < Fake(b).id; });
  return numbers;
}

std::uint32_t number_of(const ListedMatch& match) {
  const auto number = static_cast<std::uint32_t>(match.id.low);
  const Fake expected(number);
  EXPECT_EQ(match.id, expected.id);
  EXPECT_TRUE(std::equal(match.vertices.begin(), match.vertices.end(), expected.vertices.begin(), expected.vertices.end()));
  EXPECT_TRUE(std::equal(match.edges.begin(), match.edges.end(), expected.edges.begin(), expected.edges.end()));
  return number;
}

TEST(Spool, GivesBackByIdWhatItWasGivenWhateverFitsIntoMemory) {
  std::mt19937 random(7);
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{100}, std::uint64_t{5'000}, std::uint64_t{1} << 30}) {
    Spool spool;
    spool.configure({.memory = memory, .folder = {}});
    for (const std::uint32_t all : {0U, 1U, 33U, 3'000U}) {
      SCOPED_TRACE(std::to_string(memory) + " bytes, " + std::to_string(all) + " matches");
      spool.open(std::vector<Spool::Shape>(2, shape));
      std::vector<std::uint32_t> given[2];
      for (std::uint32_t next = 0; next < all;) {
        const std::size_t list = random() % 2;
        std::vector<std::uint32_t> run;
        for (std::uint32_t left = random() % 40; left-- > 0 && next < all;) run.push_back(next++);
        given[list].insert(given[list].end(), run.begin(), run.end());
        spool.add(list, run_of(run, random));
      }
      for (const std::size_t list : {0U, 1U}) {
        EXPECT_EQ(spool.matches(list), given[list].size());
        MatchDigest digest;
        for (const std::uint32_t number : given[list]) digest.add(Fake(number).id);
        EXPECT_EQ(spool.digest(list), digest);
        std::vector<std::uint32_t> got;
        for (Spool::Reader reader = spool.read(list); reader.next();) got.push_back(number_of(reader.match()));
        EXPECT_EQ(got, in_order(given[list]));
      }
    }
  }
}

TEST(Spool, ComparesTwoListsById) {
  std::mt19937 random(11);
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{700}, std::uint64_t{1} << 30}) {
    Spool spool;
    spool.configure({.memory = memory, .folder = {}});
    spool.open(std::vector<Spool::Shape>(2, shape));
    std::vector<std::uint32_t> lacking;
    for (std::uint32_t number = 0; number < 500; ++number) {
      const unsigned where = random() % 3;  // in the first, in the second, or in both
      if (where != 1) spool.add(0, run_of({number}, random));
      if (where != 0) spool.add(1, run_of({number}, random));
      if (where == 0) lacking.push_back(number);
    }
    std::vector<std::uint32_t> got;
    for_each_beyond(spool, 0, 1, [&](const ListedMatch& match) { got.push_back(number_of(match)); });
    EXPECT_EQ(got, in_order(lacking));
  }
}

// Runs must take no more memory than they fill, so that the limit holds for the memory taken.
TEST(Spool, TranslatedRunsTakeNoMoreThanTheyFill) {
  for (const auto& [mode, count] :
       {std::pair(MatchMode::isomorphism, CountMode::subgraphs), std::pair(MatchMode::isomorphism, CountMode::embeddings),
        std::pair(MatchMode::edge_distinct, CountMode::embeddings),
        std::pair(MatchMode::homomorphism, CountMode::embeddings)}) {
    estimate::World world({.directed = false, .vertices = 24, .edges = 80}, 3);
    world.add(parse_pattern("(a)--(b)--(c)--(a)", "triangle"), mode, count, true);
    world.add(parse_pattern("(a)--(b)--(c)", "path"), mode, count, true);
    world.stage();
    Workers workers(1);
    std::vector<match::QueryResult> results(world.passes.size() * world.tasks.size());
    for (std::size_t r = 0; r < results.size(); ++r) {
      results[r].plans.resize(world.tasks[r % world.tasks.size()].plans->plans.size());
    }
    match::MatchSteps steps;
    match::make_cpu_matcher(workers)->match(world.graph, world.passes, world.tasks, results, nullptr, steps);
    for (std::size_t r = 0; r < results.size(); ++r) {
      const match::QueryTask& task = world.tasks[r % world.tasks.size()];
      const Delivery::Batch run = Delivery(*task.query).translate(world.graph, task, results[r].records);
      EXPECT_GT(run.ids.size(), 2);
      EXPECT_EQ(run.ids.capacity(), run.ids.size());
      EXPECT_EQ(run.order.capacity(), run.ids.size());
      EXPECT_EQ(run.vertices.capacity(), run.ids.size() * task.query->vertices());
      EXPECT_EQ(run.edges.capacity(), run.ids.size() * task.query->edges.size());
    }
  }
}

// A run that takes more memory than it fills counts with the memory taken.
TEST(Spool, HoldsTheBoundForWhatRunsTake) {
  std::mt19937 random(13);
  const auto spills = [&](std::uint64_t memory, std::size_t room) {
    Spool spool;
    spool.configure({.memory = memory, .folder = "/nowhere/at/all"});
    spool.open(std::vector<Spool::Shape>(1, shape));
    Delivery::Batch run = run_of({1, 2, 3}, random);
    run.edges.reserve(room);
    try {
      spool.add(0, std::move(run));
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(spills(1'000, 6));
  EXPECT_TRUE(spills(1'000, 100)) << "1,200 bytes";
  EXPECT_TRUE(spills(100, 6));
}

/// Records lines of matches, and how often a batch was begun, committed and aborted.
class Lines final : public MatchSink {
 public:
  void begin(std::uint64_t) override { ++begun; }
  void write(const Match& match) override {
    std::string line = (match.added ? "+" : "-") + to_string(match.id);
    for (const Id& id : match.vertices) line += " " + std::to_string(id.number());
    for (const std::uint32_t cause : match.cause) line += " /" + std::to_string(cause);
    lines.push_back(line);
  }
  void commit() override {}
  void abort() noexcept override {}
  std::vector<std::string> lines;
  int begun = 0;
};

/// A hub with `leaves` neighbours. Each pair of them is a match of a path of two edges.
UpdateBatch star(std::int64_t leaves, UpdateKind kind = UpdateKind::insert_edge) {
  UpdateBatch batch;
  for (std::int64_t leaf = 1; leaf <= leaves; ++leaf) {
    Update update;
    update.kind = kind;
    update.source = 0;
    update.target = leaf;
    batch.add(update);
  }
  return batch;
}

Engine path_engine(unsigned threads) {
  Engine engine({.directed = false, .threads = threads});
  QueryOptions list;
  list.list = true;
  engine.add_query(parse_pattern("(a)--(b)--(c)", "path"), list);
  engine.add_query(parse_pattern("(a)--(b)", "edge"), list);
  return engine;
}

TEST(Spool, ABatchTellsTheSameWhateverFitsIntoMemory) {
  const UpdateBatch batches[] = {star(300), star(100, UpdateKind::delete_edge), star(250)};
  std::vector<std::string> told;
  for (const std::uint64_t memory : {std::uint64_t{1} << 30, std::uint64_t{0}, std::uint64_t{300'000}}) {
    for (const unsigned threads : {1U, 3U}) {
      Engine engine = path_engine(threads);
      engine.spool({.memory = memory, .folder = {}});
      Lines lines;
      for (const UpdateBatch& batch : batches) engine.process(batch, OnReject::stop, &lines);
      EXPECT_EQ(lines.begun, 3);
      if (told.empty()) told = lines.lines;
      EXPECT_EQ(told.size(), 44'850U + 300U + 24'950U + 100U + 24'950U + 100U);
      EXPECT_TRUE(lines.lines == told);
    }
  }
}

TEST(Spool, AListingInOrderIsTheSameForEqualGraphs) {
  for (const char* pattern : {"(a)--(b)--(c)", "(a)-[*1..2]-(b)", "(a) WHERE COUNT { (a)--(b) } >= 1"}) {
    std::vector<std::string> told;
    for (const std::uint64_t memory : {std::uint64_t{1} << 30, std::uint64_t{0}, std::uint64_t{300'000}}) {
      for (const unsigned threads : {1U, 3U}) {
        Engine engine({.directed = false, .threads = threads});
        if (threads == 3) {  // the vertices get other numbers
          engine.load(star(200));
          engine.load(star(100, UpdateKind::delete_edge));
        }
        engine.load(star(250));
        engine.spool({.memory = memory, .folder = {}});
        Lines lines;
        StaticOptions options;
        options.query.list = true;
        options.in_order = true;
        const StaticResult result = engine.match(parse_pattern(pattern, "query"), options, &lines);
        EXPECT_TRUE(result.complete());
        EXPECT_EQ(result.matches, Count{lines.lines.size()});
        if (told.empty()) told = lines.lines;
        EXPECT_TRUE(lines.lines == told) << pattern;
      }
    }
    const bool has_paths = std::string_view(pattern).find('*') != std::string_view::npos;
    EXPECT_TRUE(has_paths || std::is_sorted(told.begin(), told.end())) << pattern;
    EXPECT_GE(told.size(), 250U) << pattern;
  }
}

TEST(Spool, AListingInOrderKeepsToItsLimit) {
  Engine engine({.directed = false, .threads = 3});
  engine.load(star(250));
  Lines lines;
  StaticOptions options;
  options.query.list = true;
  options.in_order = true;
  options.limit = 100;
  const StaticResult result = engine.match(parse_pattern("(a)--(b)--(c)", "query"), options, &lines);
  EXPECT_EQ(result.shortfall, Shortfall::limit);
  EXPECT_EQ(lines.lines.size(), 100U);
  EXPECT_TRUE(std::is_sorted(lines.lines.begin(), lines.lines.end()));
}

TEST(Spool, AListingInOrderThatIsStoppedWritesNoMore) {
  Engine engine({.directed = false, .threads = 3});
  engine.load(star(250));
  Lines lines;
  StaticOptions options;
  options.query.list = true;
  options.in_order = true;
  options.timeout = std::chrono::nanoseconds(0);
  const StaticResult result = engine.match(parse_pattern("(a)--(b)--(c)", "query"), options, &lines);
  EXPECT_EQ(result.shortfall, Shortfall::timeout);
  EXPECT_LT(lines.lines.size(), 31'125U);
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Spool, ADiskThatIsFullEndsTheBatchBeforeAnythingIsTold) {
  for (const unsigned threads : {1U, 3U}) {
    Engine engine = path_engine(threads);
    engine.process(star(10));
    engine.spool({.memory = 1'000, .folder = {}});
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit full{10'000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
    Lines lines;
    const std::string error = error_of([&] { engine.process(star(300), OnReject::stop, &lines); });
    setrlimit(RLIMIT_FSIZE, &before);
    static_cast<void>(std::signal(SIGXFSZ, handler));
    EXPECT_THAT(error, HasSubstr("a temporary file cannot be written: File too large; make room there"));
    EXPECT_EQ(lines.begun, 0);
    EXPECT_EQ(engine.graph().edges, 10U);
    EXPECT_EQ(engine.batch(), 1U);
    const BatchResult result = engine.process(star(300), OnReject::stop, &lines);
    EXPECT_EQ(result.queries[0].added, Count{44'850 - 45});
    EXPECT_EQ(lines.lines.size(), 44'850U - 45U + 290U);
  }
}

TEST(Spool, AFolderThatIsNotThereEndsTheBatchBeforeAnythingIsTold) {
  Engine engine = path_engine(1);
  engine.spool({.memory = 0, .folder = "/nowhere/at/all"});
  Lines lines;
  EXPECT_THAT(error_of([&] { engine.process(star(3), OnReject::stop, &lines); }),
              HasSubstr("/nowhere/at/all: no temporary file can be made: No such file or directory"));
  EXPECT_EQ(lines.begun, 0);
  EXPECT_EQ(engine.graph().edges, 0U);
}

}  // namespace
}  // namespace deltamatch::engine
