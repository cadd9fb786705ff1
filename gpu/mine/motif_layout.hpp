// Counting patterns on a device: what the kernel reads and writes (gpu/mine/device_motifs.hpp tells the idea).
#pragma once

#include <cstdint>

#include "match/motif_counter.hpp"

namespace deltamatch::gpu {

inline constexpr unsigned most_motif_vertices = match::MotifTables::most_vertices;

/// A part of the tree of traversals: the vertices taken, as the root and positions of the stack of candidates, and which
/// candidates are to be taken next. A root whose candidates are not known yet has last == 0.
struct MotifTask {
  std::uint32_t root;
  std::uint32_t size;                                ///< vertices taken
  std::uint32_t positions[most_motif_vertices - 1];  ///< of those behind the root, from index 1 on
  std::uint32_t first;
  std::uint32_t last;
};

/// match::MotifTables on a device.
struct MotifTableView {
  unsigned depth;
  unsigned patterns;
  const match::PatternStep* steps;
  std::uint32_t first_step[most_motif_vertices];
  const std::uint8_t* admitted;
  std::uint32_t first_pattern[most_motif_vertices];
  const std::uint16_t* pairs;  ///< null: single vertices are counted
};

/// From zero.
struct MotifProgress {
  unsigned long long taken;  ///< inputs: tasks, then roots; may exceed how many there are
  unsigned long long saved;  ///< tasks
  unsigned idle;             ///< warps that have ended
};

struct MotifWork {
  const std::uint64_t* begin;  ///< of each vertex's neighbours, and where the last list ends
  const std::uint32_t* neighbours;
  MotifTableView tables;

  const MotifTask* tasks;
  std::uint64_t task_count;
  std::uint32_t first_root;  ///< behind the tasks the roots from here on are taken
  std::uint32_t last_root;

  unsigned warps;
  std::uint8_t* marks;  ///< of each warp: by vertex, zero before and after
  std::uint64_t vertices;
  std::uint32_t* stacks;  ///< of each warp
  std::uint64_t stack_size;

  unsigned budget;      ///< steps of a warp, then it saves what is left
  unsigned patience;    ///< steps of a warp after which it looks for idle ones
  unsigned idle_warps;  ///< so many let it save what is left too
  MotifTask* saved;     ///< room for `depth` tasks of each warp
  MotifProgress* progress;
  unsigned long long* counts;  ///< by pattern: added to
};

}  // namespace deltamatch::gpu
