// Packs a vertex's lists for the cache: a block [directory][ids][tags] like the store's own. It has only the relations that
// query relations use, no room to grow and no times.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/mirror/cache_plan.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"

namespace deltamatch::gpu {

/// What is read of one store: relations, each at all vertices or at those with certain labels.
class RelationSet {
 public:
  /// Adds a relation. `owners`: labels of its vertices, ascending; empty: all vertices.
  void insert(graph::RelationId relation, std::span<const LabelId> owners = {});
  void insert(const RelationSet& other);
  /// Whether the relation is read at some vertex.
  [[nodiscard]] bool contains(graph::RelationId relation) const noexcept {
    return relation < members_.size() && members_[relation].some;
  }
  [[nodiscard]] bool contains(graph::RelationId relation, LabelId owner) const noexcept {
    return contains(relation) && (members_[relation].owners.empty() || has(members_[relation], owner));
  }
  /// Whether everything that the other set reads of a relation is read here.
  [[nodiscard]] bool covers(const RelationSet& other, graph::RelationId relation) const noexcept;
  /// Whether the labels of vertices may matter.
  [[nodiscard]] bool by_owner() const noexcept { return by_owner_; }
  /// One more than the largest relation in the set, or larger.
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

/// Everything that the query relations cover.
[[nodiscard]] Reads all_reads(std::span<const graph::Resolved> resolved);
/// What matching the tasks can read: along each query edge, the lists of vertices with the label of its end. In lent lists,
/// vertices may have numbers of their own, so labels are ignored.
///
/// If no lists are lent, query relations of queries outside the tasks may exist, too. Then it is everything that the query
/// relations cover.
[[nodiscard]] Reads reads_of(std::span<const match::QueryTask> tasks, std::span<const graph::Resolved> resolved);

/// The shape of the settled lists of a vertex with label `owner`. O(slices).
[[nodiscard]] BlockShape packed_shape(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations,
                                      LabelId owner) noexcept;

/// Writes the directory, 2 x shape.slices words.
void pack_directory(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations, LabelId owner,
                    std::uint32_t* words) noexcept;

/// Writes shape.words() words.
void pack(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations, LabelId owner, const BlockShape& shape,
          std::uint32_t* words) noexcept;

}  // namespace deltamatch::gpu
