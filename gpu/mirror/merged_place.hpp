// Merges two ascending runs, each entry on its own. Runs on host and device alike.
#pragma once

#include <cstdint>

#include "gpu/cuda/host_device.hpp"

namespace deltamatch::gpu {

/// The place of id number `i` after merging two runs. The first `run` of the `count` ids ascend, and so do the others. No id is
/// in both. O(log count).
DELTAMATCH_HOST_DEVICE inline std::uint32_t merged_place(const std::uint32_t* ids, std::uint32_t run, std::uint32_t count,
                                                         std::uint32_t i) {
  const bool first = i < run;
  std::uint32_t low = first ? run : 0;
  std::uint32_t high = first ? count : run;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (ids[middle] < ids[i]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return i + low - run;
}

}  // namespace deltamatch::gpu
