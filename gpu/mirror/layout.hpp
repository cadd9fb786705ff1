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

/// What kernels change while they fill a DemandRing.
struct DemandState {
  unsigned long long cursor;    ///< number of the segment that is being filled << 32 | granules taken in it
  unsigned long long emptying;  ///< number of the segment that is being emptied << 32 | blocks that warps look at
  std::uint32_t withdrawn;      ///< blocks there that were looked at
  std::uint32_t epoch;          ///< rises whenever a segment has been emptied
  std::uint32_t lock;           ///< 1: a warp goes on to the next segment
};

/// A pool of device memory that kernels fill by themselves, with lists of the base store. A warp that misses a vertex's lists
/// copies their block to the ring. Later look-ups find it there, also those of later batches.
///
/// The ring consists of segments, which are filled one after the other. Segment n lies at n modulo the number of segments. The
/// segments with the oldest blocks are emptied before they are filled again, so the ring is first in, first out.
///
/// Other warps may still read a segment when it is emptied. So a warp announces the epoch in which it begins to read, and says
/// when it has ended. A segment is filled again only when no warp reads that began before it was emptied. This is epoch-based
/// reclamation (Fraser, Practical lock-freedom, 2004). Nobody waits: until then, nothing is copied. Warps read for up to a
/// millisecond. So segments are emptied long before they are filled.
struct DemandRing {
  static constexpr std::uint32_t granule_words = 4;      ///< blocks start at multiples of so many words
  static constexpr std::uint32_t absent = 0;             ///< place of a vertex without a block in the ring
  static constexpr std::uint32_t arriving = 1;           ///< some warp copies its block
  static constexpr std::uint32_t first_place = 2;        ///< place of the block at the first granule
  static constexpr std::uint32_t never = 0;              ///< is not announced
  static constexpr std::uint32_t idle = 0xffffffffU;     ///< announced by warps that do not read the ring
  static constexpr std::uint32_t most_warps = 1U << 14;  ///< that can announce an epoch

  std::uint32_t* words;       ///< null: there is no ring
  std::uint32_t* places;      ///< by vertex
  std::uint32_t* owners;      ///< by segment: the vertices whose blocks were copied there, segment_blocks at most
  std::uint32_t* blocks;      ///< by segment: how many those are
  std::uint32_t* emptied_at;  ///< by segment: warps that read since this epoch have no place there
  std::uint32_t* announced;   ///< by warp: an epoch, or idle
  DemandState* state;
  std::uint64_t bytes;  ///< at words
  std::uint32_t segments;
  std::uint32_t segments_ahead;  ///< are emptied before they are filled; less than half of them
  std::uint32_t segment_granules;
  std::uint32_t segment_blocks;
  std::uint32_t most_granules;  ///< longer blocks are not copied
};

struct GraphView {
  Store stores[gpu::stores];
  DemandRing ring;
  const DeviceQueryRelation* query_relations;
  std::uint8_t directed;
};

/// Counters that a launch adds to.
struct Counters {
  unsigned long long hits;    ///< look-ups of cached rows
  unsigned long long misses;  ///< look-ups of other rows
  unsigned long long filled;  ///< vertices whose lists were copied to the ring
};

}  // namespace deltamatch::gpu
