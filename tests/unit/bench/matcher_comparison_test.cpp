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

class ContestTest : public testing::Test {
 protected:
  // Two triangles come, then one goes.
  void run(std::vector<Contestant> contestants) {
    contest_ = std::make_shared<Contest>(graph::heap_slabs(), std::move(contestants), std::chrono::milliseconds(200));
    engine_ = std::make_unique<Engine>(EngineOptions{.directed = false, .threads = 2, .backend = contest_});
    engine_->add_query(parse_pattern("(a)--(b)--(c)--(a)", "triangle"));
    engine_->load(triangle(0, UpdateKind::insert_edge));
    UpdateBatch batch = triangle(10, UpdateKind::insert_edge);
    const UpdateBatch gone = triangle(0, UpdateKind::delete_edge);
    for (const Update& update : gone.updates()) batch.add(update);
    const UpdateBatch more = triangle(20, UpdateKind::insert_edge);
    for (const Update& update : more.updates()) batch.add(update);
    result_ = engine_->process(batch);
  }
  static Contestant cpu(std::string name) { return {std::move(name), match::make_cpu_matcher}; }

  std::shared_ptr<Contest> contest_;
  std::unique_ptr<Engine> engine_;
  BatchResult result_;
};

TEST_F(ContestTest, AllSeeTheSameBatch) {
  run({cpu("a"), cpu("b")});
  ASSERT_EQ(contest_->heats().size(), 2U);
  for (const Heat& heat : contest_->heats()) {
    EXPECT_EQ(heat.counts, (std::vector<Count>{1, 2}));
    EXPECT_TRUE(heat.complete && heat.error.empty());
    EXPECT_GT(heat.match, 0);
  }
  EXPECT_EQ(result_.queries[0].removed, Count{1});
  EXPECT_EQ(result_.queries[0].added, Count{2});
}

TEST_F(ContestTest, CorruptedCountsDiffer) {
  run({cpu("a"), {"b", match::make_cpu_matcher, true}});
  EXPECT_EQ(contest_->heats()[1].counts, (std::vector<Count>{2, 2}));
  Ledger ledger;
  EXPECT_TRUE(ledger.agrees("1", contest_->heats()[0].counts));
  EXPECT_FALSE(ledger.compared("1"));
  EXPECT_TRUE(ledger.agrees("1", contest_->heats()[0].counts));
  EXPECT_TRUE(ledger.compared("1"));
  EXPECT_FALSE(ledger.agrees("1", contest_->heats()[1].counts));
  EXPECT_TRUE(ledger.agrees("2", contest_->heats()[1].counts));
}

TEST_F(ContestTest, FailuresAndEndlessRunsAreToldAndOthersGoOn) {
  run({{"failing", [](Workers&) { return std::make_unique<Failing>(); }},
       {"endless", [](Workers&) { return std::make_unique<Endless>(); }},
       cpu("cpu")});
  const std::vector<Heat>& heats = contest_->heats();
  EXPECT_EQ(heats[0].error, "no device");
  EXPECT_TRUE(heats[0].counts.empty());
  EXPECT_FALSE(heats[1].complete);
  EXPECT_TRUE(heats[1].counts.empty());
  EXPECT_GE(heats[1].match, 0.19);
  EXPECT_EQ(heats[1].cache, 1e-6);
  EXPECT_EQ(heats[2].counts, (std::vector<Count>{1, 2}));
  EXPECT_EQ(result_.queries[0].added, Count{2});
}

TEST_F(ContestTest, WhoIsNotAdmittedDoesNothing) {
  run({cpu("a"), cpu("b")});
  contest_->admit({false, true});
  engine_->process(triangle(30, UpdateKind::insert_edge));
  EXPECT_TRUE(contest_->heats()[0].counts.empty());
  EXPECT_EQ(contest_->heats()[1].counts, (std::vector<Count>{0, 1}));
}

}  // namespace
}  // namespace deltamatch::bench
