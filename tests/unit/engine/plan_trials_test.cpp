// Plans are replaced if a batch shows that others take less time.
#include "engine/batch/plan_trials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

namespace deltamatch::engine {
namespace {

/// A graph whose statistics mislead. Two ends of an anchor have `wide` neighbours C in common and one D, although the lists of
/// D are longer. Other A and B share many D. The one D is joined to a single C.
class Misleading {
 public:
  static constexpr VertexId anchors = 64;
  static constexpr VertexId wide = 100;
  static constexpr VertexId half = 134;
  static constexpr int tries = 5;

  Misleading() : graph_(false, false) {
    const LabelId edge = graph_.edge_labels.intern("");
    const auto make = [&](const char* label, VertexId count) {
      const LabelId id = graph_.vertex_labels.intern(label);
      std::vector<VertexId> made;
      for (VertexId i = 0; i < count; ++i) made.push_back(graph_.dictionary.create(next_++, id));
      return made;
    };
    const auto a = make("A", 2 * anchors);
    const auto b = make("B", 2 * anchors);
    const auto c = make("C", wide);
    const auto d = make("D", 2 * half);
    graph::NetBatch start;
    const auto join = [&](VertexId u, VertexId v) { start.inserted.push_back(graph_.ranked(u, v, edge)); };
    for (VertexId i = 0; i < 2 * anchors; ++i) {
      for (const VertexId to : c) join(a[i], to), join(b[i], to);
      for (VertexId j = 0; j < 2 * half; ++j) {
        if (i >= anchors || j < half) join(a[i], d[j]);
        if (i >= anchors || j + 1 >= half) join(b[i], d[j]);
      }
    }
    join(c[0], d[half - 1]);
    std::sort(start.inserted.begin(), start.inserted.end());
    graph_.stage(start);
    graph_.settle(workers_);
    query_ = std::make_unique<StandingQuery>(parse_pattern("(a:A)--(b:B)--(c:C)--(d:D)--(a)--(c), (b)--(d)", "test"),
                                             QueryOptions{.list = true}, graph_);
    graph_.resolve_all();
    for (VertexId i = 0; i < anchors; ++i) batch_.inserted.push_back(graph_.ranked(a[i], b[i], edge));
    std::sort(batch_.inserted.begin(), batch_.inserted.end());
    graph_.stage(batch_);
    std::optional<double> closure;
    query_->refresh_plans(closure);
  }
  ~Misleading() { graph_.unstage(); }
  Misleading(const Misleading&) = delete;
  Misleading& operator=(const Misleading&) = delete;

  /// The query vertices in the order of the plan that starts from (a)--(b).
  [[nodiscard]] std::string order(const plan::QueryPlans& plans) const {
    for (const plan::Plan& plan : plans.plans) {
      if (plan.anchor.edge != 0) continue;
      std::string order;
      for (const plan::Level& level : plan.levels) order += query_->bound.query.vertices[level.vertex].name;
      return order;
    }
    return "none";
  }
  [[nodiscard]] plan::QueryPlans propose() const { return propose_plans(graph_, passes_, *query_, 1e9); }
  std::size_t try_all() { return try_plans(graph_, passes_, *query_, *cpu_, 1e9); }
  /// Trials are timed, and another process may take the time of one. So the test repeats them until the better plan is found.
  std::size_t try_all_some_times() {
    std::size_t replaced = 0;
    for (int i = 0; i < tries && replaced == 0; ++i) replaced = try_all();
    return replaced;
  }
  [[nodiscard]] std::string matches() {
    const match::QueryTask task{&query_->bound, &query_->plans, true};
    std::vector<match::QueryResult> results(passes_.size());
    for (match::QueryResult& result : results) result.plans.resize(query_->plans.plans.size());
    match::MatchSteps steps;
    cpu_->match(graph_, passes_, {&task, 1}, results, nullptr, steps);
    return to_string(match::total(task, results[1].plans));
  }

  StandingQuery& query() { return *query_; }
  PlanTrials trials;
  void run_trials() {
    StandingQuery* const one = query_.get();
    if (trials.due(passes_)) trials.run(graph_, passes_, {&one, 1}, *cpu_);
  }
  void expect() {
    StandingQuery* const one = query_.get();
    trials.expect(graph_, passes_, {&one, 1}, *cpu_);
  }
  [[nodiscard]] bool due() const { return trials.due(passes_); }

 private:
  Workers workers_{1};
  graph::DataGraph graph_;
  std::int64_t next_ = 0;
  graph::NetBatch batch_;
  std::unique_ptr<StandingQuery> query_;
  std::unique_ptr<match::Matcher> cpu_ = match::make_cpu_matcher(workers_);
  std::vector<match::PassWork> passes_{{match::Pass::removed, batch_.removed}, {match::Pass::added, {}}};

 public:
  void look_at_batch() { passes_[1].anchors = batch_.inserted; }
  /// The batch is said to have its edges many times.
  void look_at_large_batch() {
    for (int i = 0; i < 64; ++i) many_.insert(many_.end(), batch_.inserted.begin(), batch_.inserted.end());
    passes_[1].anchors = many_;
  }
  /// Settles the batch as if its edges had come one by one, and stages one more edge.
  void take_one_by_one() {
    for (const graph::Edge& edge : batch_.inserted) {
      passes_[1].anchors = {&edge, 1};
      trials.remember(passes_);
    }
    graph_.settle(workers_);
    last_.inserted = {batch_.inserted.back()};
    last_.inserted.back().head += 1;
    graph_.stage(last_);
    graph_.resolve_all();
    passes_[1].anchors = last_.inserted;
  }
  /// Removes the edges of the batch, and stages nothing.
  void forget_edges() {
    graph_.unstage();
    passes_[1].anchors = {};
    last_.inserted.clear();
    last_.removed = batch_.inserted;
    graph_.stage(last_);
    graph_.settle(workers_);
  }

 private:
  std::vector<graph::Edge> many_;
  graph::NetBatch last_;
};

TEST(PlanTrials, TakeTheOrderThatTheBatchAsksFor) {
  Misleading world;
  world.look_at_batch();
  ASSERT_EQ(world.order(world.query().plans), "cd");
  EXPECT_EQ(world.order(world.propose()), "dc");
  const std::string matches = world.matches();
  EXPECT_EQ(matches, std::to_string(Misleading::anchors));
  EXPECT_EQ(world.try_all_some_times(), 1U);
  EXPECT_EQ(world.order(world.query().plans), "dc");
  EXPECT_EQ(world.matches(), matches);
  EXPECT_EQ(world.try_all(), 0U) << "nothing better is left";
}

TEST(PlanTrials, WaitUntilMatchingHasTakenAWhile) {
  Misleading world;
  world.look_at_batch();
  world.run_trials();
  EXPECT_EQ(world.order(world.query().plans), "cd");
  world.trials.matched(PlanTrials::first_trial * 0.9);
  world.run_trials();
  EXPECT_EQ(world.order(world.query().plans), "cd");
  double all = 0;
  for (double more = 1000; more < 1e6 && world.order(world.query().plans) == "cd"; more *= 4) {  // as in try_all_some_times
    world.trials.matched(more);
    all += more;
    world.run_trials();
  }
  EXPECT_EQ(world.order(world.query().plans), "dc");
  EXPECT_GE(world.query().next_trial, 2 * all);
}

TEST(PlanTrials, EdgesOfSmallBatchesAreRemembered) {
  Misleading world;
  world.take_one_by_one();
  EXPECT_FALSE(world.due());
  for (double more = 1000; more < 1e6 && world.order(world.query().plans) == "cd"; more *= 4) {  // as in try_all_some_times
    world.trials.matched(more);
    ASSERT_TRUE(world.due());
    world.run_trials();
  }
  EXPECT_EQ(world.order(world.query().plans), "dc");
}

TEST(PlanTrials, EdgesThatAreGoneAreNotTried) {
  Misleading world;
  world.take_one_by_one();
  world.forget_edges();
  world.trials.matched(1000);
  world.run_trials();
  EXPECT_EQ(world.order(world.query().plans), "cd");
  EXPECT_EQ(world.query().next_trial, 2000);
}

TEST(PlanTrials, ALargeFirstBatchIsTimedBeforeItIsMatched) {
  Misleading world;
  world.trials.matched(PlanTrials::first_trial - 1e-9);
  world.look_at_batch();
  world.expect();
  EXPECT_FALSE(world.due()) << "a small batch is not timed";
  world.look_at_large_batch();
  EXPECT_FALSE(world.due());
  world.expect();
  EXPECT_TRUE(world.due());
  world.trials.matched(0);
  EXPECT_FALSE(world.due()) << "it was matched in no time";
}

TEST(PlanTrials, AnEmptyBatchChangesNothing) {
  Misleading world;  // its passes have no anchors yet
  EXPECT_EQ(world.try_all(), 0U);
  EXPECT_EQ(world.order(world.query().plans), "cd");
  world.trials.matched(1000);
  world.run_trials();
  EXPECT_EQ(world.query().next_trial, 0) << "the next batch is waited for";
}

}  // namespace
}  // namespace deltamatch::engine
