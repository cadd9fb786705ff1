// The edges of each vertex in order of time, for patterns whose conditions bound times. A vertex has a list for each relation.
//
// Bounds on times select a run of such a list by two binary searches. Edges mostly come and go in order of time. So a list
// grows at its end and shrinks at its beginning, and both take O(1). The lists follow a graph whose edges have slots.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/prefetch.hpp"
#include "graph/arena.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::graph {

class TimeLists {
 public:
  struct Entry {
    Timestamp time;  ///< no_time if the edge has none
    VertexId neighbour;
    Slot slot;
  };
  static constexpr Timestamp no_time = INT64_MIN;

  /// Names the relations that are listed from now on, by RelationId. Without a call, all are. Edges of a relation that is added
  /// must not have been inserted; otherwise call `build`.
  void list_only(std::vector<bool> relations) {
    all_ = false;
    listed_ = std::move(relations);
  }
  [[nodiscard]] bool lists(RelationId relation) const noexcept {
    return all_ || (relation < listed_.size() && listed_[relation]);
  }
  /// Lists the settled edges of a graph. O(edges log edges), or O(edges) if they have arrived in order of slots and times.
  void build(const DataGraph& graph);
  /// Adds edges in the order in which they arrived. O(1) for an edge that is newer than those of its ends.
  void insert(const DataGraph& graph, std::span<const Edge> edges);
  /// Takes edges out, which must be there. Their slots must still hold their times.
  void remove(const DataGraph& graph, std::span<const Edge> edges);

  /// Calls visit(relation, entries) for each list of the vertex, in no order; it may be empty. Entries ascend by time; those
  /// without a time come first. Edges of the same time are in order of insertion.
  template <class Visit>
  void for_each_list(VertexId vertex, Visit&& visit) const {
    if (vertex >= rows_.size()) return;
    const Row& row = rows_[vertex];
    const auto show = [&](const List& list) {
      if (list.relation != no_relation)
        visit(list.relation, std::span<const Entry>(list.entries + list.begin, list.end - list.begin));
    };
    std::ranges::for_each(row.first, show);
    if (row.more) std::ranges::for_each(*row.more, show);
  }
  void prefetch(VertexId vertex) const noexcept {
    if (vertex < rows_.size()) fetch_line(&rows_[vertex]);
  }
  /// Prefetches the latest entries. The row must be in the cache already.
  void prefetch_entries(VertexId vertex) const noexcept {
    if (vertex >= rows_.size()) return;
    for (const List& list : rows_[vertex].first) {
      if (list.begin != list.end) fetch_line(list.entries + list.end - 1);
    }
  }
  /// Prefetches the entries that a binary search reads first. The row must be in the cache already.
  void prefetch_search(VertexId vertex) const noexcept {
    if (vertex >= rows_.size()) return;
    for (const List& list : rows_[vertex].first) {
      if (list.begin == list.end) continue;
      fetch_line(list.entries + list.begin);
      fetch_line(list.entries + (list.begin + list.end) / 2);
      fetch_line(list.entries + list.end - 1);
    }
  }
  /// No edge of the lists is newer. It never falls.
  [[nodiscard]] Timestamp newest() const noexcept { return newest_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct List {
    Entry* entries = nullptr;  // of the arena
    RelationId relation = no_relation;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t capacity = 0;
  };

  /// Most vertices have edges of one kind that enter, and of one that leave. A row is one cache line.
  struct alignas(64) Row {
    std::array<List, 2> first;
    std::unique_ptr<std::vector<List>> more;
  };

  template <class Which>
  void prefetch_ahead(std::span<const Edge> edges, std::size_t at, Which&& which) const noexcept;
  [[nodiscard]] List& list_of(VertexId vertex, RelationId relation);
  void add(List& list, const Entry& entry);
  void make_room(List& list);
  void make_room(const Adjacency& settled);
  void allocate(List& list, std::uint32_t capacity);
  void give_back(List& list) noexcept;
  void take(List& list, const Entry& entry) noexcept;

  bool all_ = true;
  std::vector<bool> listed_;  // by relation, unless all are
  Timestamp newest_ = no_time;
  std::vector<Row> rows_;  // by vertex
  std::unique_ptr<Arena> arena_ = std::make_unique<Arena>();
};

}  // namespace deltamatch::graph
