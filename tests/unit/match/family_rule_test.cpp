// Which plans decide for others of their family.
#include "match/family_rule.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/query.hpp"
#include "match/plan_index.hpp"

namespace deltamatch::match {
namespace {

/// Queries bound to an empty graph of events, as tasks of one family.
class FamilyRuleTest : public testing::Test {
 protected:
  void add(const Query& query) {
    bound_.push_back(std::make_unique<plan::BoundQuery>(query, MatchMode::isomorphism, CountMode::subgraphs, graph_));
    plans_.push_back(std::make_unique<plan::QueryPlans>(plan::make_delta_plans(*bound_.back())));
    tasks_.push_back({bound_.back().get(), plans_.back().get(), false});
  }
  void add(const std::string& pattern) {
    for (const Query& variant : variants(parse_pattern(pattern, "q"))) add(variant);
  }

  /// The plan of a task whose anchor is the query edge with this name.
  [[nodiscard]] PlanRef at(std::uint32_t task, const std::string& edge) const {
    for (std::uint32_t p = 0; p < plans_[task]->plans.size(); ++p) {
      if (bound_[task]->query.edges[plans_[task]->plans[p].anchor.edge].name == edge) return {task, p, true};
    }
    ADD_FAILURE() << "no plan begins with " << edge;
    return {task, 0, true};
  }
  [[nodiscard]] FamilyRule rule() const {
    return {tasks_, [](std::size_t, std::size_t) { return 1; }};
  }
  /// The plan that leads another one; nothing: the other leads, or is tried alone.
  [[nodiscard]] static std::optional<FamilyRule::Member> leader(const FamilyRule& rule, const PlanRef& plan) {
    const FamilyRule::Place place = rule.place(plan.task, plan.plan);
    if (place.group == FamilyRule::none || place.number == 0) return std::nullopt;
    const auto& own = rule.members(place.group)[place.number];
    EXPECT_EQ(own.task, plan.task);
    EXPECT_EQ(own.plan, plan.plan);
    return rule.members(place.group)[0];
  }

  graph::DataGraph graph_{true, false, graph::heap_slabs(), {EdgeModel::events, {}, {}}};
  std::vector<std::unique_ptr<plan::BoundQuery>> bound_;
  std::vector<std::unique_ptr<plan::QueryPlans>> plans_;
  std::vector<QueryTask> tasks_;
};

TEST_F(FamilyRuleTest, TheShortestRingDecidesForLongerOnes) {
  add("(a)-[t:T WHERE t.time > prev(t).time]->{3,5}(a) WITHIN 1d");
  const FamilyRule rule = this->rule();
  ASSERT_EQ(tasks_.size(), 3U);
  const PlanRef shortest = at(0, "t_3");
  EXPECT_EQ(leader(rule, shortest), std::nullopt);
  for (const PlanRef& longer : {at(1, "t_4"), at(2, "t_5")}) {
    const auto by = leader(rule, longer);
    ASSERT_NE(by, std::nullopt);
    EXPECT_EQ(by->task, 0U);
    EXPECT_EQ(by->plan, shortest.plan);
  }
}

TEST_F(FamilyRuleTest, APlanThatNeedsLessIsNotLed) {
  add("(a)-[t:T]->(b)-[u:U]->(c) WHERE t.time < u.time WITHIN 1h");
  add("(a)-[t:T]->(b)-[u:U]->(c) WHERE t.time < u.time WITHIN 2h");
  add("(a)-[t:T]->(b)-[u]->(c) WHERE t.time < u.time WITHIN 1h");
  add("(a)-[t:T]->(b)<-[u:U]-(c) WHERE t.time < u.time WITHIN 1h");
  add("(a)-[t:T]->(b)-[u:U]->(c) WHERE t.time < u.time WITHIN 30m");
  const FamilyRule rule = this->rule();
  EXPECT_EQ(leader(rule, at(1, "t")), std::nullopt) << "it admits later edges";
  EXPECT_EQ(leader(rule, at(2, "t")), std::nullopt) << "it admits other labels";
  EXPECT_EQ(leader(rule, at(3, "t")), std::nullopt) << "it looks against the arrow";
  ASSERT_NE(leader(rule, at(4, "t")), std::nullopt) << "it needs more";
  EXPECT_EQ(leader(rule, at(4, "t"))->task, 0U);
}

TEST_F(FamilyRuleTest, QueriesOfTheirOwnDecideForThemselves) {
  add("(a)-[t:T]->(b)-[u:U]->(c) WHERE t.time < u.time");
  add("(a)-[t:T]->(b)-[u:U]->(c) WHERE t.time < u.time");
  tasks_[1].family = 1;
  const FamilyRule rule = this->rule();
  EXPECT_EQ(leader(rule, at(1, "t")), std::nullopt);
}

TEST_F(FamilyRuleTest, PlansOfAnotherKindAreNotLed) {
  add("(a)-[t:T WHERE t.time > prev(t).time]->{3,4}(a) WITHIN 1d");
  const PlanRef longer = at(1, "t_4");
  const FamilyRule rule(tasks_, [](std::size_t task, std::size_t) { return task == 0 ? 1 : 2; });
  EXPECT_EQ(leader(rule, longer), std::nullopt);
  const FamilyRule none(tasks_, [](std::size_t task, std::size_t) { return task == 0 ? 1 : 0; });
  EXPECT_EQ(none.place(longer.task, longer.plan).group, FamilyRule::none);
}

}  // namespace
}  // namespace deltamatch::match
