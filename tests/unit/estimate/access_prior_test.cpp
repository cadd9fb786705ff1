// The look-ups that a prior expects.
#include "estimate/access_prior.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "unit/estimate/support.hpp"

namespace deltamatch::estimate {
namespace {

using testing::IsEmpty;

constexpr StoredVertex at(VertexId vertex, graph::StoreKind store = graph::StoreKind::base) { return {vertex, store}; }

// Look-ups that are estimated from drawn visits, which stand for many or for few others.
constexpr Access drawn(VertexId vertex, double times) { return {at(vertex), times, {0, times, 0, 0}}; }
constexpr Access drawn_lightly(VertexId vertex, double times) { return {at(vertex), times, {times, 0, 0, 0}}; }

// A prior, and a graph that has no edges until vertex 0 is joined to all others.
class Priors : public testing::Test {
 protected:
  Priors() { world_.add(parse_pattern("(a)--(b)--(c)", "test")); }
  void make_star(VertexId leaves) {
    world_.make_star(0, leaves);
    world_.stage();
  }
  // The expected look-ups of vertices whose lists take memory.
  std::vector<Access> expect(std::vector<Access> lists, std::array<double, drawn_kinds> noise, const BytesOf& bytes,
                             std::size_t budget) {
    Accesses accesses;
    accesses.lists = std::move(lists);
    accesses.noise = noise;
    const Posterior posterior = prior_.posterior_of(world_.graph, accesses, bytes, budget);
    shape_ = posterior.shape;
    std::vector<Access> all;
    for (const Expected& one : posterior.lists) {
      if (one.bytes > 0) all.push_back({one.at, posterior.times(one.usual, one.found)});
    }
    return all;
  }

  World world_{{.vertices = 102, .edges = 0, .inserted = 0, .removed = 0}, 1};
  Workers workers_{1};
  AccessPrior prior_{workers_};
  double shape_ = 0;  // that the last posterior had
};

// Ten lists of a star's leaves, and the long one of its centre. Walks found one leaf once, and that stands for all look-ups.
TEST_F(Priors, LongListsAreExpectedAndSingleFindingsDoubted) {
  make_star(101);
  const auto bytes = [](const StoredVertex& v) -> std::size_t {
    return v.store != graph::StoreKind::base ? 0 : v.vertex == 0 ? 900 : 1;
  };
  // The findings stand for 500 look-ups each, of 900 + 101 bytes. All lists are first expected by length, then each around the
  // mean of its length.
  const auto given = [](double mean, double found, double shape) { return (shape + found) / (shape / mean + 1.0 / 500); };
  const double of_long = given(1000 * 900 / 1001.0, 0, 1);
  const double of_short = given(1000 * 101 / 1001.0, 2, 1) / 101;
  const auto expected = expect({drawn(3, 500), drawn(7, 500)}, {0, 500}, bytes, 900);
  ASSERT_EQ(expected.size(), 3);
  EXPECT_EQ(expected[0].at, at(0));
  EXPECT_NEAR(expected[0].times, given(of_long, 0, shape_), 1e-6) << "never found, but long";
  for (const std::size_t i : {1, 2}) {
    EXPECT_EQ(expected[i].at, at(i == 1 ? 3 : 7));
    EXPECT_NEAR(expected[i].times, given(of_short, 1, shape_), 1e-6) << "found once, but short";
  }
  EXPECT_THAT(expect({}, {}, bytes, 900), IsEmpty()) << "nothing to look up";
}

// What was counted needs no prior: the lists that were found have their look-ups, and others have none, however long they are.
TEST_F(Priors, CountedLookUpsAreExact) {
  make_star(101);
  const auto bytes = [](const StoredVertex& v) -> std::size_t {
    return v.store != graph::StoreKind::base ? 0 : v.vertex == 0 ? 900 : 1;
  };
  const auto expected = expect({{at(3), 3}, {at(7), 0.5}}, {}, bytes, 900);
  ASSERT_EQ(expected.size(), 3);
  EXPECT_EQ(expected[0].times, 0) << "the long one";
  EXPECT_EQ(expected[1].times, 3);
  EXPECT_EQ(expected[2].times, 0.5);
}

// Trust follows the probability of a visit. The more look-ups a finding stands for, the closer the expectation is to the prior.
TEST_F(Priors, FindingsAreTrustedAsTheirProbabilitySays) {
  make_star(101);
  const auto bytes = [](const StoredVertex& v) -> std::size_t { return v.store != graph::StoreKind::base ? 0 : 100; };
  double last = 1000;
  for (const double noise : {0.001, 1.0, 30.0, 1000.0, 1e6}) {
    const auto expected = expect({drawn(3, 1000)}, {0, noise}, bytes, 0);
    ASSERT_EQ(expected.size(), 1);
    EXPECT_LT(expected[0].times, last) << noise;
    last = expected[0].times;
    if (noise < 0.01) {
      EXPECT_NEAR(last, 1000, 1);
    }
  }
  EXPECT_NEAR(last, 1000.0 / 102, 0.1) << "by then it is the mean of 102 lists of this length";
}

// If lists of a length differ more than visits make them, findings are trusted more.
TEST_F(Priors, LearnsHowMuchListsOfALengthDiffer) {
  make_star(101);
  const auto bytes = [](const StoredVertex& v) -> std::size_t { return v.store != graph::StoreKind::base ? 0 : 100; };
  std::vector<Access> alike;
  for (VertexId v = 0; v < 102; ++v) alike.push_back(drawn(v, 100));
  alike[7] = drawn(7, 200);
  const double doubted = expect(alike, {0, 100}, bytes, 0)[7].times;
  EXPECT_GT(shape_, 5);
  std::vector<Access> unlike;
  for (VertexId v = 0; v < 102; v += 17) unlike.push_back(drawn(v, v == 17 ? 200 : 2000));
  const double trusted = expect(unlike, {0, 100}, bytes, 0)[1].times;
  EXPECT_LT(shape_, 0.2);
  EXPECT_LT(doubted, 120);
  EXPECT_GT(trusted, 150);
}

// What one kind of visit finds is tempered by itself. A list that likely visits find may be found by unlikely ones, too.
TEST_F(Priors, TempersEveryKindOfVisitByItself) {
  make_star(101);
  const auto bytes = [](const StoredVertex& v) -> std::size_t { return v.store != graph::StoreKind::base ? 0 : 100; };
  const auto expected = expect({{at(3), 50}, drawn_lightly(5, 50), drawn(7, 50)}, {0.001, 1e9}, bytes, 0);
  ASSERT_EQ(expected.size(), 3);
  EXPECT_NEAR(expected[0].times, 50 + 50.0 / 102, 0.01) << "as counted, and what unlikely visits may have missed";
  EXPECT_NEAR(expected[1].times, 50 + 50.0 / 102, 1) << "nearly as counted";
  EXPECT_NEAR(expected[2].times, 50.0 / 102, 0.01);
}

// Lists of medium length are found again and again, long ones never. The findings gradually replace what the length suggests.
TEST_F(Priors, LearnsWhichLengthsAreLookedUp) {
  make_star(99);
  const auto bytes = [](const StoredVertex& v) -> std::size_t {
    if (v.store != graph::StoreKind::base || v.vertex >= 100) return 0;
    return v.vertex < 50 ? 1000 : 300;
  };
  std::vector<Access> found;
  for (VertexId v = 50; v < 100; v += 2) found.push_back(drawn(v, 10));
  std::map<VertexId, double> times;
  for (const Access& one : expect(found, {0, 10}, bytes, 100 * 1000)) times[one.at.vertex] = one.times;
  ASSERT_EQ(times.size(), 100);
  EXPECT_GT(times[51], 5 * times[1]) << "neither was found, but one is of a length that is";
  EXPECT_GT(times[50], times[51]) << "that was found";
}

// The counts of the graph are some batches old. Lists that are now longer than any was then are expected all the same.
TEST_F(Priors, ExpectsListsThatHaveOutgrownWhatWasCounted) {
  make_star(101);
  std::size_t hub = 900;
  const auto bytes = [&](const StoredVertex& v) -> std::size_t {
    return v.store != graph::StoreKind::base ? 0 : v.vertex == 0 ? hub : 1;
  };
  const std::vector leaves{drawn(3, 500), drawn(7, 500)};
  const std::vector with_hub{drawn(0, 500), drawn(3, 500)};
  ASSERT_EQ(expect(leaves, {0, 500}, bytes, 900).size(), 3);
  hub = 90'000;
  const auto given = [](double mean, double found, double shape) { return (shape + found) / (shape / mean + 1.0 / 500); };
  const auto unfound = expect(leaves, {0, 500}, bytes, 900);
  ASSERT_EQ(unfound.size(), 3) << "the hub is the longest as it was";
  EXPECT_EQ(unfound[0].at, at(0));
  EXPECT_NEAR(unfound[0].times, given(given(1000 * 90'000 / 91'001.0, 0, 1), 0, shape_), 1e-6) << "by its share of all bytes";
  const auto found = expect(with_hub, {0, 500}, bytes, 900);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].at, at(0));
  EXPECT_NEAR(found[0].times, given(given(1000 * 90'000 / 91'001.0, 1, 1), 1, shape_), 1e-6);
  EXPECT_GT(found[0].times, found[1].times);
}

// A class had one list and now has many. It must not expect from each list what it expects from all.
TEST_F(Priors, SharesWhatALengthMakesExpectAmongAllListsThatAreFound) {
  make_star(101);
  VertexId grown = 1;  // vertices with smaller numbers have long lists
  const auto bytes = [&](const StoredVertex& v) -> std::size_t {
    return v.store != graph::StoreKind::base ? 0 : v.vertex < grown ? 1000 : 1;
  };
  std::vector<Access> found;
  for (VertexId v = 0; v < 50; ++v) found.push_back(drawn(v, 10));
  expect(found, {0, 10}, bytes, 1000);
  grown = 50;
  const auto expected = expect(found, {0, 10}, bytes, 1000);
  ASSERT_EQ(expected.size(), 50);
  double all = 0;
  for (const Access& one : expected) all += one.times;
  EXPECT_NEAR(all, 500, 10);
}

TEST_F(Priors, FollowsAGraphThatGrowsFromNothing) {
  world_.graph.resolve_all();
  const auto bytes = [&](const StoredVertex& v) -> std::size_t {
    return v.store != graph::StoreKind::base ? 0 : 4 * std::size_t{world_.graph.degree(v.vertex)};
  };
  EXPECT_THAT(expect({drawn(3, 10)}, {0, 10}, bytes, 400), IsEmpty());
  make_star(101);
  const auto expected = expect({drawn(3, 10), drawn(7, 10)}, {0, 10}, bytes, 400);
  ASSERT_EQ(expected.size(), 3);
  EXPECT_EQ(expected[0].at, at(0)) << "never found, but by now the longest";
  EXPECT_GT(expected[0].times, expected[1].times);
  EXPECT_EQ(expected[1].at, at(3));
  EXPECT_EQ(expected[2].at, at(7));
}

}  // namespace
}  // namespace deltamatch::estimate
