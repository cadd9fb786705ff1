// Lists of edges in order of time, compared with plain vectors under random insertions and removals.
#include "graph/time_lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace deltamatch::graph {
namespace {

/// A graph of events with two edge labels and two vertex labels, and its lists.
class TimeListsTest : public testing::TestWithParam<bool> {
 protected:
  TimeListsTest() {
    vertex_labels_ = {empty_label, graph_.vertex_labels.intern("A")};
    edge_labels_ = {empty_label, graph_.edge_labels.intern("T")};
    for (std::int64_t id = 0; id < 12; ++id) graph_.dictionary.create(id, vertex_labels_[static_cast<std::size_t>(id % 2)]);
  }

  Edge create(VertexId tail, VertexId head, LabelId label, std::optional<Timestamp> time) {
    const Edge ends = graph_.ranked(tail, head, 0);
    const Slot slot = graph_.edge_table->create({.tail = ends.tail, .head = ends.head, .label = label, .time = time}, {});
    return {ends.tail, ends.head, slot};
  }
  void apply(const std::vector<Edge>& inserted, const std::vector<Edge>& removed) {
    NetBatch batch;
    batch.inserted = inserted;
    batch.removed = removed;
    std::ranges::sort(batch.inserted);
    std::ranges::sort(batch.removed);
    graph_.stage(batch);
    lists_.remove(graph_, batch.removed);
    lists_.insert(graph_, inserted);
    graph_.settle(workers_);
    graph_.edge_table->commit(batch.inserted, batch.removed);
    for (const Edge& edge : removed) std::erase(live_, edge);
    live_.insert(live_.end(), inserted.begin(), inserted.end());
  }

  using Shown = std::map<RelationId, std::vector<std::tuple<Timestamp, VertexId, Slot>>>;
  static Shown shown(const TimeLists& lists, VertexId vertex) {
    Shown result;
    lists.for_each_list(vertex, [&](RelationId relation, std::span<const TimeLists::Entry> entries) {
      EXPECT_TRUE(std::ranges::is_sorted(entries, {}, &TimeLists::Entry::time));
      for (const TimeLists::Entry& entry : entries) result[relation].emplace_back(entry.time, entry.neighbour, entry.slot);
    });
    for (auto& [relation, entries] : result) std::ranges::sort(entries);
    return result;
  }
  Shown expected(VertexId vertex) {
    Shown result;
    for (const Edge& edge : live_) {
      const auto add = [&](VertexId at, VertexId neighbour, Direction direction) {
        if (at != vertex) return;
        const RelationId relation = graph_.relations().find(graph_.directed() ? direction : Direction::both,
                                                            graph_.label_of(edge), graph_.dictionary.label(neighbour));
        result[relation].emplace_back(graph_.edge_table->time(edge.which).value_or(TimeLists::no_time), neighbour, edge.which);
      };
      add(edge.tail, edge.head, Direction::out);
      add(edge.head, edge.tail, Direction::in);
    }
    for (auto& [relation, entries] : result) std::ranges::sort(entries);
    return result;
  }
  void expect_all() {
    TimeLists fresh;
    fresh.build(graph_);
    for (VertexId vertex = 0; vertex < 12; ++vertex) {
      EXPECT_EQ(shown(lists_, vertex), expected(vertex));
      EXPECT_EQ(shown(fresh, vertex), expected(vertex));
    }
  }

  DataGraph graph_{GetParam(), false, heap_slabs(), {EdgeModel::events, {}, {}}};
  Workers workers_{1};
  TimeLists lists_;
  std::vector<LabelId> vertex_labels_;
  std::vector<LabelId> edge_labels_;
  std::vector<Edge> live_;
};

TEST_P(TimeListsTest, FollowInsertionsAndRemovalsInAnyOrderOfTimes) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  lists_.build(graph_);
  for (int batch = 0; batch < 150; ++batch) {
    std::vector<Edge> inserted;
    std::vector<Edge> removed;
    for (std::uint32_t n = below(6); n > 0; --n) {
      const VertexId tail = below(12);
      const VertexId head = (tail + 1 + below(11)) % 12;
      const Timestamp time = batch % 3 == 0 ? below(500) : 10 * batch;  // some are late, some have equal times
      inserted.push_back(create(tail, head, edge_labels_[below(2)], below(9) == 0 ? std::nullopt : std::optional(time)));
    }
    for (const Edge& edge : live_) {
      if (below(live_.size() > 60 ? 2 : 9) == 0) removed.push_back(edge);
    }
    apply(inserted, removed);
    if (batch % 10 == 0) expect_all();
  }
  expect_all();
  EXPECT_GE(lists_.newest(), 1000);
  EXPECT_GT(lists_.bytes(), 0U);
}

TEST_P(TimeListsTest, AnEmptyGraphHasNoLists) {
  lists_.build(graph_);
  EXPECT_TRUE(shown(lists_, 0).empty());
  EXPECT_TRUE(shown(lists_, 1000).empty());
  EXPECT_EQ(lists_.newest(), TimeLists::no_time);
}

INSTANTIATE_TEST_SUITE_P(Directed, TimeListsTest, testing::Bool(),
                         [](const auto& each) { return each.param ? "Directed" : "Undirected"; });

}  // namespace
}  // namespace deltamatch::graph
