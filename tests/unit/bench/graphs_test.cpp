// The benchmark's graphs are simple, have the degrees asked for, and are equal for any number of threads. Their check notices
// graphs that are not.
#include "bench/harness/graphs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "deltamatch/error.hpp"

namespace deltamatch::bench {
namespace {

std::vector<VertexPair> edges_of(const Graph& graph) {
  const auto span = graph.edges.span();
  return {span.begin(), span.end()};
}

using Make = Graph (*)(bool directed, std::uint64_t seed, Workers& workers);

class Generated : public testing::TestWithParam<std::pair<const char*, Make>> {
 protected:
  Workers one_{1};
  Workers four_{4};
  [[nodiscard]] Graph make(Workers& workers, std::uint64_t seed = 7) const { return GetParam().second(false, seed, workers); }
};

TEST_P(Generated, EdgesAreDistinctAndInRangeAndNoLoops) {
  const Graph graph = make(four_);
  const std::vector<VertexPair> edges = edges_of(graph);
  ASSERT_FALSE(edges.empty());
  EXPECT_EQ(std::set<VertexPair>(edges.begin(), edges.end()).size(), edges.size());
  for (const auto& [a, b] : edges) ASSERT_TRUE(a < b && b < graph.vertices);
}

TEST_P(Generated, ThreadsMakeNoDifferenceAndSeedsDo) {
  EXPECT_EQ(edges_of(make(one_)), edges_of(make(four_)));
  EXPECT_NE(edges_of(make(one_)), edges_of(make(one_, 8)));
}

TEST_P(Generated, DegreesAreAsExpected) {
  const Graph graph = make(four_);
  const DegreeReport report = check_degrees(graph, four_);
  EXPECT_TRUE(report.ok) << "worst " << report.worst << ", largest " << report.largest << " of " << graph.expected.largest;
  EXPECT_DOUBLE_EQ(report.mean, 2.0 * static_cast<double>(graph.edges.size()) / static_cast<double>(report.linked));
}

TEST_P(Generated, OtherDegreesAreNoticed) {
  Graph graph = make(four_);
  for (double& mean : graph.expected.mean) mean *= 1.2;
  EXPECT_FALSE(check_degrees(graph, four_).ok);
  Graph capped = make(four_);
  capped.expected.largest = 3;
  EXPECT_FALSE(check_degrees(capped, four_).ok);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Generated,
    testing::Values(std::pair<const char*, Make>{"rmat",
                                                 [](bool directed, std::uint64_t seed, Workers& workers) {
                                                   return make_rmat({.scale = 15, .edges = 250'000, .directed = directed}, seed,
                                                                    workers);
                                                 }},
                    std::pair<const char*, Make>{
                        "social",
                        [](bool directed, std::uint64_t seed, Workers& workers) {
                          return make_social({.vertices = 50'001, .edges = 250'000, .max_degree = 400, .directed = directed},
                                             seed, workers);
                        }},
                    std::pair<const char*, Make>{"grid",
                                                 [](bool, std::uint64_t seed, Workers& workers) {
                                                   return make_grid({.width = 300, .height = 200}, seed, workers);
                                                 }}),
    [](const auto& kind) { return std::string(kind.param.first); });

TEST(Graphs, DirectedEdgesGoBothWays) {
  Workers workers(2);
  const std::vector<VertexPair> edges = edges_of(make_rmat({.scale = 10, .edges = 5000, .directed = true}, 1, workers));
  EXPECT_TRUE(std::any_of(edges.begin(), edges.end(), [](const VertexPair& edge) { return edge.first > edge.second; }));
  EXPECT_EQ(std::set<VertexPair>(edges.begin(), edges.end()).size(), edges.size());
}

TEST(Graphs, LabelsAreUniform) {
  Workers workers(2);
  const std::vector<std::uint8_t> labels = draw_labels(60'000, 6, 1, workers);
  for (std::uint8_t label = 0; label < 6; ++label) {
    EXPECT_NEAR(static_cast<double>(std::count(labels.begin(), labels.end(), label)), 10'000, 400);
  }
}

TEST(Changes, InsertionsLeaveTheGraphAndDeletionsStay) {
  Workers workers(2);
  Graph graph = make_rmat({.scale = 12, .edges = 20'000}, 3, workers);
  const std::vector<VertexPair> before = edges_of(graph);
  const std::vector<Change> changes = draw_changes(graph, 2000, 5);
  const std::vector<VertexPair> after = edges_of(graph);
  const std::set<VertexPair> start(after.begin(), after.end());
  ASSERT_EQ(start.size(), after.size());
  std::set<VertexPair> all = start;
  std::size_t insertions = 0;
  for (const Change& change : changes) {
    EXPECT_EQ(start.contains(change.edge), !change.insert);
    all.insert(change.edge);
    insertions += change.insert ? 1 : 0;
  }
  EXPECT_EQ(all, std::set<VertexPair>(before.begin(), before.end()));
  EXPECT_EQ(after.size() + insertions, before.size());
  EXPECT_NEAR(static_cast<double>(insertions), 1000, 150);
  EXPECT_THROW((void)draw_changes(graph, 1'000'000, 5), Error);
}

}  // namespace
}  // namespace deltamatch::bench
