// A settled list as it lies in a vertex's block, on host and device alike.
#pragma once

#include "gpu/mirror/block_merge.hpp"
#include "gpu/mirror/layout.hpp"

namespace deltamatch::gpu {

struct PackedList {
  const std::uint32_t* ids;
  std::uint32_t size;
  std::uint32_t capacity;  ///< in a store with tags, they begin this far behind the ids
};

/// The list of a query relation at a vertex, without the batch. O(log lists of the vertex).
DELTAMATCH_HOST_DEVICE inline PackedList list_of(const GraphView& graph, const DeviceQueryRelation& where,
                                                 std::uint32_t vertex) {
  const Store& store = graph.stores[where.store];
  if (where.relation == 0xffffffffU || vertex >= store.vertices) return {nullptr, 0, 0};
  const Row row = store.rows[vertex];
  const std::uint32_t slices = row.shape >> 7;
  const std::uint32_t slice = slices == 0 ? 0 : merge_find(row.block, slices, where.relation);
  if (slice == slices) return {nullptr, 0, 0};
  const std::uint32_t begin = merge_begin(row.block, slice);
  return {row.block + (std::size_t{2} << (row.shape >> 2 & 31U)) + begin, row.block[2 * slice + 1] - begin, row.capacity};
}

}  // namespace deltamatch::gpu
