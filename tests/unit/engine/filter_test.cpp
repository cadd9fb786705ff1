// Filtering that begins while a graph is matched. The matches found before and after it make the whole answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "deltamatch/engine.hpp"
#include "match/backend.hpp"
#include "unit/engine/idle_backend.hpp"
#include "unit/engine/patient_backend.hpp"

namespace deltamatch {
namespace {

// A clique, in which matching takes long; pairs that are in no match; and a number of leaves around one vertex.
Engine make_graph(int clique, int pairs, int labels, unsigned threads, int leaves = 0,
                  std::shared_ptr<Backend> backend = nullptr) {
  Engine engine({.directed = false, .threads = threads, .backend = std::move(backend)});
  UpdateBatch batch;
  const auto add = [&](int source, int target) {
    Update update;
    update.source = Id(std::int64_t{source});
    update.target = Id(std::int64_t{target});
    const std::string source_label = std::to_string(source % labels);
    const std::string target_label = std::to_string(target % labels);
    update.source_label = source_label;
    update.target_label = target_label;
    batch.add(update);
  };
  for (int v = 0; v < clique; ++v) {
    for (int u = 0; u < v; ++u) add(u, v);
  }
  for (int i = 0; i < pairs; ++i) {
    const int first = (clique / labels + 1 + 2 * i) * labels;
    add(first, first + (labels > 1 ? 1 : labels));
  }
  const int hub = 1'000'000 * labels;
  for (int i = 1; i <= leaves; ++i) add(hub, hub + i);
  engine.load(batch, OnReject::stop);
  return engine;
}

std::string clique_pattern(int vertices, bool labelled, int labels = 7) {
  std::string text;
  for (int v = 0; v < vertices; ++v) {
    for (int u = 0; u < v; ++u) {
      const auto name = [&](int w) {
        return "(v" + std::to_string(w) + (labelled ? ":" + std::to_string(w % labels) : "") + ")";
      };
      text += (text.empty() ? "" : ", ") + name(u) + "--" + name(v);
    }
  }
  return text;
}

void expect_same(Engine& engine, const std::string& pattern, const QueryOptions& asked, CountFrom from = CountFrom::automatic,
                 bool used = true) {
  const Query query = parse_pattern(pattern, "q");
  StaticOptions options;
  options.query = asked;
  options.count_from = from;
  options.filter = Filter::none;
  const StaticResult plain = engine.match(query, options);
  EXPECT_TRUE(plain.filter.steps.empty());
  ASSERT_GT(plain.matches, 0);
  options.filter = Filter::automatic;
  const StaticResult filtered = engine.match(query, options);
  EXPECT_FALSE(filtered.filter.steps.empty()) << "matching was over before";
  EXPECT_EQ(filtered.filter.used, used);
  EXPECT_TRUE(filtered.matches == plain.matches);
  EXPECT_EQ(filtered.digest, plain.digest);
}

// Seven vertices, all joined except along a tree with legs of one, two and three edges. So there is no symmetry, even without
// labels.
std::string lopsided_pattern() {
  std::string text;
  for (const auto& [u, v] : {std::pair{1, 2},
                             {1, 3},
                             {1, 4},
                             {1, 5},
                             {1, 6},
                             {2, 4},
                             {2, 5},
                             {2, 6},
                             {3, 4},
                             {3, 5},
                             {3, 6},
                             {4, 6},
                             {0, 3},
                             {0, 5},
                             {0, 6}}) {
    text += (text.empty() ? "(v" : ", (v") + std::to_string(u) + ")--(v" + std::to_string(v) + ")";
  }
  return text;
}

class LateFilter : public testing::TestWithParam<unsigned> {};

TEST_P(LateFilter, KeepsSums) {
  Engine engine = make_graph(26, 500, 1, GetParam(), 3000);
  EXPECT_EQ(engine.match(parse_pattern(lopsided_pattern(), "q"), {}).matches, Count{26} * 25 * 24 * 23 * 22 * 21 * 20);
  expect_same(engine, lopsided_pattern(), {});
}

TEST_P(LateFilter, KeepsCountsThatSymmetryDivides) {
  Engine engine = make_graph(32, 500, 1, GetParam(), 3000);
  QueryOptions options;
  expect_same(engine, clique_pattern(7, false), options, CountFrom::edges);
  options.count = CountMode::embeddings;
  expect_same(engine, clique_pattern(7, false), options, CountFrom::edges);
}

TEST_P(LateFilter, KeepsCountsFromVertices) {
  Engine lopsided = make_graph(14, 500, 1, GetParam(), 3000);
  expect_same(lopsided, lopsided_pattern(), {}, CountFrom::vertices);
  Engine alike = make_graph(36, 500, 1, GetParam(), 3000);
  expect_same(alike, clique_pattern(6, false), {}, CountFrom::vertices);
}

TEST_P(LateFilter, GoesOnWithoutWhereBeginningAgainGainsLittle) {
  Engine engine = make_graph(32, 500, 1, GetParam());
  expect_same(engine, clique_pattern(7, false), {}, CountFrom::edges, false);
}

TEST_P(LateFilter, KeepsListings) {
  Engine engine = make_graph(24, 500, 1, GetParam());
  QueryOptions options;
  options.list = true;
  expect_same(engine, clique_pattern(6, false), options);
  options.count = CountMode::embeddings;
  expect_same(engine, clique_pattern(4, false), options);
}

// A filter that begins after some launches, whatever their duration. Their matches are kept. Returns whether the first launch
// ended in time to be kept.
bool expect_late(Engine& engine, test::Patience& patience, const std::string& pattern, StaticOptions options) {
  const Query query = parse_pattern(pattern, "q");
  options.filter = Filter::none;
  patience = {};
  const StaticResult plain = engine.match(query, options);
  EXPECT_GT(plain.matches, 0);
  EXPECT_EQ(patience.opened, 0) << "without a filter there is nothing to wait for";
  options.filter = Filter::automatic;
  patience = {.waits = true};
  const StaticResult filtered = engine.match(query, options);
  EXPECT_EQ(patience.opened, 1);
  EXPECT_GE(patience.on_graph, 1) << "nothing was matched before";
  EXPECT_GE(patience.among_candidates, 1);
  EXPECT_FALSE(filtered.filter.steps.empty()) << "matching was over before";
  EXPECT_TRUE(filtered.filter.used);
  EXPECT_TRUE(filtered.matches == plain.matches);
  EXPECT_EQ(filtered.digest, plain.digest);
  return patience.kept > 0;
}

class LateFilterOfLaunches : public LateFilter {
 protected:
  // Makes a few tries, because a busy machine may delay the first launch for as long as the filter waits.
  void expect_kept(Engine& engine, const std::string& pattern, const StaticOptions& options) {
    constexpr int tries = 5;
    bool kept = false;
    for (int i = 0; i < tries && !kept && !HasFailure(); ++i) kept = expect_late(engine, backend_->patience, pattern, options);
    EXPECT_TRUE(kept || HasFailure()) << "the first launch was lost in every try";
  }

  // A launch has few anchors, so the first one ends soon.
  std::shared_ptr<test::PatientBackend> backend_ = std::make_shared<test::PatientBackend>(nullptr, 64);
};

TEST_P(LateFilterOfLaunches, KeepsWhatTheyFound) {
  Engine engine = make_graph(24, 3000, 1, GetParam(), 3000, backend_);
  StaticOptions options;
  options.count_from = CountFrom::edges;
  expect_kept(engine, clique_pattern(6, false), options);
  options = {};
  options.query.list = true;
  expect_kept(engine, clique_pattern(4, false), options);
}

// Matches that were counted from edges are not added to those that would be counted from vertices.
TEST_P(LateFilterOfLaunches, KeepsToEdgesWhereVerticesWouldBeTheRoots) {
  backend_->no_roots_on_graph = true;
  Engine engine = make_graph(24, 3000, 1, GetParam(), 3000, backend_);
  StaticOptions options;
  options.count_from = CountFrom::vertices;
  expect_kept(engine, lopsided_pattern(), options);
}

// Labelled queries are filtered late if a part of the matches may be enough.
TEST_P(LateFilterOfLaunches, KeepsWhatTheyFoundOfLabelledQueries) {
  Engine engine = make_graph(28, 2000, 7, GetParam(), 0, backend_);
  StaticOptions options;
  options.query.list = true;
  options.limit = 1'000'000;  // there are 4^7
  expect_kept(engine, clique_pattern(7, true), options);
}

// They are filtered first if they are counted and filtering should take no longer than the first launches may.
TEST_P(LateFilterOfLaunches, IsNotLateWhereLabelsTellSoon) {
  Engine engine = make_graph(84, 2000, 7, GetParam(), 0, backend_);
  expect_same(engine, clique_pattern(7, true), {});
  EXPECT_EQ(backend_->patience.opened, 1) << "without a filter there is nothing to wait for";
  backend_->patience = {};
  static_cast<void>(engine.match(parse_pattern(clique_pattern(7, true), "q")));
  EXPECT_EQ(backend_->patience.on_graph, 0);
  EXPECT_GE(backend_->patience.among_candidates, 1);
}

// Counts the matches that wait: found and not yet written.
class Waiting final : public match::RecordTaker, public MatchSink {
 public:
  void launch(match::RecordTaker* taker) {
    taker_ = taker;
    found_ = written_;
  }
  void find(std::uint64_t matches) {
    const std::uint64_t found = found_ += matches;
    most = std::max(most, found - std::min<std::uint64_t>(found, written_));
  }
  void take(const match::Records& records, match::Pass pass) override {
    {
      const std::scoped_lock turn(mutex_);
      find(records.plans.size());
    }
    taker_->take(records, pass);
  }

  void begin(std::uint64_t) override {}
  void write(const Match&) override { ++written_; }
  void commit() override {}
  void abort() noexcept override {}

  std::uint64_t most = 0;

 private:
  match::RecordTaker* taker_ = nullptr;
  std::mutex mutex_;
  std::uint64_t found_ = 0;
  std::atomic<std::uint64_t> written_ = 0;
};

// Takes many anchors at a time, like a device.
class GreedyMatcher final : public match::Matcher {
 public:
  GreedyMatcher(Workers& workers, Waiting& waiting) : cpu_(match::make_cpu_matcher(workers)), waiting_(&waiting) {}

  void match(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
             std::span<match::QueryResult> results, const match::StopFlag* stop, match::MatchSteps& steps) override {
    match::QueryTask task = tasks[0];
    waiting_->launch(task.taker);
    if (task.taker != nullptr) task.taker = waiting_;
    cpu_->match(graph, passes, {&task, 1}, results, stop, steps);
    waiting_->find(results[0].records.plans.size());
  }
  [[nodiscard]] std::size_t preferred_anchors() const noexcept override { return 1 << 18; }
  [[nodiscard]] std::size_t bytes() const noexcept override { return cpu_->bytes(); }

 private:
  std::unique_ptr<match::Matcher> cpu_;
  Waiting* waiting_;
};

class GreedyBackend final : public test::IdleBackend {
 public:
  std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override {
    return std::make_unique<GreedyMatcher>(workers, waiting);
  }
  Waiting waiting;
};

// This also holds before it is clear whether to filter: 50 ms are enough to find millions.
TEST_P(LateFilter, FewMatchesWaitWhateverALaunchFinds) {
  const auto backend = std::make_shared<GreedyBackend>();
  Engine engine = make_graph(64, 3000, 1, GetParam(), 200'000, backend);
  StaticOptions options;
  options.query.list = true;
  const StaticResult result = engine.match(parse_pattern(clique_pattern(4, false), "q"), options, &backend->waiting);
  EXPECT_TRUE(result.matches == 635'376);  // 4 of 64 vertices
  Engine plain = make_graph(64, 0, 1, GetParam());
  options.filter = Filter::none;
  EXPECT_EQ(result.digest, plain.match(parse_pattern(clique_pattern(4, false), "q"), options).digest);
  EXPECT_LT(backend->waiting.most * 11 * sizeof(std::uint32_t), std::size_t{4} << 20);
}

INSTANTIATE_TEST_SUITE_P(Threads, LateFilter, testing::Values(1U, 3U));
INSTANTIATE_TEST_SUITE_P(Threads, LateFilterOfLaunches, testing::Values(1U, 3U));

// Records what it is asked to match first.
class WatchedMatcher final : public match::Matcher {
 public:
  WatchedMatcher(Workers& workers, std::optional<bool>& candidates)
      : cpu_(match::make_cpu_matcher(workers)), candidates_(&candidates) {}

  void match(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
             std::span<match::QueryResult> results, const match::StopFlag* stop, match::MatchSteps& steps) override {
    if (!*candidates_) *candidates_ = graph.lent() != nullptr;
    cpu_->match(graph, passes, tasks, results, stop, steps);
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return cpu_->bytes(); }

 private:
  std::unique_ptr<match::Matcher> cpu_;
  std::optional<bool>* candidates_;
};

class WatchedBackend final : public test::IdleBackend {
 public:
  std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override {
    return std::make_unique<WatchedMatcher>(workers, first_among_candidates);
  }
  std::optional<bool> first_among_candidates;
};

// A clique without one edge, whose vertices have one label.
std::string near_clique_pattern(int vertices, const std::string& label) {
  std::string text;
  for (int v = 0; v < vertices; ++v) {
    for (int u = v == vertices - 1 ? 1 : 0; u < v; ++u) {
      text +=
          (text.empty() ? "(v" : ", (v") + std::to_string(u) + ":" + label + ")--(v" + std::to_string(v) + ":" + label + ")";
    }
  }
  return text;
}

struct Watched {
  StaticResult result;
  std::optional<bool> among_candidates;  // whether candidates were matched first; nothing: nothing was matched
};

Watched watch(int clique, int labels, const std::string& pattern, StaticOptions options = {}, int pairs = 2000) {
  const auto backend = std::make_shared<WatchedBackend>();
  Engine engine = make_graph(clique, pairs, labels, 1, 0, backend);
  const Query query = parse_pattern(pattern, "q");
  Watched watched{engine.match(query, options), backend->first_among_candidates};
  if (watched.result.shortfall != Shortfall::none) return watched;
  options.filter = Filter::none;
  options.timeout.reset();
  EXPECT_TRUE(engine.match(query, options).matches == watched.result.matches);
  return watched;
}

TEST(EarlyFilter, WhereLabelsTellAndMatchingIsExpectedToTakeLong) {
  EXPECT_EQ(watch(84, 7, clique_pattern(7, true)).among_candidates, true);
  EXPECT_EQ(watch(84, 7, clique_pattern(7, true, 6)).among_candidates, true) << "with symmetry";
  EXPECT_EQ(watch(14, 7, clique_pattern(3, true), {}, 40'000).among_candidates, false) << "matching is over sooner";
  EXPECT_EQ(watch(14, 7, clique_pattern(3, true)).among_candidates, true) << "filtering takes no longer than planning";
  EXPECT_EQ(watch(14, 1, lopsided_pattern()).among_candidates, false) << "no labels";
}

TEST(EarlyFilter, MayFindThatThereIsNoMatch) {
  const Watched watched = watch(84, 7, near_clique_pattern(13, "0"));  // of 12 such vertices
  EXPECT_TRUE(watched.result.matches == 0);
  EXPECT_FALSE(watched.result.filter.steps.empty());
  EXPECT_EQ(watched.among_candidates, std::nullopt);
}

TEST(EarlyFilter, NotWhereAPartMayDo) {
  StaticOptions options;
  options.query.list = true;
  options.limit = 10;
  const Watched few = watch(84, 7, clique_pattern(7, true), options);
  EXPECT_TRUE(few.result.matches == 10);
  EXPECT_EQ(few.among_candidates, false);
  // Filtering is expected to take 50 ms. That is more than a quarter of the first time-out, in which matching mostly begins. It
  // is less than a quarter of the second one. Both are too short for matching to end.
  for (const bool patient : {false, true}) {
    options = {};
    options.timeout = std::chrono::milliseconds(patient ? 1000 : 150);
    const Watched part = watch(630, 7, clique_pattern(7, true), options, 40'000);
    EXPECT_EQ(part.result.shortfall, Shortfall::timeout);
    if (patient) {
      EXPECT_EQ(part.among_candidates, true);
    } else {
      EXPECT_NE(part.among_candidates, true);
    }
  }
}

}  // namespace
}  // namespace deltamatch
