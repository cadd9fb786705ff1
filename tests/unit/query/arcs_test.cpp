#include "query/arcs.hpp"

#include <gmock/gmock.h>

#include <set>

#include "unit/query/graphs.hpp"

namespace deltamatch::query {
namespace {

TEST(Arcs, DirectedEdgesGiveOneUndirectedTwo) {
  const Query query = parse_pattern("(a)-->(b)--(c)", "q");
  EXPECT_EQ(arcs(query), (std::vector<Arc>{{0, false}, {1, false}, {1, true}}));
  EXPECT_EQ(tail(query, {1, true}), 2U);
  EXPECT_EQ(head(query, {1, true}), 1U);
}

std::vector<std::size_t> orbit_sizes(const Query& query) {
  std::vector<std::size_t> result;
  for (const ArcOrbit& orbit : arc_orbits(query, Group(query))) result.push_back(orbit.members.size());
  return result;
}

TEST(ArcOrbits, OfSymmetricGraphsAreOne) {
  EXPECT_EQ(orbit_sizes(cycle(6, true)), std::vector<std::size_t>{6});
  EXPECT_EQ(orbit_sizes(cycle(6)), std::vector<std::size_t>{12});
  EXPECT_EQ(orbit_sizes(petersen()), std::vector<std::size_t>{30});
  EXPECT_EQ(orbit_sizes(complete(32)), std::vector<std::size_t>{32 * 31});
}

TEST(ArcOrbits, OfAStarAreOnePerOrientation) {
  EXPECT_EQ(orbit_sizes(star(31, true)), std::vector<std::size_t>{31});
  EXPECT_EQ(orbit_sizes(star(31)), (std::vector<std::size_t>{31, 31}));
}

TEST(ArcOrbits, OfAPathPairItsEnds) {
  EXPECT_EQ(orbit_sizes(path(4)), (std::vector<std::size_t>{2, 2, 2}));
  EXPECT_EQ(orbit_sizes(path(4, true)), (std::vector<std::size_t>{1, 1, 1}));
}

TEST(ArcOrbits, ParallelEdgesStayApart) {
  EXPECT_EQ(orbit_sizes(parse_pattern("(a)-[:A]->(b), (a)-[:B]->(b), (a)--(b)", "q")), (std::vector<std::size_t>{1, 1, 1, 1}));
  EXPECT_EQ(orbit_sizes(parse_pattern("(a)-[:A]->(b)-[:A]->(a), (a)--(b)", "q")), (std::vector<std::size_t>{2, 2}));
}

RC_GTEST_PROP(ArcsProperty, OrbitsAgreeWithAllAutomorphisms, ()) {
  const Query query = *any_query(7);
  const Group group(query);
  const EdgeAction action(query);
  const std::vector<Permutation> all = all_automorphisms(query);
  std::set<Arc> covered;
  for (const ArcOrbit& orbit : arc_orbits(query, group)) {
    std::set<Arc> expected;
    for (const Permutation& g : all) expected.insert(action.image(orbit.representative, g));
    RC_ASSERT(orbit.members == std::vector<Arc>(expected.begin(), expected.end()));
    RC_ASSERT(orbit.members.front() == orbit.representative);
    RC_ASSERT(orbit.transversal.size() == orbit.members.size());
    RC_ASSERT(orbit.transversal.front() == identity());
    for (std::size_t i = 0; i < orbit.members.size(); ++i) {
      RC_ASSERT(covered.insert(orbit.members[i]).second);
      RC_ASSERT(is_automorphism(query, orbit.transversal[i]));
      RC_ASSERT(action.image(orbit.representative, orbit.transversal[i]) == orbit.members[i]);
    }
    const Vertex ends[] = {tail(query, orbit.representative), head(query, orbit.representative)};
    RC_ASSERT(orbit.members.size() * group.stabiliser(ends).order() == group.order());
  }
  const std::vector<Arc> every = arcs(query);
  RC_ASSERT(covered == std::set<Arc>(every.begin(), every.end()));
}

RC_GTEST_PROP(ArcsProperty, ImagesHaveTheMappedEndsAndTheSameLabels, ()) {
  const Query query = *any_query(7);
  const EdgeAction action(query);
  for (const Permutation& g : all_automorphisms(query)) {
    for (const Arc arc : arcs(query)) {
      const Arc image = action.image(arc, g);
      RC_ASSERT(tail(query, image) == g[tail(query, arc)]);
      RC_ASSERT(head(query, image) == g[head(query, arc)]);
      RC_ASSERT(query.edges[image.edge].labels == query.edges[arc.edge].labels);
      RC_ASSERT(query.edges[image.edge].directed == query.edges[arc.edge].directed);
      RC_ASSERT(action.image(arc.edge, g) == image.edge);
    }
  }
}

}  // namespace
}  // namespace deltamatch::query
