// What matching reads of a filtered graph: lists of candidates only, with the same edges at both ends, in the requested
// numbering.
#include "filter/pruned_lists.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "unit/filter/support.hpp"

namespace deltamatch::filter {
namespace {

using Pairs = std::set<std::pair<VertexId, VertexId>>;

class Pruned {
 public:
  /// `steps` as in Fixture::left.
  Pruned(Fixture& fixture, int steps, Numbering numbering) : fixture_(&fixture), candidates_(fixture.query(), workers_, never) {
    candidates_.by_label();
    if (steps > 0) candidates_.by_degree();
    for (int round = 1; round < steps; ++round) candidates_.refine();
    lists_ = std::make_unique<PrunedLists>(fixture.query(), candidates_, numbering, workers_, stop_);
    lists_->lend(fixture.query(), fixture.graph());
  }

  /// The data edges (source, target) to which a query edge can be mapped, read from the lists at one end.
  [[nodiscard]] Pairs read(std::uint32_t edge, unsigned end) const {
    Pairs pairs;
    const graph::Resolved& where = fixture_->graph().resolve(fixture_->query().edges[edge].query_relation[end]);
    for (VertexId vertex = 0; vertex < where.store->vertices(); ++vertex) {
      for (const VertexId neighbour : where.store->ids(vertex, where.relation)) {
        pairs.insert(end == 0 ? std::pair{vertex, neighbour} : std::pair{neighbour, vertex});
      }
    }
    return pairs;
  }
  [[nodiscard]] const Candidates& candidates() const { return candidates_; }
  [[nodiscard]] const PrunedLists& lists() const { return *lists_; }

 private:
  Fixture* fixture_;
  Workers workers_{1};
  std::atomic<bool> stop_ = false;
  Candidates candidates_;
  std::unique_ptr<PrunedLists> lists_;
};

// B0 and B1 lead to the same kind of vertex, but only B1 leads to two of them. 3 is a candidate of b0, not of b1.
const std::vector<std::string> labels{"A", "A", "B", "B", "C", "C"};
const std::vector<DataEdge> edges{{0, 2, ""}, {0, 3, ""}, {1, 2, ""}, {2, 4, ""}, {2, 5, ""}, {3, 4, ""}};
const std::string pattern = "(a:A)--(b0:B)--(c0:C), (a)--(b1:B)--(c1:C), (b1)--(c2:C)";

TEST(PrunedLists, HoldBothEndsOfAnEdgeToTheirCandidates) {
  for (const int steps : {0, 1, 2}) {
    Fixture f(false, labels, edges, pattern);
    const Pruned pruned(f, steps, Numbering::of_graph);
    for (std::uint32_t e = 0; e < f.query().edges.size(); ++e) {
      const auto candidate = [&](VertexId vertex, std::uint32_t of) {
        return (pruned.candidates().of(vertex) >> of & 1u) != 0;
      };
      Pairs expected;
      for (const DataEdge& edge : edges) {
        for (const auto& [source, target] : {std::pair{edge.source, edge.target}, std::pair{edge.target, edge.source}}) {
          if (!candidate(source, f.query().edges[e].source) || !candidate(target, f.query().edges[e].target)) continue;
          expected.emplace(source, target);
        }
      }
      for (const unsigned end : {0u, 1u}) EXPECT_EQ(pruned.read(e, end), expected) << "edge " << e << " at end " << end;
    }
  }
}

TEST(PrunedLists, AreSharedByQueryVerticesWithTheSameCandidates) {
  const std::string star = "(a:A)--(b0:B), (a)--(b1:B)";
  Fixture f(false, labels, edges, star);
  const Pruned pruned(f, 2, Numbering::of_graph);
  EXPECT_EQ(f.query().edges[0].query_relation, f.query().edges[1].query_relation);
  EXPECT_EQ(pruned.lists().entries(), 4) << "0 has two neighbours and 1 is no candidate; two and back";
  Fixture other(false, labels, edges, pattern);
  const Pruned apart(other, 2, Numbering::of_graph);
  EXPECT_NE(other.query().edges[1].query_relation[0], other.query().edges[3].query_relation[0])
      << "c0 and c1 are alike, b0 and b1 are not";
}

TEST(PrunedLists, NumberVerticesByAscendingDegree) {
  // Degrees 1, 3, 2, 3, 1: vertices of the same degree keep their order.
  const std::vector<std::string> same(5);
  Fixture f(false, same, {{0, 1, ""}, {1, 2, ""}, {1, 3, ""}, {2, 3, ""}, {3, 4, ""}}, "(a)--(b)");
  const Pruned pruned(f, 0, Numbering::by_degree);
  const std::vector<VertexId> number{0, 3, 2, 4, 1};
  Pairs expected;
  for (const auto& [source, target] : {std::pair{0, 1}, {1, 2}, {1, 3}, {2, 3}, {3, 4}}) {
    expected.emplace(number[source], number[target]);
    expected.emplace(number[target], number[source]);
  }
  EXPECT_EQ(pruned.read(0, 0), expected);
  const graph::Resolved& where = f.graph().resolve(f.query().edges[0].query_relation[0]);
  const auto ids = where.store->ids(3, where.relation);
  EXPECT_TRUE(std::ranges::is_sorted(ids)) << "1 leads to 0, 2 and 3";
  EXPECT_EQ(ids.size(), 3);
}

TEST(PrunedLists, KeepParallelEdgesApartInAnotherNumbering) {
  Fixture f(true, {"", "", ""}, {{0, 1, "x"}, {0, 1, "y"}, {0, 2, "y"}, {1, 2, "x"}}, "(a)-->(b)");
  const Pruned pruned(f, 0, Numbering::by_degree);
  EXPECT_EQ(pruned.lists().entries(), 8) << "each edge at both ends";
  // Degrees 3, 3, 2: vertex 2 comes first.
  const graph::Resolved& where = f.graph().resolve(f.query().edges[0].query_relation[0]);
  const graph::List list = where.store->list(1, where.relation);
  ASSERT_EQ(list.size, 3);
  EXPECT_EQ((std::vector<VertexId>{list.ids, list.ids + 3}), (std::vector<VertexId>{0, 2, 2}));
  EXPECT_LT(list.tags[1], list.tags[2]);
}

}  // namespace
}  // namespace deltamatch::filter
