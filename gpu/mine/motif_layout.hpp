// Counting patterns on a device: what the kernel reads and writes (gpu/mine/device_motifs.hpp explains the idea).
#pragma once

#include <cstdint>

#include "match/motif_counter.hpp"

namespace deltamatch::gpu {

inline constexpr unsigned most_motif_vertices = match::MotifTables::most_vertices;

/// A part of the tree of traversals. It names the taken vertices: the root, and positions in the stack of candidates. It also
/// says which candidates to take next. If the candidates of a root are not known yet, last == 0.
struct MotifTask {
  std::uint32_t root;
  std::uint32_t size;                                ///< vertices taken
  std::uint32_t positions[most_motif_vertices - 1];  ///< positions[i] is of taken vertex i; index 0, the root, is unused
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

/// Starts from zero.
struct MotifProgress {
  unsigned long long taken;  ///< inputs: tasks, then roots; may exceed their number
  unsigned long long saved;  ///< tasks
  unsigned idle;             ///< warps that have ended
};

struct MotifWork {
  const std::uint64_t* begin;  ///< offsets of the vertices' neighbours, then the end of the last list
  const std::uint32_t* neighbours;
  MotifTableView tables;

  const MotifTask* tasks;
  std::uint64_t task_count;
  std::uint32_t first_root;  ///< after the tasks, roots from this one on are taken
  std::uint32_t last_root;

  unsigned warps;
  std::uint8_t* marks;  ///< of each warp: by vertex, zero before and after
  std::uint64_t vertices;
  std::uint32_t* stacks;  ///< of each warp
  std::uint64_t stack_size;

  unsigned budget;      ///< steps of a warp, after which it saves what is left
  unsigned patience;    ///< steps of a warp, after which it looks for idle ones
  unsigned idle_warps;  ///< if this many are idle, a warp saves what is left, too
  MotifTask* saved;     ///< room for `depth` tasks of each warp
  MotifProgress* progress;
  unsigned long long* counts;  ///< by pattern; the kernel adds to them
};

}  // namespace deltamatch::gpu
