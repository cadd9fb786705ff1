// Which plans decide for others of their family.
#include "match/family_rule.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "deltamatch/query.hpp"

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
    return {};
  }
  [[nodiscard]] FamilyRule rule() const {
    return {tasks_, [](std::size_t, std::size_t) { return true; }};
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
  EXPECT_EQ(rule.leader(shortest), nullptr);
  for (const PlanRef& longer : {at(1, "t_4"), at(2, "t_5")}) {
    const PlanRef* leader = rule.leader(longer);
    ASSERT_NE(leader, nullptr);
    EXPECT_EQ(leader->task, 0U);
    EXPECT_EQ(leader->plan, shortest.plan);
  }
}

TEST_F(FamilyRuleTest, APlanThatNeedsLessIsNotLed) {
  add("(a)-[t:T]->(b)-[u:U]->(c) WHERE t.time < u.time WITHIN 1h");
  add("(a)-[t:T]->(b)-[u:U]->(c) WHERE t.time < u.time WITHIN 2h");
  add("(a)-[t:T]->(b)-[u]->(c) WHERE t.time < u.time WITHIN 1h");
  add("(a)-[t:T]->(b)<-[u:U]-(c) WHERE t.time < u.time WITHIN 1h");
  add("(a)-[t:T]->(b)-[u:U]->(c) WHERE t.time < u.time WITHIN 30m");
  const FamilyRule rule = this->rule();
  EXPECT_EQ(rule.leader(at(1, "t")), nullptr) << "it admits later edges";
  EXPECT_EQ(rule.leader(at(2, "t")), nullptr) << "it admits other labels";
  EXPECT_EQ(rule.leader(at(3, "t")), nullptr) << "it looks against the arrow";
  ASSERT_NE(rule.leader(at(4, "t")), nullptr) << "it needs more";
  EXPECT_EQ(rule.leader(at(4, "t"))->task, 0U);
}

TEST_F(FamilyRuleTest, QueriesOfTheirOwnDecideForThemselves) {
  add("(a)-[t:T]->(b)-[u:U]->(c) WHERE t.time < u.time");
  add("(a)-[t:T]->(b)-[u:U]->(c) WHERE t.time < u.time");
  tasks_[1].family = 1;
  const FamilyRule rule = this->rule();
  EXPECT_EQ(rule.leader(at(1, "t")), nullptr);
}

}  // namespace
}  // namespace deltamatch::match
