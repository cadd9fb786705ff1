#include "query/structure.hpp"

#include <gmock/gmock.h>

#include "unit/query/graphs.hpp"

namespace deltamatch::query {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Permutations, ComposeFirstThenSecond) {
  Permutation turn = identity();
  turn[0] = 1, turn[1] = 2, turn[2] = 0;
  Permutation swap = identity();
  swap[0] = 1, swap[1] = 0;
  const Permutation both = compose(turn, swap);
  EXPECT_EQ(both[0], 0);
  EXPECT_EQ(both[1], 2);
  EXPECT_EQ(both[2], 1);
  EXPECT_EQ(compose(turn, inverse(turn)), identity());
  EXPECT_EQ(compose(inverse(turn), turn), identity());
}

TEST(Twins, OfAStarAreItsLeaves) {
  const auto classes = twins(star(31));
  ASSERT_THAT(classes, SizeIs(1));
  EXPECT_THAT(classes[0].vertices, SizeIs(31));
  EXPECT_FALSE(classes[0].adjacent);
}

TEST(Twins, OfACliqueAreAllItsVertices) {
  const auto classes = twins(complete(32));
  ASSERT_THAT(classes, SizeIs(1));
  EXPECT_THAT(classes[0].vertices, SizeIs(32));
  EXPECT_TRUE(classes[0].adjacent);
}

TEST(Twins, NeedEqualLabelsAndEdges) {
  EXPECT_THAT(twins(parse_pattern("(h)-->(a:A), (h)-->(b:B)", "q")), IsEmpty());
  EXPECT_THAT(twins(parse_pattern("(h)-->(a), (h)-[:T]->(b)", "q")), IsEmpty());
  EXPECT_THAT(twins(parse_pattern("(h)-->(a), (h)<--(b)", "q")), IsEmpty());
  EXPECT_THAT(twins(parse_pattern("(h)-->(a), (h)--(b)", "q")), IsEmpty());
  EXPECT_THAT(twins(parse_pattern("(h)-->(a), (h)-->(b), (a)-->(b)", "q")), IsEmpty());
  EXPECT_THAT(twins(cycle(5)), IsEmpty());
  const auto classes = twins(parse_pattern("(h)-->(a:A), (h)-->(b:A), (h)-->(c), (h)-->(d), (c)--(d)", "q"));
  ASSERT_THAT(classes, SizeIs(2));
  EXPECT_THAT(classes[0].vertices, ElementsAre(1, 2));
  EXPECT_FALSE(classes[0].adjacent);
  EXPECT_THAT(classes[1].vertices, ElementsAre(3, 4));
  EXPECT_TRUE(classes[1].adjacent);
}

RC_GTEST_PROP(StructureProperty, KeepsWhatTheQuerySays, ()) {
  const Query query = *any_query(6);
  const Structure structure(query);
  Permutation p = identity();
  do {
    RC_ASSERT(structure.kept_by(p) == is_automorphism(query, p));
  } while (std::next_permutation(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(query.vertices.size())));
}

RC_GTEST_PROP(StructureProperty, TwinsAreThoseWhoseTranspositionIsAnAutomorphism, ()) {
  const Query query = *any_query(12);
  const auto classes = twins(query);
  for (Vertex u = 0; u < query.vertices.size(); ++u) {
    for (Vertex v = u + 1; v < query.vertices.size(); ++v) {
      Permutation swap = identity();
      std::swap(swap[u], swap[v]);
      const bool together = std::any_of(classes.begin(), classes.end(), [&](const TwinClass& each) {
        const auto holds = [&](Vertex w) { return std::binary_search(each.vertices.begin(), each.vertices.end(), w); };
        return holds(u) && holds(v);
      });
      RC_ASSERT(together == is_automorphism(query, swap));
    }
  }
  for (const TwinClass& each : classes) {
    const auto joined = std::count_if(query.edges.begin(), query.edges.end(), [&](const QueryEdge& edge) {
      const auto holds = [&](Vertex w) { return std::binary_search(each.vertices.begin(), each.vertices.end(), w); };
      return holds(edge.source) && holds(edge.target);
    });
    RC_ASSERT(each.adjacent == (joined > 0));
  }
}

}  // namespace
}  // namespace deltamatch::query
