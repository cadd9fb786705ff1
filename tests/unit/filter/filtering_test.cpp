// What the course of filtering leaves for matching to read.
#include "filter/filtering.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

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

std::set<graph::ReadingId> readings(const plan::BoundQuery& query) {
  std::set<graph::ReadingId> all;
  for (const plan::BoundEdge& edge : query.edges) all.insert(edge.reading.begin(), edge.reading.end());
  return all;
}

class Filters : public testing::Test {
 protected:
  void run(Fixture& fixture, Filter how) {
    filtering_.run(fixture.query(), fixture.graph(), how, Numbering::of_graph, workers_, stop_);
  }
  Workers workers_{1};
  std::atomic<bool> stop_ = false;
  Filtering filtering_;
};

TEST_F(Filters, LeaveListsSharedWhereTheyTakeLittleOut) {
  Fixture f = clique_with_an_ear(20, "(a)--(b)--(c)--(d)--(a), (a)--(c)");
  run(f, Filter::degree);
  const FilterReport report = filtering_.take_report();
  ASSERT_TRUE(report.used);
  EXPECT_EQ(report.steps[1].candidates, (std::vector<std::uint64_t>{20, 21, 20, 21}));
  EXPECT_EQ(readings(f.query()).size(), 1) << "a plan reuses what it has read for another query vertex";
}

TEST_F(Filters, KeepListsApartWhereTheyTakeMuchOut) {
  Fixture f = clique_with_an_ear(3, "(a)--(b)--(c)--(d)--(a), (a)--(c)");
  run(f, Filter::degree);
  EXPECT_EQ(filtering_.take_report().steps.back().candidates, (std::vector<std::uint64_t>{2, 4, 2, 4}));
  EXPECT_GT(readings(f.query()).size(), 1);
}

TEST_F(Filters, GiveTheGraphBack) {
  Fixture f = clique_with_an_ear(20, "(a)--(b)--(c)--(d)--(a), (a)--(c)");
  const std::set<graph::ReadingId> before = readings(f.query());
  run(f, Filter::refine);
  EXPECT_NE(readings(f.query()), before);
  filtering_.discard_lists(f.query());
  EXPECT_EQ(readings(f.query()), before);
  EXPECT_FALSE(f.graph().resolve(*before.begin()).lent);
  EXPECT_FALSE(filtering_.take_report().used);
}

}  // namespace
}  // namespace deltamatch::filter
