// A batch that explodes. Either it is abandoned as if it had never been given. Or the queries that exceed their budgets are
// given up, and the others go on.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "deltamatch/engine.hpp"
#include "match/backend.hpp"
#include "unit/engine/idle_backend.hpp"

namespace deltamatch {
namespace {

using namespace std::chrono_literals;

// Far longer than anything here takes. A fault should make a test fail, not hang.
constexpr auto patience = 60s;

Update edge(UpdateKind kind, std::int64_t source, std::int64_t target, std::optional<std::string_view> source_label = {},
            std::optional<std::string_view> target_label = {}) {
  Update update;
  update.kind = kind;
  update.source = Id(source);
  update.target = Id(target);
  update.source_label = source_label;
  update.target_label = target_label;
  return update;
}
Update insert(std::int64_t source, std::int64_t target) { return edge(UpdateKind::insert_edge, source, target); }

UpdateBatch star(std::int64_t hub, std::int64_t leaves) {
  UpdateBatch batch;
  for (std::int64_t leaf = 0; leaf < leaves; ++leaf) batch.add(insert(hub, hub + 1 + leaf));
  return batch;
}

UpdateBatch clique(std::int64_t first, std::int64_t vertices) {
  UpdateBatch batch;
  for (std::int64_t a = 0; a < vertices; ++a) {
    for (std::int64_t b = a + 1; b < vertices; ++b) batch.add(insert(first + a, first + b));
  }
  return batch;
}

std::string clique_pattern(int vertices) {
  std::string text;
  for (int v = 1; v < vertices; ++v) {
    for (int u = 0; u < v; ++u) text += (text.empty() ? "(v" : ", (v") + std::to_string(u) + ")-->(v" + std::to_string(v) + ")";
  }
  return text;
}

std::vector<std::string> state_of(const Engine& engine) {
  std::vector<std::string> state{std::to_string(engine.batch())};
  engine.for_each([&](const Update& update) {
    state.push_back(std::to_string(update.source.number()) + " " + std::to_string(update.target.number()) + " " +
                    std::string(update.label) + std::string(update.source_label.value_or("-")));
  });
  return state;
}

/// Records the matches of committed batches.
class Recorder final : public MatchSink {
 public:
  void begin(std::uint64_t batch) override { batch_ = batch; }
  void write(const Match& match) override {
    if (on_write) on_write();
    pending_.push_back(std::string(match.query) + (match.added ? " + " : " - ") + to_string(match.id));
  }
  void end(const ListingEnd& end) override {
    pending_.push_back(std::string(end.query) + " ends " + std::string(shortfall_name(end.shortfall)) + " " +
                       std::to_string(end.matches) + " batch " + std::to_string(end.batch));
    EXPECT_EQ(end.batch, batch_);
  }
  void commit() override { told = std::move(pending_); }
  void abort() noexcept override {
    pending_.clear();
    ++aborts;
  }
  [[nodiscard]] std::vector<std::string> of(const std::string& query) const {
    std::vector<std::string> lines;
    for (const std::string& line : told) {
      if (line.starts_with(query + " ")) lines.push_back(line);
    }
    return lines;
  }

  std::function<void()> on_write;
  std::vector<std::string> told;
  int aborts = 0;

 private:
  std::uint64_t batch_ = 0;
  std::vector<std::string> pending_;
};

/// A matcher that does not distinguish tasks, like that of a device.
class OpaqueMatcher final : public match::Matcher {
 public:
  explicit OpaqueMatcher(Workers& workers) : cpu_(match::make_cpu_matcher(workers)) {}
  void match(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
             std::span<match::QueryResult> results, const match::StopFlag* stop, match::MatchSteps& steps) override {
    std::vector<match::QueryTask> plain(tasks.begin(), tasks.end());
    for (match::QueryTask& task : plain) {
      task.stop = nullptr;
      task.watch = nullptr;
    }
    cpu_->match(graph, passes, plain, results, stop, steps);
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return cpu_->bytes(); }

 private:
  std::unique_ptr<match::Matcher> cpu_;
};

class OpaqueBackend final : public test::IdleBackend {
 public:
  std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override { return std::make_unique<OpaqueMatcher>(workers); }
};

struct Way {
  unsigned threads;
  bool opaque;
};

class BatchBudget : public testing::TestWithParam<Way> {
 protected:
  [[nodiscard]] static Engine make(bool directed = true) {
    return Engine({.directed = directed,
                   .threads = GetParam().threads,
                   .backend = GetParam().opaque ? std::make_shared<OpaqueBackend>() : nullptr});
  }
};

// It has more matches than could be listed or enumerated.
const char* const endless_list = "(h)-->(a), (h)-->(b), (h)-->(c), (h)-->(d), (h)-->(e)";
constexpr std::int64_t endless_leaves = 3'000;

/// Becomes true after a while, for any thread.
struct Alarm {
  explicit Alarm(std::chrono::milliseconds after) : at(std::chrono::steady_clock::now() + after) {}
  [[nodiscard]] bool operator()() const { return std::chrono::steady_clock::now() >= at; }
  std::chrono::steady_clock::time_point at;
};

TEST_P(BatchBudget, ABatchThatIsAbandonedWhileItListsHasNeverBeen) {
  Engine engine = make();
  Recorder recorder;
  engine.add_query(parse_pattern(endless_list, "star"), {.list = true});
  (void)engine.process(star(0, 3));
  const auto before = state_of(engine);
  BatchOptions options;
  options.sink = &recorder;
  options.stop = Alarm(30ms);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(engine.process(star(100, endless_leaves), options));
  EXPECT_LT(std::chrono::steady_clock::now() - start, patience);
  EXPECT_EQ(state_of(engine), before);
  EXPECT_TRUE(recorder.told.empty());
  options.stop = {};
  const auto result = engine.process(star(0, 6), options);  // three more edges: all sets of 5 among 6 leaves
  ASSERT_TRUE(result);
  EXPECT_EQ(result->batch, 2U);
  EXPECT_EQ(result->queries[0].added, Count{6});
  EXPECT_EQ(recorder.told.size(), 6U);
}

TEST_P(BatchBudget, ABatchThatIsAbandonedWhileItCountsHasNeverBeen) {
  Engine engine = make();
  engine.add_query(parse_pattern(clique_pattern(7), "clique"));
  const auto before = state_of(engine);
  BatchOptions options;
  options.stop = Alarm(30ms);
  EXPECT_FALSE(engine.process(clique(0, 150), options));
  EXPECT_EQ(state_of(engine), before);
  EXPECT_EQ(engine.process(clique(0, 8)).queries[0].added, Count{8});
}

TEST_P(BatchBudget, ABatchThatIsAbandonedWhileItIsDeliveredIsNotDelivered) {
  Engine engine = make();
  Recorder recorder;
  std::atomic<bool> wanted = false;
  recorder.on_write = [&] { wanted = true; };
  engine.add_query(parse_pattern("(h)-->(a), (h)-->(b), (h)-->(c)", "star"), {.list = true});
  BatchOptions options;
  options.sink = &recorder;
  options.stop = [&] { return wanted.load(); };
  EXPECT_FALSE(engine.process(star(0, 60), options));
  EXPECT_EQ(recorder.aborts, 1);
  EXPECT_TRUE(recorder.told.empty());
  EXPECT_EQ(engine.batch(), 0U);
  EXPECT_EQ(engine.graph().vertices, 0U);
}

TEST_P(BatchBudget, ABatchThatIsAbandonedWhileItIsAppliedHasNeverBeen) {
  Engine engine = make();
  engine.add_query(parse_pattern("(a)-->(b)", "edge"));
  std::atomic<int> asked = 0;
  BatchOptions options;
  options.stop = [&] { return ++asked >= 2; };  // it does not ask to stop at the beginning
  EXPECT_FALSE(engine.process(star(0, 300'000), options));
  EXPECT_EQ(engine.graph().vertices, 0U);
  EXPECT_EQ(engine.process(star(0, 7)).queries[0].added, Count{7});
}

TEST_P(BatchBudget, AQueryBeyondItsMatchesIsGivenUpAndTheOthersGoOn) {
  Engine engine = make();
  Recorder recorder;
  const QueryId explodes = engine.add_query(parse_pattern(endless_list, "star"), {.list = true});
  engine.add_query(parse_pattern("(a)-->(b)", "edge"), {.list = true});
  engine.add_query(parse_pattern("(h)-->(a), (h)-->(b)", "pair"));
  engine.budget(explodes, {.time = {}, .matches = 1000});
  BatchOptions options;
  options.sink = &recorder;
  const auto result = engine.process(star(0, endless_leaves), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->queries[0].shortfall, Shortfall::limit);
  EXPECT_EQ(result->queries[0].added, Count{1000});
  EXPECT_EQ(result->queries[0].removed, Count{0});
  EXPECT_TRUE(result->queries[1].complete());
  EXPECT_EQ(result->queries[1].added, Count{endless_leaves});
  EXPECT_EQ(result->queries[2].added, Count{endless_leaves} * (endless_leaves - 1) / 2);
  EXPECT_EQ(engine.graph().edges, static_cast<std::uint64_t>(endless_leaves));
  std::vector<std::string> told = recorder.of("star");
  ASSERT_EQ(told.size(), 1001U);
  EXPECT_EQ(told.back(), "star ends limit 1000 batch 1");
  told.pop_back();
  EXPECT_EQ(std::set<std::string>(told.begin(), told.end()).size(), 1000U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(recorder.of("edge").size(), static_cast<std::size_t>(endless_leaves));

  UpdateBatch next = star(1'000'000, 5);  // elsewhere: the query continues
  const auto after = engine.process(next, options);
  EXPECT_TRUE(after->queries[0].complete());
  EXPECT_EQ(after->queries[0].added, Count{1});
}

TEST_P(BatchBudget, AQueryBeyondItsTimeIsGivenUpAndTheOthersGoOn) {
  Engine engine = make();
  Recorder recorder;
  const QueryId explodes = engine.add_query(parse_pattern(clique_pattern(7), "clique"));
  engine.add_query(parse_pattern("(a)-->(b)", "edge"), {.list = true});
  engine.budget(explodes, {.time = 50ms, .matches = {}});
  BatchOptions options;
  options.sink = &recorder;
  const auto result = engine.process(clique(0, 150), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->queries[0].shortfall, Shortfall::timeout);
  EXPECT_EQ(recorder.told.size(), 150U * 149 / 2);  // nothing is listed for a query that is counted
  EXPECT_TRUE(result->queries[1].complete());
  EXPECT_EQ(result->queries[1].added, Count{150 * 149 / 2});
  EXPECT_EQ(engine.graph().edges, 150U * 149 / 2);
}

// This holds on any machine: exactly as many matches as the budget allows are complete, one more is not.
TEST_P(BatchBudget, WhetherAQueryExceedsItsMatchesIsCertain) {
  for (const bool list : {false, true}) {
    for (const std::uint64_t most : {9U, 10U}) {
      Engine engine = make();
      Recorder recorder;
      const QueryId query = engine.add_query(parse_pattern("(h)-->(a), (h)-->(b)", "pair"), {.list = list});
      engine.budget(query, {.time = {}, .matches = most});
      BatchOptions options;
      if (list) options.sink = &recorder;
      const auto result = engine.process(star(0, 5), options);  // 10 pairs
      EXPECT_EQ(result->queries[0].complete(), most == 10);
      EXPECT_EQ(result->queries[0].added, Count{list ? most : 10});
      EXPECT_EQ(recorder.told.size(), list ? 10U : 0U);  // nine and the mark of the end, or ten
    }
  }
}

TEST_P(BatchBudget, RemovedMatchesCountAndComeFirst) {
  Engine engine = make();
  Recorder recorder;
  const QueryId query = engine.add_query(parse_pattern("(a)-->(b)", "edge"), {.list = true});
  (void)engine.process(star(0, 10));
  engine.budget(query, {.time = {}, .matches = 12});
  UpdateBatch batch;
  for (std::int64_t leaf = 1; leaf <= 10; ++leaf) batch.add(edge(UpdateKind::delete_edge, 0, leaf));
  for (std::int64_t leaf = 1; leaf <= 10; ++leaf) batch.add(insert(100, leaf));
  BatchOptions options;
  options.sink = &recorder;
  const auto result = engine.process(batch, options);
  EXPECT_EQ(result->queries[0].removed, Count{10});
  EXPECT_EQ(result->queries[0].added, Count{2});
  MatchDigest removed;
  EXPECT_NE(result->queries[0].removed_digest, removed);
  EXPECT_EQ(recorder.told.size(), 13U);
}

TEST_P(BatchBudget, ThoseWhoDoNotWantPartsAreToldTheEndOnly) {
  Engine engine = make();
  Recorder recorder;
  const QueryId query = engine.add_query(parse_pattern("(a)-->(b)", "edge"), {.list = true});
  engine.budget(query, {.time = {}, .matches = 3});
  BatchOptions options;
  options.sink = &recorder;
  options.report_partial = false;
  const auto result = engine.process(star(0, 10), options);
  EXPECT_EQ(result->queries[0].shortfall, Shortfall::limit);
  EXPECT_GE(result->queries[0].added, Count{4});
  EXPECT_EQ(result->queries[0].added_digest, MatchDigest());
  EXPECT_EQ(recorder.told, std::vector<std::string>{"edge ends limit 0 batch 1"});
}

// With another label a vertex counts as another vertex. A match that seems to vanish may be the one that seems to appear.
TEST_P(BatchBudget, NothingIsCertainOfPartsWhereAVertexIsRelabelled) {
  Engine engine = make();
  Recorder recorder;
  UpdateBatch first;
  first.add(edge(UpdateKind::insert_edge, 0, 1, "A", "B"));
  (void)engine.process(first);
  const QueryId query = engine.add_query(parse_pattern("(a)-->(b)", "edge"), {.list = true});
  UpdateBatch batch;
  batch.add(edge(UpdateKind::delete_vertex, 0, 0));
  for (std::int64_t leaf = 1; leaf <= 10; ++leaf) batch.add(edge(UpdateKind::insert_edge, 0, leaf, "C", "B"));
  engine.budget(query, {.time = {}, .matches = 5});
  BatchOptions options;
  options.sink = &recorder;
  const auto result = engine.process(batch, options);
  EXPECT_EQ(result->queries[0].shortfall, Shortfall::limit);
  EXPECT_EQ(result->queries[0].added, Count{0});
  EXPECT_EQ(result->queries[0].removed, Count{0});
  EXPECT_EQ(recorder.told, std::vector<std::string>{"edge ends limit 0 batch 2"});
  EXPECT_EQ(engine.graph().edges, 10U);
}

TEST_P(BatchBudget, ProgressNamesWhatIsMatched) {
  if (GetParam().opaque) GTEST_SKIP() << "it does not tell what it matches";
  Engine engine = make();
  engine.add_query(parse_pattern("(a)-->(b)", "edge"));
  const QueryId explodes = engine.add_query(parse_pattern(endless_list, "star"), {.list = true});
  std::atomic<bool> named = false;
  std::atomic<bool> found = false;
  Recorder recorder;
  BatchOptions options;
  options.sink = &recorder;
  options.progress = [&](const BatchProgress& progress) {
    if (progress.query == explodes && progress.seconds > 0) named = true;
    if (progress.matches > 1000) found = true;
  };
  const Alarm alarm(patience);
  options.stop = [&] { return (named && found) || alarm(); };
  EXPECT_FALSE(engine.process(star(0, endless_leaves), options));
  EXPECT_TRUE(named && found);
}

TEST_P(BatchBudget, BriefBatchesAreWatchedOneAfterTheOther) {
  Engine engine = make();
  const QueryId query = engine.add_query(parse_pattern("(h)-->(a), (h)-->(b)", "pair"), {.list = true});
  engine.budget(query, {.time = 10s, .matches = 50});
  BatchOptions options;
  options.stop = [] { return false; };
  options.progress = [](const BatchProgress&) {};
  for (std::int64_t batch = 0; batch < 200; ++batch) {
    if (batch == 150) std::this_thread::sleep_for(150ms);  // the watcher is asleep by then
    const auto result = engine.process(star(100 * batch, batch % 2 == 0 ? 5 : 20), options);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->queries[0].complete(), batch % 2 == 0) << batch;
  }
}

TEST(BatchBudgetOfNothing, IsRefused) {
  Engine engine;
  EXPECT_THROW(engine.budget(QueryId{3}, {}), Error);
}

INSTANTIATE_TEST_SUITE_P(Ways, BatchBudget, testing::Values(Way{1, false}, Way{3, false}, Way{1, true}, Way{3, true}),
                         [](const auto& way) {
                           return std::to_string(way.param.threads) + (way.param.opaque ? "OpaqueThreads" : "Threads");
                         });

}  // namespace
}  // namespace deltamatch
