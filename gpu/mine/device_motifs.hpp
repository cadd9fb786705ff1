// Counting the connected induced patterns of a graph on devices.
//
// A warp walks the tree of traversals depth first (gpu/mine/motif_step.hpp), with a byte for each vertex and a stack of
// candidates of its own in device memory: as large as the tree can need, so that no degree is too large. Which pattern a part
// is, and whether a condition lets it grow, it reads off tables.
//
// Work is shared out by launches: warps take roots, or parts of trees, from a counter. A launch ends when all is taken and
// enough warps are idle (as in DuMato), or when its time is up: then the others save where they are, which is a few numbers for
// each size, and the host cuts what is left into pieces for the next launch. In between it looks at the clock and adds up in
// 128 bits; sums of a launch fit 64.
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
  unsigned least_warps = 64;     ///< with memory for fewer the CPU does better
  unsigned budget = 1U << 15;    ///< steps of a warp in a launch: about 32 entries of lists each
  unsigned patience = 1U << 10;  ///< steps of a warp before it ends for the sake of idle ones
  unsigned idle_percent = 30;    ///< of the warps
  unsigned pieces_for_warp = 4;  ///< tasks that the host aims at where there are fewer
};

/// One thread for each device; they share the tree out among themselves.
[[nodiscard]] std::unique_ptr<match::MotifCounter> make_motif_counter(std::vector<MakeMotifOps> devices,
                                                                      const MotifSettings& settings = {});

}  // namespace deltamatch::gpu
