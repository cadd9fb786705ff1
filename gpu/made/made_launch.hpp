// Kernels that are made for one plan: what the host gives them. Internal to gpu. The kernels' compiler has no standard library,
// so this header needs nothing but layout.hpp.
#pragma once

#include "gpu/loops/anchors.hpp"
#include "gpu/mirror/layout.hpp"

namespace deltamatch::gpu {

/// The lists of the batch with what it adds to them, so that kernels read each in one piece.
///
/// A vertex whose lists the batch changes has a header. For each of its slices, this says where the merged list begins and how
/// many entries it has. Slices without added entries have none, and their count is `unmerged`.
struct MergedLists {
  static constexpr std::uint32_t unmerged = 0xffffffffU;
  std::uint32_t* words;
  std::uint32_t capacity;
  std::uint32_t* state;  ///< words that are taken; then 1 if some list had no room, so that counts are wrong
};

/// A list that a plan reads at some vertex.
struct MadeWay {
  std::uint32_t query_relation;
  std::uint32_t inclusive;  ///< the changed edge of the anchor itself may be read (homomorphism)
};

/// The anchors of one pass, and where their results go.
struct MadePass {
  const Anchor* anchors;
  std::uint32_t count;  ///< anchors that this launch takes: `first`, `first` + `stride`, and so on
  std::uint32_t first;
  std::uint32_t stride;
  std::uint32_t pass;  ///< match::Pass
  Total* total;
};

/// The numbers of tasks that wait at a depth. Tasks are rows of words; see Shape::task_words.
struct MadeQueue {
  std::uint32_t* tasks;
  std::uint32_t cut;      ///< places for parts of work
  std::uint32_t reserve;  ///< further places, for work that could not be cut because those were taken
};

inline constexpr unsigned made_threads = 128;  ///< of a block
inline constexpr unsigned made_blocks = 6;     ///< of a multiprocessor at least, as far as registers limit them
inline constexpr std::uint32_t most_task_words = 32;
inline constexpr std::uint32_t made_bitmaps = 2;  ///< of lists that stay the same, for a warp
inline constexpr std::uint32_t bitmap_bytes = 2048;
inline constexpr std::uint32_t meeting_bytes = 1088;
inline constexpr std::uint32_t made_ways = 24;
inline constexpr std::uint32_t made_depths = 8;
/// What takes too long in the first phase is cut, and done in the second.
inline constexpr std::uint32_t made_phases = 2;

/// What warps change. Cleared before every launch.
struct MadeState {
  struct Depth {
    std::uint32_t cut;       ///< tasks in the first part of the queue; may exceed its places
    std::uint32_t reserved;  ///< tasks in its reserve
    std::uint32_t taken;     ///< tasks that warps have begun
    std::uint32_t unused;
  };
  Depth depths[made_phases][made_depths];  ///< by phase and by depth of the loops that wait; [0][0]: anchors
  std::uint32_t pool;                      ///< words that are taken
  std::uint32_t full;                      ///< 1: a set had no room in the pool, so the totals are wrong
};

#ifdef __CUDACC__
#define DELTAMATCH_MADE_DEVICE __host__ __device__
#else
#define DELTAMATCH_MADE_DEVICE
#endif

/// Where a staged vertex is looked for first. If another one lies there, the next place follows.
DELTAMATCH_MADE_DEVICE inline std::uint32_t staged_place(std::uint32_t vertex, std::uint32_t mask) {
  return (vertex * 0x9E3779B1U >> 7) & mask;
}

struct MadeLaunch {
  Store store;  ///< base
  const DeviceQueryRelation* query_relations;
  const std::uint32_t* staged;  ///< by staged_place: vertex, its first slice, the end, its header; 0xffffffff: free
  std::uint32_t staged_mask;
  MergedLists merged;
  MadeWay ways[made_ways];
  MadePass passes[2];  ///< count 0: no such pass
  MadeQueue queues[made_phases][made_depths];
  MadeState* state;
  std::uint32_t* pool;  ///< sets that loops read again; shared by all warps
  std::uint32_t pool_words;
  std::uint32_t* scratch;       ///< sets that only one warp reads
  std::uint32_t scratch_words;  ///< for one set
  std::uint32_t sets;           ///< that a warp has there
  const unsigned* stop;
  Counters* counters;
  std::uint32_t directed;
  std::uint32_t phase;
  long long most_clocks;  ///< after these, a task puts the rest of its work into queues, if it can
};

}  // namespace deltamatch::gpu
