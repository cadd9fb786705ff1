// The candidates that each step leaves, on graphs small enough to check by hand.
#include "filter/candidates.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/filter/support.hpp"

namespace deltamatch::filter {
namespace {

using Ids = std::vector<std::vector<VertexId>>;

TEST(Candidates, ByLabelAreTheVerticesThatAQueryVertexAdmits) {
  const Fixture f(false, {"A", "B", "A", "C", "B"}, {{0, 1, ""}, {2, 1, ""}, {3, 1, ""}}, "(a:A)--(b:A|B)--(c)");
  EXPECT_EQ(f.left(0), (Ids{{0, 2}, {0, 1, 2}, {0, 1, 2, 3}})) << "a vertex without edges is in no match";
}

TEST(Candidates, ByDegreeNeedListsAsLongAsTheQueryReads) {
  // 0 has three neighbours, two of them labelled B; 1 has two labelled B; 2 has one of each.
  const std::vector<std::string> labels{"A", "A", "A", "B", "B", "C"};
  const std::vector<DataEdge> edges{{0, 3, ""}, {0, 4, ""}, {0, 5, ""}, {1, 3, ""}, {1, 4, ""}, {2, 3, ""}, {2, 5, ""}};
  const std::string star = "(x:A)--(b1:B), (x)--(b2:B), (x)--(c:C)";
  EXPECT_EQ(Fixture(false, labels, edges, star).left(1)[0], (std::vector<VertexId>{0}));
  EXPECT_EQ(Fixture(false, labels, edges, star, MatchMode::edge_distinct).left(1)[0], (std::vector<VertexId>{0}));
  EXPECT_EQ(Fixture(false, labels, edges, star, MatchMode::homomorphism).left(1)[0], (std::vector<VertexId>{0, 2}))
      << "b1 and b2 may be one vertex";
}

TEST(Candidates, ByDegreeCountEdgesWhereOnlyEdgesAreDistinct) {
  // Two parallel edges lead to one neighbour. That is enough for two query edges whose far ends may coincide.
  const std::vector<std::string> labels{"A", "B"};
  const std::vector<DataEdge> edges{{0, 1, "x"}, {0, 1, "y"}};
  const std::string fork = "(a:A)-->(b1:B), (a)-->(b2:B)";
  EXPECT_EQ(Fixture(true, labels, edges, fork, MatchMode::edge_distinct).left(1)[0], (std::vector<VertexId>{0}));
}

TEST(Candidates, ByDegreeTellDirectionsAndEdgeLabelsApart) {
  const std::vector<DataEdge> edges{{0, 1, "x"}, {1, 2, "y"}, {2, 0, "x"}};
  EXPECT_EQ(Fixture(true, {"", "", ""}, edges, "(a)-[:x]->(b)-[:y]->(c)").left(1), (Ids{{0, 2}, {1}, {2}}));
  EXPECT_EQ(Fixture(true, {"", "", ""}, edges, "(a)-[:x]->(b)-[:x]->(c)").left(1), (Ids{{0, 2}, {0}, {0, 1}}));
}

TEST(Candidates, RefinedDropWhatLeadsToNoCandidateRoundByRound) {
  // A path A-B-C-D beside one that ends too early. Each round removes the next vertex of the latter.
  const std::vector<std::string> labels{"A", "B", "C", "D", "A", "B", "C", "E"};
  const std::vector<DataEdge> edges{{0, 1, ""}, {1, 2, ""}, {2, 3, ""}, {4, 5, ""}, {5, 6, ""}, {6, 7, ""}};
  const Fixture f(false, labels, edges, "(a:A)--(b:B)--(c:C)--(d:D)");
  EXPECT_EQ(f.left(1), (Ids{{0, 4}, {1, 5}, {2}, {3}}));
  EXPECT_EQ(f.left(2), (Ids{{0, 4}, {1}, {2}, {3}}));
  EXPECT_EQ(f.left(3), (Ids{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(f.left(4), f.left(3));
}

TEST(Candidates, RefinedNeedAsManyCandidatesAsTheQueryHasNeighbours) {
  // 0 has two neighbours labelled B, but only one of them has a neighbour C.
  const std::vector<std::string> labels{"A", "B", "B", "C"};
  const std::vector<DataEdge> edges{{0, 1, ""}, {0, 2, ""}, {1, 3, ""}};
  const std::string query = "(a:A)--(b1:B)--(c1:C), (a)--(b2:B)--(c2:C)";
  EXPECT_TRUE(Fixture(false, labels, edges, query).left(3)[0].empty());
  EXPECT_EQ(Fixture(false, labels, edges, query, MatchMode::homomorphism).left(3)[0], (std::vector<VertexId>{0}));
}

TEST(Candidates, AreAlikeWhereTheyAreTheSame) {
  const Fixture f(false, {"A", "B", "B"}, {{0, 1, ""}, {0, 2, ""}}, "(a:A)--(b:B), (a)--(c:B), (a)--(d)");
  Workers workers(1);
  Candidates candidates(f.query(), workers, never);
  candidates.by_label();
  EXPECT_EQ(candidates.alike(), (std::vector<Mask>{0b0001, 0b0110, 0b0110, 0b1000}));
}

TEST(Candidates, AreUnitedWhereTheyAreLittleApart) {
  // A clique of twelve vertices labelled A. Two of them have another neighbour labelled B. Beside it is a pair with these
  // labels.
  const VertexId clique = 12;
  std::vector<std::string> labels(clique, "A");
  std::vector<DataEdge> edges;
  for (VertexId v = 0; v < clique; ++v) {
    for (VertexId u = 0; u < v; ++u) edges.push_back({u, v, ""});
  }
  labels.insert(labels.end(), {"B", "B", "A", "B"});
  edges.insert(edges.end(), {{0, 12, ""}, {1, 13, ""}, {14, 15, ""}, {14, 0, ""}});
  const Fixture f(false, labels, edges, "(a:A)--(b:A), (b)--(c:A), (c)--(a), (c)--(d:B), (a)--(e)");
  const auto united = [&](double share) {
    Workers workers(1);
    Candidates candidates(f.query(), workers, never);
    candidates.by_label();
    candidates.by_degree();
    candidates.unite(share);
    const RemainingCandidates& left = candidates.left();
    return std::vector<std::uint64_t>(left.candidates.begin(), left.candidates.begin() + 5);
  };
  EXPECT_EQ(united(0), (std::vector<std::uint64_t>{12, 12, 2, 3, 16})) << "c has a neighbour labelled B";
  EXPECT_EQ(united(0.1), (std::vector<std::uint64_t>{12, 12, 2, 3, 16})) << "13 + 12 edges of 135";
  EXPECT_EQ(united(5), (std::vector<std::uint64_t>{12, 12, 12, 3, 16})) << "other labels are left apart";
}

TEST(Candidates, DoNotDependOnThreads) {
  std::vector<std::string> labels;
  std::vector<DataEdge> edges;
  constexpr VertexId vertices = 20000;
  for (VertexId v = 0; v < vertices; ++v) labels.push_back(v % 3 == 0 ? "A" : "B");
  for (VertexId v = 0; v + 1 < vertices; ++v) {
    edges.push_back({v, v + 1, ""});
    if (v % 7 == 0 && v + 9 < vertices) edges.push_back({v, v + 9, ""});
  }
  const Fixture f(false, labels, edges, "(a:A)--(b:B)--(c:B)--(d:A)--(a), (a)--(e:A)");
  EXPECT_EQ(f.left(4, 1), f.left(4, 3));
}

}  // namespace
}  // namespace deltamatch::filter
