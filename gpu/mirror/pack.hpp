// Packing a vertex's lists for the cache: a block [directory][ids][tags] like the store's own, of the relations that readings
// use, without room to grow and without times.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/mirror/cache_plan.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"

namespace deltamatch::gpu {

/// What is read of one store: relations, each at all vertices or at those that bear certain labels.
class RelationSet {
 public:
  /// `owners`, ascending: the labels of the vertices; all where it is empty.
  void insert(graph::RelationId relation, std::span<const LabelId> owners = {});
  void insert(const RelationSet& other);
  /// Whether it is read at some vertex.
  [[nodiscard]] bool contains(graph::RelationId relation) const noexcept {
    return relation < members_.size() && members_[relation].some;
  }
  [[nodiscard]] bool contains(graph::RelationId relation, LabelId owner) const noexcept {
    return contains(relation) && (members_[relation].owners.empty() || has(members_[relation], owner));
  }
  /// Whether all that the other reads of a relation is read here.
  [[nodiscard]] bool covers(const RelationSet& other, graph::RelationId relation) const noexcept;
  /// Whether it may matter which labels vertices bear.
  [[nodiscard]] bool by_owner() const noexcept { return by_owner_; }
  /// One more than the largest member, or more.
  [[nodiscard]] std::size_t bound() const noexcept { return members_.size(); }
  void clear() noexcept {
    members_.clear();
    by_owner_ = false;
  }
  friend bool operator==(const RelationSet&, const RelationSet&) = default;

 private:
  struct Member {
    bool some = false;
    std::vector<LabelId> owners;  // ascending; empty: all
    friend bool operator==(const Member&, const Member&) = default;
  };
  [[nodiscard]] static bool has(const Member& member, LabelId owner) noexcept;

  std::vector<Member> members_;
  bool by_owner_ = false;
};

/// By graph::StoreKind.
using Reads = std::array<RelationSet, graph::store_kinds>;

/// All that readings cover.
[[nodiscard]] Reads all_reads(std::span<const graph::Resolved> resolved);
/// What matching the tasks can read: along each query edge, at the vertices that bear a label of its end; of lent lists, whose
/// vertices may have numbers of their own, at all. Where no lists are lent and other readings stand as well, of queries that
/// are not among the tasks, all that readings cover.
[[nodiscard]] Reads reads_of(std::span<const match::QueryTask> tasks, std::span<const graph::Resolved> resolved);

/// Of the settled lists of a vertex that bears the label `owner`. O(slices).
[[nodiscard]] BlockShape packed_shape(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations,
                                      LabelId owner) noexcept;

/// Writes the directory, 2 x shape.slices words.
void pack_directory(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations, LabelId owner,
                    std::uint32_t* words) noexcept;

/// Writes shape.words() words.
void pack(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations, LabelId owner, const BlockShape& shape,
          std::uint32_t* words) noexcept;

}  // namespace deltamatch::gpu
