// Plain structures in device memory that host and kernels share. Internal to gpu.
//
// A vertex's lists are read through its row, a pointer to a block [directory][ids][tags] (see graph/adjacency.hpp). If the
// vertex is cached, the block lies in device memory. Otherwise it is the store's own block in registered host memory. So a
// look-up costs one 16-byte load, hit or miss. The staged batch always lies in device memory.
#pragma once

#include <cstdint>

namespace deltamatch::gpu {

struct Row {
  const std::uint32_t* block;  ///< null: no lists
  std::uint32_t capacity;      ///< entries that fit into the ids column; tags begin behind it
  std::uint32_t shape;         ///< slices << 7 | directory_log << 2 | cached << 1 | staged

  static constexpr std::uint32_t staged_bit = 1;
  static constexpr std::uint32_t cached_bit = 2;
  static constexpr std::uint32_t make_shape(std::uint32_t slices, std::uint32_t directory_log, bool cached, bool staged) {
    return slices << 7 | directory_log << 2 | (cached ? cached_bit : 0) | (staged ? staged_bit : 0);
  }
};
static_assert(sizeof(Row) == 16);

/// The changes of one list. They end where those of the next slice begin; a sentinel follows the last.
struct DeltaSlice {
  std::uint32_t relation;
  std::uint32_t added_begin;
  std::uint32_t removed_begin;
};

/// The adjacency stores by graph::StoreKind: base, derived, lent. If there is a lent one, no batch is staged.
inline constexpr unsigned stores = 3;

/// One adjacency store with the staged batch.
struct Store {
  const Row* rows;
  std::uint32_t vertices;                  ///< rows
  std::uint32_t delta_rows;                ///< vertices that the batch touches; their rows have staged_bit
  const std::uint32_t* delta_vertices;     ///< ascending
  const std::uint32_t* delta_first_slice;  ///< delta_rows + 1
  const DeltaSlice* slices;
  const std::uint32_t* added;  ///< ids by slice, ascending; in the derived store, tags are parallel to them
  const std::uint32_t* added_tags;
  const std::uint32_t* removed;
  const std::uint32_t* removed_tags;
};

/// A resolved query relation (graph::Resolved).
struct DeviceQueryRelation {
  std::uint32_t relation;    ///< no_relation: no edge is covered
  std::uint32_t edge_label;  ///< of all entries of a base relation
  std::uint8_t derived;      ///< 1: entries have tags
  std::uint8_t incoming;
  std::uint8_t parallel;
  std::uint8_t store;  ///< graph::StoreKind
};

struct GraphView {
  Store stores[gpu::stores];
  const DeviceQueryRelation* query_relations;
  std::uint8_t directed;
};

/// Counters that a launch adds to.
struct Counters {
  unsigned long long hits;    ///< look-ups of cached rows
  unsigned long long misses;  ///< look-ups of other rows
};

}  // namespace deltamatch::gpu
