// A contest gives every matcher the same work. It reports who failed, who was too slow, and whose counts differ.
#include "bench/harness/matcher_comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace deltamatch::bench {
namespace {

class Failing final : public match::Matcher {
 public:
  void match(const graph::DataGraph&, std::span<const match::PassWork>, std::span<const match::QueryTask>,
             std::span<match::QueryResult>, const match::StopFlag*, match::MatchSteps&) override {
    throw std::runtime_error("no device");
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return 0; }
};

class Endless final : public match::Matcher {
 public:
  void match(const graph::DataGraph&, std::span<const match::PassWork>, std::span<const match::QueryTask>,
             std::span<match::QueryResult>, const match::StopFlag* stop, match::MatchSteps& steps) override {
    while (!stop->load()) std::this_thread::yield();
    steps.cache += 1e-6;
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return 0; }
};

UpdateBatch triangle(std::int64_t first, UpdateKind kind) {
  UpdateBatch batch;
  for (int i = 0; i < 3; ++i) {
    Update update;
    update.kind = kind;
    update.source = first + i;
    update.target = first + (i + 1) % 3;
    batch.add(update);
  }
  return batch;
}

class MatcherComparisonTest : public testing::Test {
 protected:
  // Two triangles come, then one goes.
  void run(std::vector<ComparedMatcher> matchers) {
    comparison_ = std::make_shared<MatcherComparison>(graph::heap_slabs(), std::move(matchers), std::chrono::milliseconds(200));
    engine_ = std::make_unique<Engine>(EngineOptions{.directed = false, .threads = 2, .backend = comparison_});
    engine_->add_query(parse_pattern("(a)--(b)--(c)--(a)", "triangle"));
    engine_->load(triangle(0, UpdateKind::insert_edge));
    UpdateBatch batch = triangle(10, UpdateKind::insert_edge);
    const UpdateBatch gone = triangle(0, UpdateKind::delete_edge);
    for (const Update& update : gone.updates()) batch.add(update);
    const UpdateBatch more = triangle(20, UpdateKind::insert_edge);
    for (const Update& update : more.updates()) batch.add(update);
    result_ = engine_->process(batch);
  }
  static ComparedMatcher cpu(std::string name) { return {std::move(name), match::make_cpu_matcher}; }

  std::shared_ptr<MatcherComparison> comparison_;
  std::unique_ptr<Engine> engine_;
  BatchResult result_;
};

TEST_F(MatcherComparisonTest, AllSeeTheSameBatch) {
  run({cpu("a"), cpu("b")});
  ASSERT_EQ(comparison_->runs().size(), 2U);
  for (const MatcherRun& run : comparison_->runs()) {
    EXPECT_EQ(run.counts, (std::vector<Count>{1, 2}));
    EXPECT_TRUE(run.complete && run.error.empty());
    EXPECT_GT(run.match, 0);
  }
  EXPECT_EQ(result_.queries[0].removed, Count{1});
  EXPECT_EQ(result_.queries[0].added, Count{2});
}

TEST_F(MatcherComparisonTest, CorruptedCountsDiffer) {
  run({cpu("a"), {"b", match::make_cpu_matcher, true}});
  EXPECT_EQ(comparison_->runs()[1].counts, (std::vector<Count>{2, 2}));
  KnownCounts known_counts;
  EXPECT_TRUE(known_counts.agrees("1", comparison_->runs()[0].counts));
  EXPECT_FALSE(known_counts.compared("1"));
  EXPECT_TRUE(known_counts.agrees("1", comparison_->runs()[0].counts));
  EXPECT_TRUE(known_counts.compared("1"));
  EXPECT_FALSE(known_counts.agrees("1", comparison_->runs()[1].counts));
  EXPECT_TRUE(known_counts.agrees("2", comparison_->runs()[1].counts));
}

TEST_F(MatcherComparisonTest, FailuresAndEndlessRunsAreToldAndOthersGoOn) {
  run({{"failing", [](Workers&) { return std::make_unique<Failing>(); }},
       {"endless", [](Workers&) { return std::make_unique<Endless>(); }},
       cpu("cpu")});
  const std::vector<MatcherRun>& runs = comparison_->runs();
  EXPECT_EQ(runs[0].error, "no device");
  EXPECT_TRUE(runs[0].counts.empty());
  EXPECT_FALSE(runs[1].complete);
  EXPECT_TRUE(runs[1].counts.empty());
  EXPECT_GE(runs[1].match, 0.19);
  EXPECT_EQ(runs[1].cache, 1e-6);
  EXPECT_EQ(runs[2].counts, (std::vector<Count>{1, 2}));
  EXPECT_EQ(result_.queries[0].added, Count{2});
}

TEST_F(MatcherComparisonTest, WhoIsNotAdmittedDoesNothing) {
  run({cpu("a"), cpu("b")});
  comparison_->admit({false, true});
  engine_->process(triangle(30, UpdateKind::insert_edge));
  EXPECT_TRUE(comparison_->runs()[0].counts.empty());
  EXPECT_EQ(comparison_->runs()[1].counts, (std::vector<Count>{0, 1}));
}

}  // namespace
}  // namespace deltamatch::bench
