#include "query/automorphism.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "unit/query/graphs.hpp"

namespace deltamatch::query {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Count factorial(unsigned n) {
  Count result = 1;
  for (unsigned i = 2; i <= n; ++i) result *= i;
  return result;
}

// Count has no printer of its own.
void expect_order(const Query& query, Count expected) {
  const auto start = std::chrono::steady_clock::now();
  const Group group(query);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(to_string(group.order()), to_string(expected)) << to_pattern(query);
  for (const Permutation& g : group.generators()) EXPECT_TRUE(is_automorphism(query, g)) << to_pattern(query);
  EXPECT_LT(seconds.count(), 2.0) << to_pattern(query);  // milliseconds; sanitizers and busy machines are slower
}

TEST(AutomorphismGroup, OfCompleteGraphs) {
  for (std::uint32_t n = 2; n <= 32; ++n) expect_order(complete(n), factorial(n));
}

TEST(AutomorphismGroup, OfCycles) {
  for (std::uint32_t n = 3; n <= 32; ++n) {
    expect_order(cycle(n), 2 * n);
    expect_order(cycle(n, true), n);
  }
}

TEST(AutomorphismGroup, OfPaths) {
  for (std::uint32_t n = 2; n <= 32; ++n) {
    expect_order(path(n), 2);
    expect_order(path(n, true), 1);
  }
}

TEST(AutomorphismGroup, OfStarsUpTo31Leaves) {
  for (std::uint32_t leaves = 2; leaves <= 31; ++leaves) {
    expect_order(star(leaves), factorial(leaves));
    expect_order(star(leaves, true), factorial(leaves));
  }
}

TEST(AutomorphismGroup, OfFamousGraphs) {
  expect_order(petersen(), 120);
  expect_order(hypercube(3), 48);
  expect_order(hypercube(4), 384);
  expect_order(hypercube(5), 3840);
  expect_order(grid(4, 8), 4);
  expect_order(grid(5, 5), 8);
}

TEST(AutomorphismGroup, OfCompleteBipartiteGraphs) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t u = 0; u < 16; ++u) {
    for (std::uint32_t v = 16; v < 32; ++v) edges.emplace_back(u, v);
  }
  expect_order(unlabelled(32, edges), 2 * factorial(16) * factorial(16));
  expect_order(unlabelled(32, edges, true), factorial(16) * factorial(16));
}

// A path of 16 in which each vertex has a leaf. And one vertex with 15 pendant paths of length two: twins of twins.
TEST(AutomorphismGroup, OfTrees) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> comb;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> spider;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> binary;
  for (std::uint32_t v = 0; v < 16; ++v) {
    if (v > 0) comb.emplace_back(v - 1, v);
    comb.emplace_back(v, v + 16);
  }
  for (std::uint32_t v = 1; v <= 15; ++v) {
    spider.emplace_back(0, v);
    spider.emplace_back(v, v + 15);
  }
  for (std::uint32_t v = 1; v < 31; ++v) binary.emplace_back((v - 1) / 2, v);
  expect_order(unlabelled(32, comb), 2);
  expect_order(unlabelled(31, spider), factorial(15));
  expect_order(unlabelled(31, binary), Count{1} << 15);
}

// 16 pairs of twins along a cycle. Each pair can swap, and the cycle can turn and flip.
TEST(AutomorphismGroup, OfTwinsAroundACycle) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t v = 0; v < 16; ++v) {
    const std::uint32_t w = (v + 1) % 16;
    for (const auto& [s, t] : {std::pair{v, w}, {v + 16, w}, {v, w + 16}, {v + 16, w + 16}}) edges.emplace_back(s, t);
  }
  expect_order(unlabelled(32, edges), (Count{1} << 16) * 32);
}

// Strongly regular graphs with equal parameters, which refinement cannot distinguish: the 4x4 rook's graph (1152 automorphisms)
// and Shrikhande's (192). Each is tested alone, and both with every vertex of one joined to every vertex of the other.
TEST(AutomorphismGroup, OfStronglyRegularGraphs) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rook;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> shrikhande;
  for (std::uint32_t u = 0; u < 16; ++u) {
    for (std::uint32_t v = u + 1; v < 16; ++v) {
      if (u / 4 == v / 4 || u % 4 == v % 4) rook.emplace_back(u, v);
      const std::pair<std::uint32_t, std::uint32_t> step{(v / 4 - u / 4 + 4) % 4, (v + 4 - u % 4) % 4};
      const std::set<std::pair<std::uint32_t, std::uint32_t>> steps{{0, 1}, {0, 3}, {1, 0}, {3, 0}, {1, 1}, {3, 3}};
      if (steps.contains(step)) shrikhande.emplace_back(u, v);
    }
  }
  expect_order(unlabelled(16, rook), 1152);
  expect_order(unlabelled(16, shrikhande), 192);
  auto joined = rook;
  for (const auto& [u, v] : shrikhande) joined.emplace_back(u + 16, v + 16);
  for (std::uint32_t u = 0; u < 16; ++u) {
    for (std::uint32_t v = 16; v < 32; ++v) joined.emplace_back(u, v);
  }
  expect_order(unlabelled(32, joined), Count{1152} * 192);
}

// One hub over rings that refinement cannot distinguish from the hub: five 6-cycles against pairs of triangles.
TEST(AutomorphismGroup, OfCyclesAndTrianglesUnderOneHub) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t ring = 0; ring < 5; ++ring) {
    for (std::uint32_t i = 0; i < 6; ++i) {
      const std::uint32_t v = 1 + 6 * ring + i;
      edges.emplace_back(0, v);
      edges.emplace_back(v, ring < 2 ? 1 + 6 * ring + (i + 1) % 6 : 1 + 6 * ring + i / 3 * 3 + (i + 1) % 3);
    }
  }
  // Two hexagons: 12^2 * 2!; six triangles: 6^6 * 6!.
  expect_order(unlabelled(31, edges), Count{12 * 12 * 2} * (46656 * 720));
}

TEST(AutomorphismGroup, KeepsVertexLabels) {
  Query query = star(6);
  query.vertices[1].labels = {"A"};
  query.vertices[2].labels = {"A"};
  query.vertices[3].labels = {"A", "B"};  // a set of its own, although A is in it
  query.vertices[4].labels = {""};        // the empty label is not "any label"
  expect_order(query, 4);                 // 1 and 2 may swap, and so may 5 and 6
}

TEST(AutomorphismGroup, KeepsEdgeLabelsDirectionsAndDirectedness) {
  Query query = cycle(4, true);
  expect_order(query, 4);
  query.edges[0].labels = {"T"};
  expect_order(query, 1);
  query.edges[2].labels = {"T"};
  expect_order(query, 2);
  query.edges[1].directed = query.edges[3].directed = false;
  expect_order(query, 2);
  query.edges[0].directed = query.edges[2].directed = false;
  expect_order(query, 4);
}

TEST(AutomorphismGroup, KeepsParallelEdges) {
  Query query = unlabelled(3, {{0, 1}, {1, 2}}, true);
  query.edges.push_back({1, 0, {}, true});
  query.edges.push_back({2, 1, {}, true});
  expect_order(query, 2);
  query.edges.push_back({1, 0, {"T"}, true});
  expect_order(query, 1);
  query.edges.push_back({1, 2, {"T"}, true});
  expect_order(query, 2);
  query.edges.push_back({0, 2, {}, false});
  expect_order(query, 2);
  query.edges.push_back({0, 2, {}, true});
  expect_order(query, 1);
}

TEST(AutomorphismGroup, TrivialGroupHasNoLevels) {
  const Group group(path(5, true));
  EXPECT_THAT(group.chain(), IsEmpty());
  EXPECT_THAT(group.generators(), IsEmpty());
  EXPECT_THAT(group.orbit(3), ElementsAre(3));
  EXPECT_THAT(order_constraints(group), IsEmpty());
}

TEST(AutomorphismGroup, StabiliserFixesItsVerticesOnly) {
  const Group group(cycle(6));
  const Vertex zero[] = {0};
  const Group fixing = group.stabiliser(zero);
  EXPECT_EQ(to_string(fixing.order()), "2");
  EXPECT_THAT(fixing.orbit(1), ElementsAre(1, 5));
  EXPECT_THAT(fixing.orbit(3), ElementsAre(3));
  const Vertex ends[] = {0, 1};
  EXPECT_EQ(to_string(fixing.stabiliser(std::span(ends).subspan(1)).order()), "1");
  EXPECT_EQ(to_string(group.stabiliser(ends).order()), "1");
  EXPECT_EQ(to_string(group.stabiliser({}).order()), "12");
}

TEST(OrderConstraints, OfATriangleAreATotalOrder) {
  EXPECT_THAT(order_constraints(Group(complete(3))), ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2)));
}

TEST(OrderConstraints, OfADirectedCycleNameItsLeast) {
  EXPECT_THAT(order_constraints(Group(cycle(4, true))), ElementsAre(Pair(0, 1), Pair(0, 2), Pair(0, 3)));
}

TEST(OrderConstraints, OfA31LeafStarOrderItsLeaves) { EXPECT_EQ(order_constraints(Group(star(31))).size(), 31U * 30 / 2); }

// All products of one element of the transversal per level.
std::vector<Permutation> elements(const Group& group) {
  std::vector<Permutation> result{identity()};
  for (const Level& level : group.chain()) {
    std::vector<Permutation> longer;
    for (const Permutation& before : result) {
      for (const Permutation& t : level.transversal) longer.push_back(compose(t, before));
    }
    result = std::move(longer);
  }
  return result;
}

RC_GTEST_PROP(AutomorphismProperty, ChainHoldsEveryAutomorphismOnce, ()) {
  const Query query = *any_query(7);
  const Group group(query);
  std::vector<Permutation> expected = all_automorphisms(query);
  std::vector<Permutation> found = elements(group);
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  RC_ASSERT(found == expected);
  RC_ASSERT(group.order() == expected.size());
}

RC_GTEST_PROP(AutomorphismProperty, LevelsAreStabiliserOrbits, ()) {
  const Query query = *any_query(7);
  const Group group(query);
  const std::vector<Permutation> all = all_automorphisms(query);
  std::map<Vertex, Level> levels;
  for (const Level& level : group.chain()) levels.emplace(level.base, level);
  for (Vertex base = 0; base < query.vertices.size(); ++base) {
    std::set<Vertex> orbit;
    for (const Permutation& g : all) {
      if (std::equal(g.begin(), g.begin() + base, identity().begin())) orbit.insert(g[base]);
    }
    if (orbit.size() == 1) {
      RC_ASSERT(!levels.contains(base));
      continue;
    }
    const Level& level = levels.at(base);
    RC_ASSERT(level.orbit == std::vector<Vertex>(orbit.begin(), orbit.end()));
    RC_ASSERT(level.orbit.size() == level.transversal.size());
    RC_ASSERT(level.transversal[0] == identity());
    for (std::size_t i = 0; i < level.orbit.size(); ++i) {
      const Permutation& t = level.transversal[i];
      RC_ASSERT(t[base] == level.orbit[i]);
      for (Vertex v = 0; v < base; ++v) RC_ASSERT(t[v] == v);
      RC_ASSERT(is_automorphism(query, t));
    }
  }
}

RC_GTEST_PROP(AutomorphismProperty, StabilisersAndOrbitsAgreeWithAllAutomorphisms, ()) {
  const Query query = *any_query(7);
  const Group group(query);
  const std::vector<Permutation> all = all_automorphisms(query);
  const auto n = static_cast<Vertex>(query.vertices.size());
  const auto fixed = *rc::gen::container<std::vector<Vertex>>(rc::gen::inRange<Vertex>(0, n));
  const Group stabiliser = group.stabiliser(fixed);
  const auto fixes = [&](const Permutation& g) {
    return std::all_of(fixed.begin(), fixed.end(), [&](Vertex v) { return g[v] == v; });
  };
  RC_ASSERT(stabiliser.order() == static_cast<Count>(std::count_if(all.begin(), all.end(), fixes)));
  for (Vertex v = 0; v < n; ++v) {
    std::set<Vertex> orbit;
    for (const Permutation& g : all) {
      if (fixes(g)) orbit.insert(g[v]);
    }
    RC_ASSERT(stabiliser.orbit(v) == std::vector<Vertex>(orbit.begin(), orbit.end()));
  }
}

/// As many distinct numbers as the query has vertices, in random order.
std::vector<int> distinct_values(const Query& query) {
  return *rc::gen::unique<std::vector<int>>(query.vertices.size(), rc::gen::inRange(0, 1000));
}

template <typename T>
std::vector<T> permuted(const std::vector<T>& values, const Permutation& g) {
  std::vector<T> result;
  for (std::size_t v = 0; v < values.size(); ++v) result.push_back(values[g[v]]);
  return result;
}

RC_GTEST_PROP(AutomorphismProperty, ConstraintsKeepOneOfEachClass, ()) {
  const Query query = *any_query(7);
  const std::vector<int> values = distinct_values(query);
  const std::vector<OrderConstraint> constraints = order_constraints(Group(query));
  std::vector<std::vector<int>> kept;
  std::vector<std::vector<int>> all;
  for (const Permutation& g : all_automorphisms(query)) {
    all.push_back(permuted(values, g));
    const bool satisfied = std::all_of(constraints.begin(), constraints.end(),
                                       [&](const OrderConstraint& c) { return all.back()[c.first] < all.back()[c.second]; });
    if (satisfied) kept.push_back(all.back());
  }
  RC_ASSERT(kept.size() == 1U);
  RC_ASSERT(kept.front() == *std::min_element(all.begin(), all.end()));
}

RC_GTEST_PROP(AutomorphismProperty, ConstraintsAreSortedAndClosed, ()) {
  const std::vector<OrderConstraint> constraints = order_constraints(Group(*any_query(10)));
  RC_ASSERT(std::is_sorted(constraints.begin(), constraints.end()));
  for (const auto& [a, b] : constraints) {
    for (const auto& [c, d] : constraints) {
      if (b == c) RC_ASSERT(std::binary_search(constraints.begin(), constraints.end(), OrderConstraint{a, d}));
    }
  }
}

RC_GTEST_PROP(AutomorphismProperty, LeastImageIsLeastOfAll, ()) {
  const Query query = *any_query(8);
  const std::vector<int> values = distinct_values(query);
  std::vector<int> least(values.size());
  std::vector<int> greatest(values.size());
  const Group group(query);
  const Permutation g = least_image<int>(group, values, least);
  const Permutation h = least_image<int>(group, values, greatest, std::greater<>());
  RC_ASSERT(is_automorphism(query, g) && is_automorphism(query, h));
  RC_ASSERT(permuted(values, g) == least);
  RC_ASSERT(permuted(values, h) == greatest);
  for (const Permutation& any : all_automorphisms(query)) {
    RC_ASSERT(least <= permuted(values, any));
    RC_ASSERT(greatest >= permuted(values, any));
  }
}

RC_GTEST_PROP(AutomorphismProperty, GroupsOfRenumberedQueriesHaveTheSameOrder, ()) {
  const Query query = *any_query(32);
  Permutation p = identity();
  std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
  std::shuffle(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(query.vertices.size()), random);
  Query renumbered = query;
  for (std::size_t v = 0; v < query.vertices.size(); ++v) renumbered.vertices[p[v]] = query.vertices[v];
  for (QueryEdge& edge : renumbered.edges) edge = {p[edge.source], p[edge.target], edge.labels, edge.directed};
  const Group group(query);
  RC_ASSERT(group.order() == Group(renumbered).order());
  for (const Permutation& g : group.generators()) RC_ASSERT(is_automorphism(query, g));
}

// The group acts on regular graphs that refinement leaves in one cell. The search must not explode.
TEST(AutomorphismGroup, OfRandomRegularGraphsIsFoundQuickly) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    const std::uint32_t degree = 3 + round % 6;
    std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::uint32_t v = 0; v < 32; ++v) edges.insert(std::minmax({v, (v + 1) % 32}));
    for (std::uint32_t d = 2; d < degree; ++d) {  // one more perfect matching
      std::vector<std::uint32_t> order(32);
      std::iota(order.begin(), order.end(), 0U);
      std::shuffle(order.begin(), order.end(), random);
      for (std::size_t i = 0; i < 32; i += 2) edges.insert(std::minmax({order[i], order[i + 1]}));
    }
    const auto start = std::chrono::steady_clock::now();
    const Group group(unlabelled(32, {edges.begin(), edges.end()}));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), 5.0) << "round " << round;
    EXPECT_GE(group.order(), Count{1});
  }
}

}  // namespace
}  // namespace deltamatch::query
