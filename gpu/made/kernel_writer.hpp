// Writes the kernels that are made for one plan, as text for a compiler (gpu/made/compiler.hpp). Needs no device.
//
// A plan gets a kernel for its anchors, and one for each depth of its loops. The loops below an anchor are cut into tasks of
// few entries, so no warp has much more work than another. A task's inner loops are nested in its kernel. If one of them is
// long, it is cut, too, and waits for the kernel of its depth.
//
// Matches are counted as the interpreter (gpu/loops/kernel.cu) counts them. Listing and lists with parallel edges are left to
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/program/flat_programs.hpp"

namespace deltamatch::gpu {

/// A list that the kernels read, by query relation.
struct WayOf {
  std::uint16_t query_relation;
  bool inclusive;
  friend bool operator==(const WayOf&, const WayOf&) = default;
};

/// What the host must know of written kernels.
struct MadeText {
  std::string text;
  std::vector<WayOf> ways;       ///< those that MadeLaunch::ways must hold, in this order
  std::uint32_t depths = 1;      ///< kernels: made_0 for anchors, made_1 for tasks of depth 1, and so on
  std::uint32_t task_words = 0;  ///< in a task; at most 32
  std::uint32_t tasks = 0;       ///< places that an anchor needs in the reserve of depth 1
  std::uint32_t sets = 0;        ///< sets that a warp keeps for itself at once
  std::uint32_t bitmaps = 0;     ///< that a warp has in the kernel with the most
  std::uint32_t meetings = 0;    ///< likewise, of lists that it reads at once
};

/// The part of a program that decides its text: equal bytes lead to the same text. O(size of the program).
[[nodiscard]] std::string signature_of(const FlatPrograms& flat, const Program& program);

/// Whether a program can be written: it counts, and every list that it reads lies in the base store and holds an id once.
[[nodiscard]] bool can_be_made(const FlatPrograms& flat, const Program& program);

/// Writes the kernels of a program for which can_be_made holds.
[[nodiscard]] MadeText write_kernels(const FlatPrograms& flat, const Program& program);

}  // namespace deltamatch::gpu
