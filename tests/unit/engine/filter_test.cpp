// Filtering that begins while a graph is matched: what was found before and what is found after make the whole answer.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "deltamatch/engine.hpp"
#include "match/backend.hpp"

namespace deltamatch {
namespace {

// A clique, in which matching takes long; pairs that are in no match; and as many leaves around one vertex.
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

std::string clique_pattern(int vertices, bool labelled) {
  std::string text;
  for (int v = 0; v < vertices; ++v) {
    for (int u = 0; u < v; ++u) {
      const auto name = [&](int w) { return "(v" + std::to_string(w) + (labelled ? ":" + std::to_string(w) : "") + ")"; };
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

class LateFilter : public testing::TestWithParam<unsigned> {};

TEST_P(LateFilter, KeepsSums) {
  Engine engine = make_graph(84, 2000, 7, GetParam());
  expect_same(engine, clique_pattern(7, true), {});
}

TEST_P(LateFilter, KeepsCountsThatSymmetryDivides) {
  Engine engine = make_graph(32, 500, 1, GetParam(), 3000);
  QueryOptions options;
  expect_same(engine, clique_pattern(7, false), options, CountFrom::edges);
  options.count = CountMode::embeddings;
  expect_same(engine, clique_pattern(7, false), options, CountFrom::edges);
}

TEST_P(LateFilter, KeepsCountsFromVertices) {
  Engine labelled = make_graph(91, 2000, 7, GetParam(), 20000);
  expect_same(labelled, clique_pattern(7, true), {}, CountFrom::vertices);
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

// Matches as a device does: many anchors to a launch, which takes its time whatever there is to do, and ends when it is told.
class LaunchingMatcher final : public match::Matcher {
 public:
  LaunchingMatcher(Workers& workers, int& opened) : cpu_(match::make_cpu_matcher(workers)), opened_(&opened) {}

  void open(const graph::DataGraph&) override { ++*opened_; }
  void match(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
             std::span<match::QueryResult> results, const match::StopFlag* stop, match::MatchSteps& steps) override {
    for (int i = 0; i < 20 && !stop->load(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    cpu_->match(graph, passes, tasks, results, stop, steps);
  }
  [[nodiscard]] std::size_t appetite() const noexcept override { return 1 << 14; }
  [[nodiscard]] std::size_t bytes() const noexcept override { return cpu_->bytes(); }

 private:
  std::unique_ptr<match::Matcher> cpu_;
  int* opened_;
};

class LaunchingBackend final : public Backend {
 public:
  graph::SlabAllocator& slabs() noexcept override { return graph::heap_slabs(); }
  std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override {
    return std::make_unique<LaunchingMatcher>(workers, opened);
  }
  int opened = 0;
};

TEST_P(LateFilter, KeepsWhatLaunchesFound) {
  const auto backend = std::make_shared<LaunchingBackend>();
  Engine labelled = make_graph(84, 2000, 7, GetParam(), 0, backend);
  expect_same(labelled, clique_pattern(7, true), {});
  EXPECT_EQ(backend->opened, 1) << "without a filter there is nothing to wait for";
  Engine alike = make_graph(24, 3000, 1, GetParam(), 3000, backend);
  QueryOptions options;
  expect_same(alike, clique_pattern(6, false), options, CountFrom::edges);
  options.list = true;
  expect_same(alike, clique_pattern(4, false), options);
}

INSTANTIATE_TEST_SUITE_P(Threads, LateFilter, testing::Values(1U, 3U));

}  // namespace
}  // namespace deltamatch
