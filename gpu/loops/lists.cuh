// Neighbour lists as a pass sees them.
//
// A list is its stable entries, without those that the batch removes, and with those that it adds. A change counts only if it
// ranks high enough beside the anchor.
//
// In a list of a base relation, the changes that count are one range of neighbours. They are found once for a list, and then
// searched. Two kinds of lists take the slow way, entry by entry:
// - lists that may hold an id several times
// - changed lists of a derived relation, whose entries have tags
#pragma once

#include "gpu/loops/kernel.hpp"

namespace deltamatch::gpu::device {

inline constexpr unsigned all_lanes = 0xffffffffU;
inline constexpr std::uint32_t none = 0xffffffffU;
inline constexpr std::uint32_t pass_removed = 0;  // match::Pass
inline constexpr std::uint32_t pass_added = 1;

// Directories of up to this many slices are scanned; longer ones are searched.
inline constexpr std::uint32_t scanned_slices = 8;

struct View {
  const std::uint32_t* ids;
  std::uint32_t count;
  std::uint32_t slice;  // among the store's changes, or none
};

// How many entries of a base relation's list the batch removes and adds. Removed are the first of its slice of the changes,
// added the last.
struct Changes {
  std::uint32_t removed;
  std::uint32_t added;
};

template <class Read>
__device__ std::uint32_t lower_bound(const std::uint32_t* a, std::uint32_t n, std::uint32_t x, Read&& read) {
  std::uint32_t at = 0;
#pragma unroll 1
  while (n > 0) {
    const std::uint32_t half = n >> 1;
    const bool less = read(a + at + half) < x;
    at = less ? at + half + 1 : at;
    n = less ? n - half - 1 : half;
  }
  return at;
}

__device__ inline std::uint32_t lower_bound(const std::uint32_t* a, std::uint32_t n, std::uint32_t x) {
  return lower_bound(a, n, x, [](const std::uint32_t* word) { return *word; });
}

__device__ inline bool holds(const std::uint32_t* a, std::uint32_t n, std::uint32_t x) {
  if (n == 0) return false;
#pragma unroll 1
  while (n > 1) {
    const std::uint32_t half = n >> 1;
    a = a[half] <= x ? a + half : a;
    n -= half;
  }
  return *a == x;
}

// A group is a warp of the matching kernel, or a block of that with tables. It has the launch as `work`, and the program at
// hand as program(). Each thread has its `lane`, and counts its look-ups in `hits` and `misses`.

// Whether an address lies in the ring that kernels fill. Its words change while kernels run, so they must not come from the
// first cache of a multiprocessor.
template <class Group>
__device__ bool in_ring(const Group& group, const std::uint32_t* word) {
  const DemandRing& ring = group.work.graph.ring;
  return reinterpret_cast<std::uint64_t>(word) - reinterpret_cast<std::uint64_t>(ring.words) < ring.bytes;
}

__device__ inline unsigned load_relaxed(const unsigned int* p) { return *reinterpret_cast<const volatile unsigned int*>(p); }
__device__ inline unsigned long long load_relaxed(const unsigned long long* p) {
  return *reinterpret_cast<const volatile unsigned long long*>(p);
}

// The list of a vertex. Pass false for `counted` if another lane or thread looks up the same list.
template <class Group>
__device__ __noinline__ View look_up(Group& group, std::uint32_t query_relation, std::uint32_t vertex, bool counted = true) {
  View found{nullptr, 0, none};
  const DeviceQueryRelation& where = group.work.graph.query_relations[query_relation];
  const std::uint32_t relation = where.relation;
  if (relation == none) return found;
  const Store& store = group.work.graph.stores[where.store];
  if (vertex >= store.vertices) return found;
  const uint4 raw = __ldg(reinterpret_cast<const uint4*>(store.rows) + vertex);
  const auto* block = reinterpret_cast<const std::uint32_t*>(static_cast<std::uint64_t>(raw.y) << 32 | raw.x);
  const std::uint32_t shape = raw.w;
  const std::uint32_t slices = shape >> 7;
  if (counted && group.work.accesses[where.store] != nullptr) atomicAdd(&group.work.accesses[where.store][vertex], 1U);
  if (slices > 0) {
    bool cached = (shape & Row::cached_bit) != 0;
    bool changing = false;  // another warp has written the block, perhaps just now
    if constexpr (Group::fills) {
      if (!cached && group.reads_ring) {
        const DemandRing& ring = group.work.graph.ring;
        const std::uint32_t place = load_relaxed(&ring.places[vertex]);
        if (place >= DemandRing::first_place) {
          block = ring.words + std::size_t{place - DemandRing::first_place} * DemandRing::granule_words;
          cached = changing = group.found_place = true;
        }
      }
    }
    const auto word = [&](std::uint32_t i) {
      if constexpr (Group::fills) return changing ? __ldcg(block + i) : block[i];
      return block[i];
    };
    if (cached) {
      group.hits += counted ? 1 : 0;
    } else {
      group.misses += counted ? 1 : 0;
    }
    std::uint32_t at = 0;
    if (slices <= scanned_slices) {
#pragma unroll 1
      while (at < slices && word(2 * at) != relation) ++at;
    } else {
      std::uint32_t n = slices;
#pragma unroll 1
      while (n > 0) {
        const std::uint32_t half = n >> 1;
        const bool less = word(2 * (at + half)) < relation;
        at = less ? at + half + 1 : at;
        n = less ? n - half - 1 : half;
      }
      if (at < slices && word(2 * at) != relation) at = slices;
    }
    if (at < slices) {
      const std::uint32_t begin = at == 0 ? 0 : word(2 * at - 1);
      found.count = word(2 * at + 1) - begin;
      found.ids = block + (2U << (shape >> 2 & 31U)) + begin;
    }
  }
  if ((shape & Row::staged_bit) != 0) {
    const std::uint32_t row = lower_bound(store.delta_vertices, store.delta_rows, vertex);
    if (row < store.delta_rows && store.delta_vertices[row] == vertex) {
      std::uint32_t s = store.delta_first_slice[row];
      std::uint32_t n = store.delta_first_slice[row + 1] - s;
      const std::uint32_t end = s + n;
#pragma unroll 1
      while (n > 0) {
        const std::uint32_t half = n >> 1;
        const bool less = store.slices[s + half].relation < relation;
        s = less ? s + half + 1 : s;
        n = less ? n - half - 1 : half;
      }
      if (s < end && store.slices[s].relation == relation) found.slice = s;
    }
  }
  return found;
}

// Adds the look-ups of all lanes to the counts of the launch.
template <class Group>
__device__ void count_look_ups(const Group& group) {
  unsigned long long hits = group.hits;
  unsigned long long misses = group.misses;
  unsigned long long filled = 0;
  if constexpr (Group::fills) filled = group.filled;
#pragma unroll 1
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    hits += __shfl_down_sync(all_lanes, hits, offset);
    misses += __shfl_down_sync(all_lanes, misses, offset);
    if constexpr (Group::fills) filled += __shfl_down_sync(all_lanes, filled, offset);
  }
  if (group.lane != 0) return;
  atomicAdd(&group.work.counters->hits, hits);
  atomicAdd(&group.work.counters->misses, misses);
  if constexpr (Group::fills) atomicAdd(&group.work.counters->filled, filled);
}

// Whether this lane is the first among `looking` that looks up this vertex.
template <class Group>
__device__ bool leads(const Group& group, unsigned looking, std::uint32_t vertex) {
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(__match_any_sync(looking, vertex)))) - 1 == group.lane;
}

// How many entries of an unchanged list lead to `id`.
__device__ inline std::uint32_t entries_to(const View& list, std::uint32_t id) {
  const std::uint32_t first = lower_bound(list.ids, list.count, id);
  std::uint32_t end = first;
#pragma unroll 1
  while (end < list.count && list.ids[end] == id) ++end;
  return end - first;
}

// --- which changes count ---

// Whether the changed data edge between `vertex` and `neighbour` ranks high enough to be read.
template <class Group>
__device__ bool admits(const Group& group, const Anchor& anchor, std::uint32_t vertex, std::uint32_t neighbour,
                       std::uint32_t label, bool incoming, bool inclusive) {
  const bool turned = group.work.graph.directed ? incoming : vertex > neighbour;
  const std::uint32_t tail = turned ? neighbour : vertex;
  const std::uint32_t head = turned ? vertex : neighbour;
  if (tail != anchor.tail) return tail > anchor.tail;
  if (head != anchor.head) return head > anchor.head;
  return inclusive ? label >= anchor.label : label > anchor.label;
}

// The least neighbour from which on changed entries of a base relation's list rank high enough.
template <class Group>
__device__ std::uint32_t threshold(const Group& group, const Anchor& anchor, std::uint32_t vertex,
                                   const DeviceQueryRelation& where, bool inclusive) {
  const bool label_suffices = inclusive ? where.edge_label >= anchor.label : where.edge_label > anchor.label;
  if (group.work.graph.directed ? !where.incoming : vertex <= anchor.tail) {
    if (vertex > anchor.tail) return 0;
    if (vertex < anchor.tail) return none;
    return label_suffices ? anchor.head : anchor.head + 1;
  }
  const bool at_tail = vertex > anchor.head || (vertex == anchor.head && label_suffices);
  return at_tail ? anchor.tail : anchor.tail + 1;
}

// The changes of a base relation's list, which must have some.
// For removed matches, the list is as it was, without removed edges that rank too low. For added matches, it is as it will
// be, without new edges that rank too low.
template <class Group>
__device__ __noinline__ Changes changes_of(const Group& group, const Probe& probe, std::uint32_t slice_index,
                                           std::uint32_t owner, const Anchor& anchor) {
  const DeviceQueryRelation& where = group.work.graph.query_relations[probe.query_relation];
  const Store& store = group.work.graph.stores[0];
  const DeltaSlice slice = store.slices[slice_index];
  const DeltaSlice next = store.slices[slice_index + 1];
  const std::uint32_t from = threshold(group, anchor, owner, where, probe.inclusive);
  const std::uint32_t removed = next.removed_begin - slice.removed_begin;
  const std::uint32_t added = next.added_begin - slice.added_begin;
  if (group.program().pass == pass_added) return {removed, added - lower_bound(store.added + slice.added_begin, added, from)};
  return {lower_bound(store.removed + slice.removed_begin, removed, from), 0};
}

// Whether a list of a base relation leads to `id`. `here` says whether the stable entries do.
template <class Group>
__device__ __noinline__ bool leads_to(const Group& group, std::uint32_t slice, Changes changes, std::uint32_t id, bool here) {
  const Store& store = group.work.graph.stores[0];
  if (here) return !holds(store.removed + store.slices[slice].removed_begin, changes.removed, id);
  return holds(store.added + (store.slices[slice + 1].added_begin - changes.added), changes.added, id);
}

// --- the slow way ---

// Whether a stable entry of a derived list, given by its id and tag, is not removed.
template <class Group>
__device__ bool stays(const Group& group, const Store& store, const View& list, std::uint32_t id, std::uint32_t tag,
                      const Anchor& anchor, std::uint32_t owner, bool inclusive) {
  if (list.slice == none) return true;
  const DeltaSlice slice = store.slices[list.slice];
  const std::uint32_t count = store.slices[list.slice + 1].removed_begin - slice.removed_begin;
  const std::uint32_t* removed = store.removed + slice.removed_begin;
#pragma unroll 1
  for (std::uint32_t i = lower_bound(removed, count, id); i < count && removed[i] == id; ++i) {
    if (store.removed_tags[slice.removed_begin + i] != tag) continue;
    return group.program().pass == pass_removed && admits(group, anchor, owner, id, tag >> 1, (tag & 1U) != 0, inclusive);
  }
  return true;
}

// How many entries that count in a list lead to `id`.
template <class Group>
__device__ __noinline__ std::uint32_t multiplicity(const Group& group, const Probe& probe, const View& list,
                                                   std::uint32_t owner, std::uint32_t id, const Anchor& anchor) {
  const auto read = [&](const std::uint32_t* word) {
    if constexpr (Group::fills) return in_ring(group, word) ? __ldcg(word) : *word;
    return *word;
  };
  const std::uint32_t at = lower_bound(list.ids, list.count, id, read);
  const bool here = at < list.count && read(list.ids + at) == id;
  const DeviceQueryRelation& where = group.work.graph.query_relations[probe.query_relation];
  if (list.slice == none && !where.parallel) return here ? 1 : 0;
  const Store& store = group.work.graph.stores[where.store];
  if (!where.derived) return leads_to(group, list.slice, changes_of(group, probe, list.slice, owner, anchor), id, here) ? 1 : 0;
  std::uint32_t found = 0;
  if (here) {
    const std::uint32_t capacity = store.rows[owner].capacity;
#pragma unroll 1
    for (std::uint32_t k = at; k < list.count && list.ids[k] == id; ++k) {
      found += stays(group, store, list, id, list.ids[k + capacity], anchor, owner, probe.inclusive) ? 1 : 0;
    }
  }
  if (list.slice != none && group.program().pass == pass_added) {
    const DeltaSlice slice = store.slices[list.slice];
    const std::uint32_t count = store.slices[list.slice + 1].added_begin - slice.added_begin;
    const std::uint32_t* added = store.added + slice.added_begin;
#pragma unroll 1
    for (std::uint32_t i = lower_bound(added, count, id); i < count && added[i] == id; ++i) {
      const std::uint32_t tag = store.added_tags[slice.added_begin + i];
      found += admits(group, anchor, owner, id, tag >> 1, (tag & 1U) != 0, probe.inclusive) ? 1 : 0;
    }
  }
  return found;
}

}  // namespace deltamatch::gpu::device
