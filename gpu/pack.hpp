// Packing a vertex's lists for the cache: a block [directory][ids][tags] like the store's own, of the relations that readings
// use, without room to grow and without times.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/cache_plan.hpp"
#include "graph/adjacency.hpp"

namespace deltamatch::gpu {

/// A set of relations of one store.
class RelationSet {
 public:
  void insert(graph::RelationId relation) {
    if (relation >= members_.size()) members_.resize(std::size_t{relation} + 1);
    members_[relation] = 1;
  }
  [[nodiscard]] bool contains(graph::RelationId relation) const noexcept {
    return relation < members_.size() && members_[relation] != 0;
  }
  /// One more than the largest member, or more.
  [[nodiscard]] std::size_t bound() const noexcept { return members_.size(); }
  void clear() noexcept { members_.clear(); }

 private:
  std::vector<std::uint8_t> members_;
};

/// Of the settled lists. O(slices).
[[nodiscard]] BlockShape packed_shape(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations) noexcept;

/// Writes the directory, 2 x shape.slices words.
void pack_directory(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations,
                    std::uint32_t* words) noexcept;

/// Writes shape.words() words.
void pack(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations, const BlockShape& shape,
          std::uint32_t* words) noexcept;

}  // namespace deltamatch::gpu
