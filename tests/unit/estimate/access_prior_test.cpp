// The look-ups that a prior expects.
#include "estimate/access_prior.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <span>
#include <vector>

#include "unit/estimate/support.hpp"

namespace deltamatch::estimate {
namespace {

using testing::IsEmpty;

constexpr StoredVertex at(VertexId vertex, graph::StoreKind store = graph::StoreKind::base) { return {vertex, store}; }

// A prior, and a graph that has no edges until vertex 0 is joined to all others.
class Priors : public testing::Test {
 protected:
  Priors() { world_.add(parse_pattern("(a)--(b)--(c)", "test")); }
  void make_star(VertexId leaves) {
    world_.make_star(0, leaves);
    world_.stage();
  }
  // The expected look-ups of vertices whose lists take memory.
  std::vector<Access> expect(std::span<const Access> accesses, const BytesOf& bytes, std::size_t budget) {
    const Posterior posterior = prior_.posterior_of(world_.graph, accesses, bytes, budget);
    std::vector<Access> all;
    for (const Expected& one : posterior.lists) {
      if (one.bytes > 0) all.push_back({one.at, posterior.times(one.usual, one.found)});
    }
    return all;
  }

  World world_{{.vertices = 102, .edges = 0, .inserted = 0, .removed = 0}, 1};
  Workers workers_{1};
  AccessPrior prior_{workers_};
};

// Ten lists of a star's leaves, and the long one of its centre. Walks found one leaf once, and that stands for all look-ups.
TEST_F(Priors, LongListsAreExpectedAndSingleFindingsDoubted) {
  make_star(101);
  const auto bytes = [](const StoredVertex& v) -> std::size_t {
    return v.store != graph::StoreKind::base ? 0 : v.vertex == 0 ? 900 : 1;
  };
  // The findings stand for 500 look-ups each, of 900 + 101 bytes. All lists are first expected by length, then each around the
  // mean of its length.
  const auto given = [](double mean, double found) { return (1 + found) / (1 / mean + 1.0 / 500); };
  const double of_long = given(1000 * 900 / 1001.0, 0);
  const double of_short = given(1000 * 101 / 1001.0, 2) / 101;
  const auto expected = expect(std::vector<Access>{{at(3), 500}, {at(7), 500}}, bytes, 900);
  ASSERT_EQ(expected.size(), 3);
  EXPECT_EQ(expected[0].at, at(0));
  EXPECT_NEAR(expected[0].times, given(of_long, 0), 1e-6) << "never found, but long";
  for (const std::size_t i : {1, 2}) {
    EXPECT_EQ(expected[i].at, at(i == 1 ? 3 : 7));
    EXPECT_NEAR(expected[i].times, given(of_short, 1), 1e-6) << "found once, but short";
  }
  EXPECT_THAT(expect({}, bytes, 900), IsEmpty()) << "nothing to look up";
}

// Lists of medium length are found again and again, long ones never. The findings gradually replace what the length suggests.
TEST_F(Priors, LearnsWhichLengthsAreLookedUp) {
  make_star(99);
  const auto bytes = [](const StoredVertex& v) -> std::size_t {
    if (v.store != graph::StoreKind::base || v.vertex >= 100) return 0;
    return v.vertex < 50 ? 1000 : 300;
  };
  std::vector<Access> found;
  for (VertexId v = 50; v < 100; v += 2) found.push_back({at(v), 10});
  std::map<VertexId, double> times;
  for (const Access& one : expect(found, bytes, 100 * 1000)) times[one.at.vertex] = one.times;
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
  const std::vector<Access> leaves{{at(3), 500}, {at(7), 500}};
  const std::vector<Access> with_hub{{at(0), 500}, {at(3), 500}};
  ASSERT_EQ(expect(leaves, bytes, 900).size(), 3);
  hub = 90'000;
  const auto given = [](double mean, double found) { return (1 + found) / (1 / mean + 1.0 / 500); };
  const auto unfound = expect(leaves, bytes, 900);
  ASSERT_EQ(unfound.size(), 3) << "the hub is the longest as it was";
  EXPECT_EQ(unfound[0].at, at(0));
  EXPECT_NEAR(unfound[0].times, given(given(1000 * 90'000 / 91'001.0, 0), 0), 1e-6) << "by its share of all bytes";
  const auto found = expect(with_hub, bytes, 900);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].at, at(0));
  EXPECT_NEAR(found[0].times, given(given(1000 * 90'000 / 91'001.0, 1), 1), 1e-6);
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
  for (VertexId v = 0; v < 50; ++v) found.push_back({at(v), 10});
  expect(found, bytes, 1000);
  grown = 50;
  const auto expected = expect(found, bytes, 1000);
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
  EXPECT_THAT(expect(std::vector<Access>{{at(3), 10}}, bytes, 400), IsEmpty());
  make_star(101);
  const auto expected = expect(std::vector<Access>{{at(3), 10}, {at(7), 10}}, bytes, 400);
  ASSERT_EQ(expected.size(), 3);
  EXPECT_EQ(expected[0].at, at(0)) << "never found, but by now the longest";
  EXPECT_GT(expected[0].times, expected[1].times);
  EXPECT_EQ(expected[1].at, at(3));
  EXPECT_EQ(expected[2].at, at(7));
}

}  // namespace
}  // namespace deltamatch::estimate
