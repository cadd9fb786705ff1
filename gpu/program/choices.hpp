// How a matcher chooses between ways that give the same result. Tests and measurements can fix the choice.
#pragma once

#include <cstdint>

namespace deltamatch {

/// Which sums run in the kernel that counts with tables, instead of the one that walks loops.
enum class GpuTables : std::uint8_t {
  automatic,  ///< sums in which paths from several matched vertices meet at a vertex that is adjacent to none of them
  always,     ///< every sum that it supports
  never,
};

/// Whether loops of a kernel reuse the sets that outer loops have found.
enum class GpuReuse : std::uint8_t {
  automatic,  ///< in programs that are expected to do less than half of the work then
  always,     ///< wherever they can
  never,
};

/// Whether plans get kernels of their own (gpu/made).
enum class GpuMade : std::uint8_t {
  never,
  always,  ///< if the cache has no DemandRing and nothing is measured; a batch waits for the compiler
};

}  // namespace deltamatch
