// Counts the connected induced patterns of a graph on devices.
//
// A warp walks the tree of traversals depth first (gpu/mine/motif_step.hpp). In device memory it has a byte for each vertex and
// a stack of candidates. The stack has room for the whole tree, so no degree is too large. Tables say which pattern a part is,
// and whether a condition lets it grow.
//
// Work is shared out by launches. Warps take roots, or parts of trees, from a counter. A launch ends in one of two cases:
// - all work is taken and enough warps are idle (as in DuMato)
// - its time is up
//
// The other warps then save where they are, which is a few numbers for each size. The host cuts what is left into pieces for
// the next launch. In between it checks the clock and adds up in 128 bits. Sums of a launch fit 64 bits.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "gpu/mine/motif_ops.hpp"
#include "gpu/mine/on_devices.hpp"

namespace deltamatch::gpu {

using MakeMotifOps = MakeOps<MotifOps>;

struct MotifSettings {
  std::size_t memory = 0;        ///< bytes of each device at most; 0: what is free, less a reserve
  unsigned least_warps = 64;     ///< with memory for fewer, the CPU is faster
  unsigned budget = 1U << 15;    ///< steps of a warp in a launch: about 32 entries of lists each
  unsigned patience = 1U << 10;  ///< steps before a warp may stop so that idle ones get work
  unsigned idle_percent = 30;    ///< of the warps
  unsigned pieces_for_warp = 4;  ///< how many tasks per warp the host cuts, if there are fewer
};

/// Makes a counter with one thread for each device. The devices share out the tree.
[[nodiscard]] std::unique_ptr<match::MotifCounter> make_motif_counter(std::vector<MakeMotifOps> devices,
                                                                      const MotifSettings& settings = {});

}  // namespace deltamatch::gpu
