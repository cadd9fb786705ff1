// The lists that a filter run leaves for matching to read.
#include "filter/filtering.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "match/plan_index.hpp"
#include "unit/filter/support.hpp"

namespace deltamatch::filter {
namespace {

// A clique, and a vertex that is joined to two of its vertices.
Fixture clique_with_an_ear(VertexId clique, const std::string& pattern) {
  std::vector<DataEdge> edges{{0, clique, ""}, {1, clique, ""}};
  for (VertexId v = 0; v < clique; ++v) {
    for (VertexId u = 0; u < v; ++u) edges.push_back({u, v, ""});
  }
  return {false, std::vector<std::string>(clique + 1), edges, pattern};
}

std::set<graph::QueryRelationId> query_relations(const plan::BoundQuery& query) {
  std::set<graph::QueryRelationId> all;
  for (const plan::BoundEdge& edge : query.edges) all.insert(edge.query_relation.begin(), edge.query_relation.end());
  return all;
}

// Fails like the heap without memory. With a reason, it fails like unified memory that exceeds a device.
class FewSlabs final : public graph::SlabAllocator {
 public:
  void* allocate(std::size_t bytes) override {
    if (full && tells) throw graph::SlabShortage("slabs", "are few");
    if (full) throw std::bad_alloc();
    return graph::heap_slabs().allocate(bytes);
  }
  void release(void* slab, std::size_t bytes) noexcept override { graph::heap_slabs().release(slab, bytes); }
  bool full = false;
  bool tells = false;
};

class Filters : public testing::Test {
 protected:
  void run(Fixture& fixture, Filter how) {
    filtering_.run(fixture.query(), fixture.graph(), how, Numbering::of_graph, workers_, stop_);
  }
  Workers workers_{1};
  std::atomic<bool> stop_ = false;
  FewSlabs slabs_;  // outlives the lists made of them
  Filtering filtering_;
};

TEST_F(Filters, LeaveListsSharedWhereTheyTakeLittleOut) {
  Fixture f = clique_with_an_ear(20, "(a)--(b)--(c)--(d)--(a), (a)--(c)");
  run(f, Filter::degree);
  const FilterReport report = filtering_.take_report();
  ASSERT_TRUE(report.used);
  EXPECT_EQ(report.steps[1].candidates, (std::vector<std::uint64_t>{20, 21, 20, 21}));
  EXPECT_EQ(query_relations(f.query()).size(), 1) << "a plan reuses what it has read for another query vertex";
}

TEST_F(Filters, LeaveStepsOut) {
  const auto steps_without = [&](FilterWithout without) {
    Fixture f = clique_with_an_ear(20, "(a)--(b)--(c)--(d)--(a), (a)--(c)");
    Filtering filtering;
    filtering.run(f.query(), f.graph(), Filter::refine, Numbering::of_graph, workers_, stop_, nullptr, without);
    std::set<std::string> names;
    for (const FilterStep& step : filtering.take_report().steps) names.emplace(step.name);
    return names;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(steps_without({}), (Names{"label", "degree", "refine", "unite"}));
  EXPECT_EQ(steps_without({.degree = true}), (Names{"label", "refine", "unite"}));
  EXPECT_EQ(steps_without({.refine = true}), (Names{"label", "degree", "unite"}));
  EXPECT_EQ(steps_without({.unite = true}), (Names{"label", "degree", "refine"}));
}

// For the vertices of the square's ends, only degrees reveal the ear. Refinement without degrees must count entries itself.
TEST_F(Filters, RefineAsFarWithoutDegrees) {
  std::vector<std::vector<std::uint64_t>> left;
  for (const bool degree : {false, true}) {
    Fixture f = clique_with_an_ear(3, "(a)--(b)--(c)--(d)--(a), (a)--(c)");
    Filtering filtering;
    filtering.run(f.query(), f.graph(), Filter::refine, Numbering::of_graph, workers_, stop_, nullptr,
                  {.degree = degree, .unite = true});
    left.push_back(filtering.take_report().steps.back().candidates);
  }
  EXPECT_EQ(left[0], left[1]) << "a list's entries that lead to candidates are at most its length";
}

TEST_F(Filters, KeepListsApartWhereTheyTakeMuchOut) {
  Fixture f = clique_with_an_ear(3, "(a)--(b)--(c)--(d)--(a), (a)--(c)");
  run(f, Filter::degree);
  EXPECT_EQ(filtering_.take_report().steps.back().candidates, (std::vector<std::uint64_t>{2, 4, 2, 4}));
  EXPECT_GT(query_relations(f.query()).size(), 1);
}

// The lists differ by query vertex. An anchor concerns the plans whose ends it fits, in their orientation.
TEST_F(Filters, AnchorsConcernPlansWhoseListsHoldThem) {
  Fixture f(false, {"A", "B", "A", "B", "B"}, {{0, 1, ""}, {0, 2, ""}, {0, 3, ""}, {1, 4, ""}}, "(c)--(d:A), (c)--(e)");
  for (const bool filtered : {false, true}) {
    if (filtered) run(f, Filter::label);
    const plan::QueryPlans plans = plan::make_delta_plans(f.query());
    const match::QueryTask task{&f.query(), &plans, false};
    const std::vector<graph::Resolved> resolved = f.graph().resolved();
    match::PlanIndex plan_index(f.graph(), {&task, 1}, resolved);
    const auto to_d = [&](VertexId tail, VertexId head) {  // those whose anchor is c to d, or back
      std::vector<std::uint32_t> ends;
      for (const match::PlanRef& ref : plan_index.of({tail, head, f.graph().edge_labels.intern("")})) {
        const plan::Plan& plan = plans.plans[ref.plan];
        if (plan.anchor.edge == 0) ends.push_back(plan.tail);
      }
      return ends;
    };
    EXPECT_EQ(to_d(0, 1), (std::vector<std::uint32_t>{1})) << "only the tail can be d";
    EXPECT_EQ(to_d(1, 4), (std::vector<std::uint32_t>{}));
    EXPECT_EQ(to_d(0, 2).size(), 2);
  }
}

TEST_F(Filters, LeaveTheGraphWhereThereIsNoRoomForLists) {
  Fixture f(false, {"A", "B", "A", "B"}, {{0, 1, ""}, {1, 2, ""}, {2, 3, ""}}, "(a:A)--(b:B)", MatchMode::isomorphism, slabs_);
  const std::set<graph::QueryRelationId> before = query_relations(f.query());
  slabs_.full = true;
  for (const bool tells : {false, true}) {
    slabs_.tells = tells;
    run(f, Filter::degree);
    EXPECT_EQ(query_relations(f.query()), before);
    EXPECT_FALSE(filtering_.take_report().used);
  }
  slabs_.full = false;
  run(f, Filter::degree);
  EXPECT_NE(query_relations(f.query()), before) << "there were lists to make";
}

TEST_F(Filters, ThatAreStoppedClaimNothing) {
  Fixture f = clique_with_an_ear(20, "(a)--(b)--(c)--(d)--(a), (a)--(c)");
  const std::set<graph::QueryRelationId> before = query_relations(f.query());
  const std::atomic<bool> stop = true;
  filtering_.run(f.query(), f.graph(), Filter::refine, Numbering::of_graph, workers_, stop);
  EXPECT_FALSE(filtering_.no_match());
  EXPECT_TRUE(filtering_.take_report().steps.empty());
  EXPECT_EQ(query_relations(f.query()), before);
}

TEST_F(Filters, GiveTheGraphBack) {
  Fixture f = clique_with_an_ear(20, "(a)--(b)--(c)--(d)--(a), (a)--(c)");
  const std::set<graph::QueryRelationId> before = query_relations(f.query());
  run(f, Filter::refine);
  EXPECT_NE(query_relations(f.query()), before);
  filtering_.discard_lists(f.query());
  EXPECT_EQ(query_relations(f.query()), before);
  EXPECT_FALSE(f.graph().resolve(*before.begin()).lent);
  EXPECT_FALSE(filtering_.take_report().used);
}

}  // namespace
}  // namespace deltamatch::filter
