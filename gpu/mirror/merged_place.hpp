// Two ascending runs become one, every entry for itself. Runs on host and device alike.
#pragma once

#include <cstdint>

#include "gpu/cuda/host_device.hpp"

namespace deltamatch::gpu {

/// Of `count` ids, the first `run` ascend and so do the others, and none is in both: where number `i` stands once they are one
/// run. O(log count).
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
