// Partitions by edge label give every vertex's neighbours, and numbers by labels make intervals of what belongs together.
#include "bench/label_partitions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace deltamatch::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<LabelEdges> random_edges(std::mt19937& random, VertexId vertices, std::size_t labels, std::size_t edges) {
  std::vector<std::set<graph::EdgeEnds>> sets(labels);
  for (std::size_t i = 0; i < edges; ++i) {
    const VertexId a = random() % vertices;
    const VertexId b = random() % vertices;
    if (a != b) sets[random() % labels].insert({std::min(a, b), std::max(a, b)});
  }
  std::vector<LabelEdges> all;
  for (const auto& set : sets) all.emplace_back(set.begin(), set.end());
  return all;
}

template <class Index>
void expect_neighbours(const LabelEdges& edges, VertexId vertices) {
  std::map<VertexId, std::set<VertexId>> expected;
  for (const auto& [tail, head] : edges) {
    expected[tail].insert(head);
    expected[head].insert(tail);
  }
  const Partition<Index> partition(make_rows(edges));
  for (VertexId v = 0; v < vertices + 3; ++v) {
    const auto found = partition.find(v);
    ASSERT_EQ(std::vector<VertexId>(found.begin(), found.end()), std::vector<VertexId>(expected[v].begin(), expected[v].end()));
  }
}

TEST(LabelPartitions, FindsTheNeighboursOfEveryVertex) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const VertexId vertices = 2 + random() % 60;
    const auto edges = random_edges(random, vertices, 1 + random() % 5, random() % 200);
    const std::vector<VertexId> to = number_by_labels(vertices, edges);
    ASSERT_EQ(std::set<VertexId>(to.begin(), to.end()).size(), vertices);
    ASSERT_LT(*std::max_element(to.begin(), to.end()), vertices);
    for (const LabelEdges& label : edges) {
      expect_neighbours<Intervals>(label, vertices);
      expect_neighbours<Slots>(label, vertices);
      expect_neighbours<Intervals>(renumbered(label, to), vertices);
      ASSERT_EQ(renumbered(label, to).size(), label.size());
    }
  }
}

TEST(LabelPartitions, NoEdgesAreNoRows) {
  const Partition<Intervals> intervals(make_rows({}));
  const Partition<Slots> slots(make_rows({}));
  EXPECT_THAT(intervals.find(0), IsEmpty());
  EXPECT_THAT(slots.find(0), IsEmpty());
}

/// Two labels among the even vertices, a third among those divisible by 3: as they are, each vertex is an interval of its own.
TEST(LabelPartitions, NumbersByLabelsMakeIntervalsLong) {
  constexpr VertexId vertices = 60;
  std::vector<LabelEdges> edges(3);
  for (VertexId v = 0; v + 6 < vertices; ++v) {
    if (v % 2 == 0) edges[0].push_back({v, v + 2});
    if (v % 2 == 0) edges[1].push_back({v, v + 4});
    if (v % 3 == 0) edges[2].push_back({v, v + 3});
  }
  const std::vector<VertexId> to = number_by_labels(vertices, edges);
  std::vector<std::size_t> before;
  std::vector<std::size_t> after;
  for (const LabelEdges& label : edges) {
    before.push_back(Intervals(make_rows(label).vertices).size());
    after.push_back(Intervals(make_rows(renumbered(label, to)).vertices).size());
  }
  EXPECT_THAT(before, ElementsAre(28, 29, 19));
  EXPECT_THAT(after, ElementsAre(1, 1, testing::Le(2)));
}

}  // namespace
}  // namespace deltamatch::bench
