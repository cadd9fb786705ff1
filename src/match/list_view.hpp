// What a match from a changed edge, its anchor, may read of a neighbour list.
//
// A match is found only from its changed edge of least rank. All its other edges are stable, or changed edges of higher rank. A
// vanished match has stable and removed edges; a new match has stable and inserted edges. A transient match has inserted edges
// and removed ones; it is found from the inserted edge of least rank.
//
// The rank compares the ends first. So within one list, the changed neighbours of higher rank are a suffix. The admitted list
// is (ids \ removed) + added, with both parts cut at one threshold:
// - vanished: ids without the removed neighbours below the threshold;
// - new: ids without all removed neighbours, plus the added neighbours from the threshold on;
// - transient: all ids, plus the added neighbours from the threshold on. This admits the new matches as well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/prefetch.hpp"
#include "graph/data_graph.hpp"
#include "match/intersect.hpp"
#include "match/scratch.hpp"

namespace deltamatch::match {

/// Which matches are searched for: those that vanish, those that appear, those that appear and vanish within the batch, or all
/// of the graph.
enum class Pass : std::uint8_t { removed, added, transient, whole };

/// An admitted list: (ids \ minus) + plus. All three ascend. `minus` is a part of `ids`; `plus` is disjoint from it. If
/// `parallel`, an id may occur several times, with different tags. `tagged`: there are tags. A pointer is only set if its count
/// is not 0. Views are made for every look-up, so no field is set in vain.
struct ListView {
  const std::uint32_t* ids;
  const std::uint32_t* minus;
  const std::uint32_t* plus;
  const std::uint32_t* tags;
  const std::uint32_t* minus_tags;
  const std::uint32_t* plus_tags;
  std::uint32_t count;
  std::uint32_t minus_count;
  std::uint32_t plus_count;
  bool tagged;
  bool parallel;

  [[nodiscard]] bool clean() const noexcept { return (minus_count | plus_count) == 0; }
  /// The number of entries; parallel ones count separately.
  [[nodiscard]] std::uint32_t size() const noexcept { return count - minus_count + plus_count; }
};

/// Reads lists for one anchor. Very cheap to make.
class Lists {
 public:
  Lists(const graph::Adjacency& base, std::span<const graph::Resolved> resolved, bool directed, Pass pass) noexcept
      : base_(&base), resolved_(resolved), directed_(directed), pass_(pass) {}

  void anchor(const graph::Edge& edge) noexcept { anchor_ = edge; }
  /// Reads as another pass does, and forgets which lists were read.
  void begin(Pass pass) noexcept {
    pass_ = pass;
    met_removed_ = false;
  }
  /// Whether a list that was read since then has removed edges.
  [[nodiscard]] bool met_removed() const noexcept { return met_removed_; }
  [[nodiscard]] const graph::Edge& anchor() const noexcept { return anchor_; }

  /// The admitted list of `vertex` under a query relation. `inclusive` admits the anchor's own edge. Filtered parts of derived
  /// relations lie in `scratch` until its mark is released.
  [[nodiscard]] ListView view(graph::QueryRelationId query_relation, VertexId vertex, bool inclusive, Scratch& scratch) const {
    const graph::Resolved& where = resolved_[query_relation];
    ListView view;
    view.minus_count = 0;
    view.plus_count = 0;
    view.tagged = where.tagged;
    view.parallel = where.parallel;
    view.count = 0;
    if (where.store == nullptr) return view;
    const bool changed = where.store->find(vertex, where.relation, view.ids, view.tags, view.count);
    if (changed) [[unlikely]]
      restrict(view, where, vertex, inclusive, scratch);
    return view;
  }

  /// Prefetches what a loop over candidates reads next; `at` is its position. Works in groups: rows and blocks, and the lists
  /// of the given query relations. Reading short lists is mostly waiting for memory, and the misses of a group overlap.
  void prefetch_ahead(std::span<const graph::QueryRelationId> query_relations, std::span<const VertexId> candidates,
                      std::size_t at) const noexcept {
    constexpr std::size_t group = 16;  // about as many misses as a core handles at once
    if (at % group != 0) return;
    const graph::Adjacency* store = query_relations.empty() ? base_ : resolved_[query_relations[0]].store;
    if (store == nullptr) return;
    const std::size_t end = std::min(candidates.size(), at + group);
    if (at == 0) {
      for (std::size_t i = 0; i < end; ++i) store->prefetch(candidates[i]);
    }
    for (std::size_t i = at; i < end; ++i) store->prefetch_block(candidates[i]);
    for (std::size_t i = at; i < end; ++i) {
      for (const graph::QueryRelationId query_relation : query_relations) {
        const graph::Resolved& where = resolved_[query_relation];
        if (where.store != store) continue;
        const std::uint32_t* ids = nullptr;
        const std::uint32_t* tags = nullptr;
        std::uint32_t count = 0;
        store->find(candidates[i], where.relation, ids, tags, count);
        fetch_line(ids);
      }
    }
    for (std::size_t i = end; i < std::min(candidates.size(), end + group); ++i) store->prefetch(candidates[i]);
  }

  [[nodiscard]] const graph::Resolved& resolved(graph::QueryRelationId query_relation) const noexcept {
    return resolved_[query_relation];
  }
  [[nodiscard]] std::span<const graph::Resolved> resolved() const noexcept { return resolved_; }
  [[nodiscard]] bool parallel(graph::QueryRelationId query_relation) const noexcept {
    return resolved_[query_relation].parallel;
  }

  /// Whether the changed data edge between `vertex` and `neighbour` may be read.
  [[nodiscard]] bool admits(VertexId vertex, VertexId neighbour, std::uint32_t which, bool incoming,
                            bool inclusive) const noexcept {
    const graph::Edge edge = edge_of(vertex, neighbour, which, incoming);
    return inclusive ? edge >= anchor_ : edge > anchor_;
  }
  [[nodiscard]] graph::Edge edge_of(VertexId vertex, VertexId neighbour, std::uint32_t which, bool incoming) const noexcept {
    if (!directed_) return vertex < neighbour ? graph::Edge{vertex, neighbour, which} : graph::Edge{neighbour, vertex, which};
    return incoming ? graph::Edge{neighbour, vertex, which} : graph::Edge{vertex, neighbour, which};
  }

 private:
  void restrict(ListView& view, const graph::Resolved& where, VertexId vertex, bool inclusive, Scratch& scratch) const;
  [[nodiscard]] VertexId threshold(VertexId vertex, LabelId label, bool incoming, bool inclusive) const noexcept;

  const graph::Adjacency* base_;
  std::span<const graph::Resolved> resolved_;
  bool directed_;
  Pass pass_;
  mutable bool met_removed_ = false;
  graph::Edge anchor_{};
};

/// Writes the view's distinct ids to scratch, ascending. O(size).
[[nodiscard]] std::span<std::uint32_t> materialise(const ListView& view, Scratch& scratch);

/// Keeps the members of `set` that are in the view, in place and ascending. Returns their number.
std::size_t keep_members(std::uint32_t* set, std::size_t size, const ListView& view, Scratch& scratch);

/// The ids of the view that are in a set, ascending, in scratch. keep(ids, out) writes those of the ascending `ids` that are in
/// the set to `out`, and returns their number. It writes at most `most` entries. The view must not have parallel entries.
template <class Keep>
[[nodiscard]] std::span<const std::uint32_t> members_of(const ListView& view, std::size_t most, Scratch& scratch, Keep&& keep) {
  if (view.clean()) [[likely]] {
    std::uint32_t* const out = scratch.words(std::min<std::size_t>(most, view.count));
    return {out, keep(std::span(view.ids, view.count), out)};
  }
  std::uint32_t* const out = scratch.words(std::min<std::size_t>(most, view.size()));
  const ScratchScope scope(scratch);
  std::uint32_t* const old = scratch.words(std::min<std::size_t>(most, view.count));
  std::uint32_t* const fresh = scratch.words(std::min<std::size_t>(most, view.plus_count));
  std::uint32_t* old_end = old + keep(std::span(view.ids, view.count), old);
  std::uint32_t* const fresh_end = fresh + keep(std::span(view.plus, view.plus_count), fresh);
  const auto removed = [&](std::uint32_t id) { return contains(view.minus, view.minus_count, id); };
  if (view.minus_count != 0) old_end = std::remove_if(old, old_end, removed);
  return {out, std::merge(old, old_end, fresh, fresh_end, out)};
}

/// The members of an ascending set that are in the view, in scratch.
[[nodiscard]] std::span<const std::uint32_t> common(std::span<const std::uint32_t> set, const ListView& view, Scratch& scratch);

/// How many members of `set` are in the view. The view must not have parallel entries.
[[nodiscard]] std::size_t count_members(std::span<const std::uint32_t> set, const ListView& view);

/// How many entries of the view lead to `id`.
[[nodiscard]] std::uint32_t multiplicity(const ListView& view, std::uint32_t id) noexcept;

/// Appends the tags of the view's entries that lead to `id`. Appends `single` if the relation has no tags.
void collect_tags(const ListView& view, std::uint32_t id, std::uint32_t single, std::vector<std::uint32_t>& tags);

/// Calls visit(id) for every entry, also for each parallel one, in no order.
template <class Visit>
void for_each_entry(const ListView& view, Visit&& visit) {
  if (view.minus_count == 0) [[likely]] {
    for (std::uint32_t i = 0; i < view.count; ++i) visit(view.ids[i]);
  } else {
    std::uint32_t m = 0;
    for (std::uint32_t i = 0; i < view.count; ++i) {
      if (m < view.minus_count && view.minus[m] == view.ids[i] && (!view.parallel || view.minus_tags[m] == view.tags[i])) {
        ++m;
      } else {
        visit(view.ids[i]);
      }
    }
  }
  for (std::uint32_t i = 0; i < view.plus_count; ++i) visit(view.plus[i]);
}

}  // namespace deltamatch::match
