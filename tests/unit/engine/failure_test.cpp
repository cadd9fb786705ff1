// A call happens wholly or not at all, whichever allocation fails and wherever a sink throws.
//
// Each allocation of every case fails in turn, each time on a new engine. After the failure the engine must be in its earlier
// state. What is done next must give the results of an engine that never failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "deltamatch/engine.hpp"
#include "failing_allocations.hpp"
#include "failure_scenarios.hpp"
#include "idle_backend.hpp"

namespace deltamatch {
namespace {

using test::batch_of;
using test::counting;
using test::directed_scenario;
using test::FailAllocation;
using test::listing;
using test::Scenario;
using test::triangle;
using test::undirected_scenario;

constexpr std::int64_t many_allocations = 100'000;  // more than any case here makes

std::string text(const Id& id) { return id.is_text() ? "'" + std::string(id.text()) + "'" : std::to_string(id.number()); }

std::string text(const AttributeValue& value) {
  if (const auto* const number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  const auto* const symbol = std::get_if<std::string_view>(&value);
  return symbol == nullptr ? "NULL" : "'" + std::string(*symbol) + "'";
}

/// Records the matches of committed batches. Throws at a chosen call.
class RecordingSink : public MatchSink {
 public:
  struct Thrown : std::runtime_error {
    Thrown() : std::runtime_error("the sink throws") {}
  };
  static constexpr int never = -1;
  static constexpr int at_begin = 0;  // k > 0: at the k-th write
  static constexpr int at_commit = 1'000'000;

  explicit RecordingSink(int throw_at = never) : throw_at_(throw_at) {}
  void begin(std::uint64_t batch) override {
    if (throw_at_ == at_begin) throw Thrown();
    pending_.push_back("batch " + std::to_string(batch));
  }
  void write(const Match& match) override {
    if (++writes == throw_at_) throw Thrown();
    std::string line = (match.added ? "+" : "-") + to_string(match.id) + " " + std::string(match.query);
    for (const Id& id : match.vertices) line += " " + text(id);
    for (const MatchedEdge& e : match.edges) line += " " + text(e.source) + std::string(e.label) + text(e.target);
    for (const std::uint32_t cause : match.cause) line += " #" + std::to_string(cause);
    if (match.time) line += " at " + std::to_string(*match.time);
    pending_.push_back(line);
  }
  void commit() override {
    if (throw_at_ == at_commit) throw Thrown();
    committed.swap(pending_);
  }
  void abort() noexcept override {
    pending_.clear();
    ++aborts;
  }

  std::vector<std::string> committed;
  int writes = 0;
  int aborts = 0;

 private:
  int throw_at_;
  std::vector<std::string> pending_;
};

std::vector<std::string> state_of(const Engine& engine) {
  std::vector<std::string> state;
  engine.for_each([&](const Update& update) {
    std::string line = update.kind == UpdateKind::insert_vertex ? "v " : "e ";
    line += text(update.source) + " " + std::string(update.source_label.value_or("")) + " " + text(update.target) + " " +
            std::string(update.label);
    if (update.time) line += " " + std::to_string(*update.time);
    if (update.properties != nullptr) {
      if (update.key()) line += " key " + text(*update.key());
      for (const AttributeValue& value : update.properties->attributes) line += " " + text(value);
    }
    state.push_back(line);
  });
  const GraphStatistics statistics = engine.graph();
  state.push_back(std::to_string(statistics.vertices) + " vertices, " + std::to_string(statistics.edges) + " edges");
  return state;
}

std::vector<std::string> describe(const BatchResult& result) {
  std::vector<std::string> lines;
  const auto number = [&](const char* name, auto value) { lines.push_back(name + std::to_string(value)); };
  number("batch ", result.batch);
  number("consumed ", result.consumed);
  number("inserted ", result.inserted);
  number("deleted ", result.deleted);
  number("expired ", result.expired);
  number("duplicates ", result.ignored.duplicate_insert);
  number("absent ", result.ignored.absent_delete);
  number("superseded ", result.ignored.superseded);
  number("late ", result.ignored.late);
  for (const Reject& reject : result.rejects) number(std::string(reject_name(reject.reason)).c_str(), reject.index);
  for (const QueryDelta& query : result.queries) {
    number("query ", static_cast<std::uint32_t>(query.query));
    lines.push_back("+" + to_string(query.added) + " -" + to_string(query.removed));
    lines.push_back(to_string(MatchId{query.added_digest.high, query.added_digest.low}));
    lines.push_back(to_string(MatchId{query.removed_digest.high, query.removed_digest.low}));
  }
  if (result.watermark) number("watermark ", *result.watermark);
  return lines;
}

/// What the engine reports and contains after a batch. An engine without a query that lists takes no sink.
std::vector<std::string> process(Engine& engine, const UpdateBatch& batch, bool lists = true) {
  RecordingSink sink;
  std::vector<std::string> all = describe(engine.process(batch, OnReject::skip, lists ? &sink : nullptr));
  all.insert(all.end(), sink.committed.begin(), sink.committed.end());
  for (const std::string& line : state_of(engine)) all.push_back(line);
  return all;
}

class FailureTest : public testing::TestWithParam<Scenario> {};

/// Calls `attempt` with allocation 0, 1, 2, ... failing, until it succeeds without making that allocation. An attempt may also
/// succeed if its failed allocation was not essential. It must then have succeeded wholly, which `attempt` checks if it is told
/// so.
void fail_each(const std::function<bool(std::int64_t)>& attempt) {
  std::int64_t at = 0;
  while (attempt(at)) {
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "with allocation " << at << " failing";
      return;
    }
    ASSERT_LT(++at, many_allocations);
  }
  EXPECT_GT(at, 0) << "nothing was allocated";
}

/// Runs `call` with that allocation failing. Returns whether the allocation was requested. Sets `thrown`.
bool run_failing(std::int64_t at, bool& thrown, const std::function<void()>& call) {
  thrown = false;
  const FailAllocation failing(at);
  try {
    call();
  } catch (const std::bad_alloc&) {
    thrown = true;
  } catch (const Error&) {
    thrown = true;
  }
  return failing.failed();
}

TEST_P(FailureTest, ProcessLeavesTheEngineAsItWas) {
  const Scenario& scenario = GetParam();
  const UpdateBatch batch = batch_of(scenario.batch);
  const UpdateBatch next = batch_of(scenario.after);
  Engine never_failed = scenario.engine();
  const auto before = state_of(never_failed);
  const auto expected = process(never_failed, batch);
  const auto expected_next = process(never_failed, next);
  ASSERT_NE(before, state_of(never_failed));
  fail_each([&](std::int64_t at) {
    Engine engine = scenario.engine();
    RecordingSink sink;
    bool thrown = false;
    const bool failed = run_failing(at, thrown, [&] { engine.process(batch, OnReject::skip, &sink); });
    if (thrown) {
      EXPECT_TRUE(sink.committed.empty());
      EXPECT_EQ(state_of(engine), before);
      EXPECT_EQ(process(engine, batch), expected);
    }
    EXPECT_EQ(process(engine, next), expected_next);
    return failed;
  });
}

// One engine fails over and over. Nothing accumulates, and memory that was reserved meanwhile is used correctly.
TEST_P(FailureTest, ProcessMayFailAnyNumberOfTimes) {
  const Scenario& scenario = GetParam();
  const UpdateBatch batch = batch_of(scenario.batch);
  const UpdateBatch next = batch_of(scenario.after);
  Engine never_failed = scenario.engine();
  const auto before = state_of(never_failed);
  process(never_failed, batch);
  const auto expected_after = state_of(never_failed);
  const auto expected_next = process(never_failed, next);
  Engine engine = scenario.engine();
  bool thrown = true;
  for (std::int64_t at = 0; thrown; ++at) {
    ASSERT_LT(at, many_allocations);
    run_failing(at, thrown, [&] { engine.process(batch, OnReject::skip); });
    ASSERT_EQ(state_of(engine), thrown ? before : expected_after) << "at allocation " << at;
  }
  EXPECT_EQ(process(engine, next), expected_next);
}

/// Processes a batch that lasts until the next one has been looked up.
void process_looking_ahead(Engine& engine, const UpdateBatch& batch, const UpdateBatch& next) {
  class WaitingSink final : public MatchSink {
   public:
    void begin(std::uint64_t) override {
      const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (!asked && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(500));  // it takes microseconds
    }
    void write(const Match&) override {}
    void commit() override {}
    void abort() noexcept override {}
    std::atomic<bool> asked{false};
  } sink;
  engine.process(batch, OnReject::skip, &sink, [&](const std::stop_token&) {
    sink.asked = true;
    return &next;
  });
}

// Look-ups of the next batch are outdated if the present batch has released vertices. A failure must not hide that.
TEST_P(FailureTest, ABatchThatWasLookedUpAheadMayFail) {
  const Scenario& scenario = GetParam();
  const UpdateBatch ahead = batch_of(scenario.batch);
  const UpdateBatch batch = batch_of(scenario.after);
  Engine never_failed = scenario.engine();
  process(never_failed, ahead);
  const auto before = state_of(never_failed);
  const auto expected = process(never_failed, batch);
  const auto expected_next = process(never_failed, ahead);
  EngineOptions options = scenario.options;
  options.backend = std::make_shared<test::IdleBackend>();
  fail_each([&](std::int64_t at) {
    Engine engine = scenario.engine(options);
    process_looking_ahead(engine, ahead, batch);
    bool thrown = false;
    const bool failed = run_failing(at, thrown, [&] { engine.process(batch, OnReject::skip); });
    if (thrown) {
      EXPECT_EQ(state_of(engine), before);
      EXPECT_EQ(process(engine, batch), expected);
    }
    EXPECT_EQ(process(engine, ahead), expected_next);
    return failed;
  });
}

TEST_P(FailureTest, LoadLeavesTheEngineAsItWas) {
  const Scenario& scenario = GetParam();
  const UpdateBatch batch = batch_of(scenario.batch);
  const UpdateBatch next = batch_of(scenario.after);
  Engine never_failed = scenario.engine();
  const auto before = state_of(never_failed);
  const auto expected = describe(never_failed.load(batch, OnReject::skip));
  const auto expected_next = process(never_failed, next);
  fail_each([&](std::int64_t at) {
    Engine engine = scenario.engine();
    bool thrown = false;
    const bool failed = run_failing(at, thrown, [&] { engine.load(batch, OnReject::skip); });
    if (thrown) {
      EXPECT_EQ(state_of(engine), before);
      EXPECT_EQ(describe(engine.load(batch, OnReject::skip)), expected);
    }
    EXPECT_EQ(process(engine, next), expected_next);
    return failed;
  });
}

TEST_P(FailureTest, ASinkThatThrowsUndoesTheBatch) {
  const Scenario& scenario = GetParam();
  const UpdateBatch batch = batch_of(scenario.batch);
  const UpdateBatch next = batch_of(scenario.after);
  Engine never_failed = scenario.engine();
  const auto before = state_of(never_failed);
  RecordingSink counter;
  never_failed.process(batch, OnReject::skip, &counter);
  const auto expected_next = process(never_failed, next);
  ASSERT_GT(counter.writes, 0);
  EXPECT_EQ(counter.aborts, 0);
  std::vector<int> points = {RecordingSink::at_begin, RecordingSink::at_commit};
  for (int k = 1; k <= counter.writes; ++k) points.push_back(k);
  for (const int point : points) {
    SCOPED_TRACE(point);
    Engine engine = scenario.engine();
    RecordingSink sink(point);
    EXPECT_THROW(engine.process(batch, OnReject::skip, &sink), RecordingSink::Thrown);
    EXPECT_EQ(sink.aborts, 1);
    EXPECT_TRUE(sink.committed.empty());
    EXPECT_EQ(state_of(engine), before);
    RecordingSink again;
    engine.process(batch, OnReject::skip, &again);
    EXPECT_EQ(again.committed, counter.committed);
    EXPECT_EQ(process(engine, next), expected_next);
  }
}

TEST_P(FailureTest, AQueryThatCannotBeAddedLeavesNothing) {
  const Scenario& scenario = GetParam();
  const Query query = parse_pattern("(a)-[]-(b:L|M)-[:A|B]-(c), (c)-[:Z]-(d)", "added");
  const UpdateBatch batch = batch_of(scenario.batch);
  Engine without = scenario.engine();
  const auto expected_without = process(without, batch);
  const std::size_t bytes_without = without.graph().adjacency_bytes;
  Engine with = scenario.engine();
  const QueryId expected_id = with.add_query(query, listing);
  const auto expected_with = process(with, batch);
  fail_each([&](std::int64_t at) {
    Engine engine = scenario.engine();
    QueryId id{};
    bool thrown = false;
    const bool failed = run_failing(at, thrown, [&] { id = engine.add_query(query, listing); });
    if (!thrown) {
      EXPECT_EQ(process(engine, batch), expected_with);
      return failed;
    }
    EXPECT_EQ(process(engine, batch), expected_without);
    // No query relation of the query is left to be maintained.
    EXPECT_EQ(engine.graph().adjacency_bytes, bytes_without);
    EXPECT_EQ(engine.add_query(query, listing), expected_id);
    return failed;
  });
}

TEST_P(FailureTest, RemovingAQuerySucceedsOrLeavesIt) {
  const Scenario& scenario = GetParam();
  const UpdateBatch batch = batch_of(scenario.batch);
  const UpdateBatch next = batch_of(scenario.after);
  // The first query lists, so the others may have no sink. Digests show what it lists.
  Engine never_failed = scenario.engine();
  never_failed.process(batch, OnReject::skip);
  Engine without = scenario.engine();
  without.process(batch, OnReject::skip);
  without.remove_query(QueryId{0});
  const auto expected_with = process(never_failed, next, false);
  const auto expected_without = process(without, next, false);
  std::int64_t at = 0;  // removing may need no memory at all
  for (bool failed = true; failed; ++at) {
    ASSERT_LT(at, many_allocations);
    Engine engine = scenario.engine();
    engine.process(batch, OnReject::skip);
    bool thrown = false;
    failed = run_failing(at, thrown, [&] { engine.remove_query(QueryId{0}); });
    ASSERT_EQ(process(engine, next, false), thrown ? expected_with : expected_without) << "at allocation " << at;
  }
}

TEST_P(FailureTest, QueriesAreReplacedAtOnceOrNotAtAll) {
  const Scenario& scenario = GetParam();
  const UpdateBatch batch = batch_of(scenario.batch);
  const std::vector<NewQuery> added = {{parse_pattern("(a)-[]-(b:L|M)-[:A|B]-(c), (c)-[:Z]-(d)", "q0"), listing},
                                       {parse_pattern("(a)-[]-(b)", "edge"), counting}};
  const std::vector<QueryId> removed = {QueryId{0}};
  Engine without = scenario.engine();
  const auto expected_without = process(without, batch);
  Engine with = scenario.engine();
  const auto ids = with.replace_queries(removed, added);
  const auto expected_with = process(with, batch);
  ASSERT_NE(expected_with, expected_without);
  fail_each([&](std::int64_t at) {
    Engine engine = scenario.engine();
    bool thrown = false;
    const bool failed = run_failing(at, thrown, [&] { engine.replace_queries(removed, added); });
    if (!thrown) {
      EXPECT_EQ(process(engine, batch), expected_with);
      return failed;
    }
    if (at % 2 == 0) {
      EXPECT_EQ(process(engine, batch), expected_without);
    } else {
      EXPECT_EQ(engine.replace_queries(removed, added), ids);
      EXPECT_EQ(process(engine, batch), expected_with);
    }
    return failed;
  });
}

TEST(Failure, AnUnknownQueryIsAnErrorThatChangesNothing) {
  const Scenario scenario = directed_scenario();
  Engine engine = scenario.engine();
  const auto before = state_of(engine);
  EXPECT_THROW(engine.remove_query(QueryId{99}), Error);
  engine.remove_query(QueryId{1});
  EXPECT_THROW(engine.remove_query(QueryId{1}), Error);
  EXPECT_EQ(state_of(engine), before);
}

TEST(Failure, ADirectedQueryOverUndirectedDataIsRefusedAndLeavesTheOthers) {
  const Scenario scenario = undirected_scenario();
  Engine never_failed = scenario.engine();
  Engine engine = scenario.engine();
  EXPECT_THROW(engine.add_query(parse_pattern(triangle, "bad")), Error);
  EXPECT_EQ(process(engine, batch_of(scenario.batch)), process(never_failed, batch_of(scenario.batch)));
}

INSTANTIATE_TEST_SUITE_P(Scenarios, FailureTest, testing::ValuesIn(test::failure_scenarios()), [](const auto& tested) {
  std::string name = tested.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace deltamatch
