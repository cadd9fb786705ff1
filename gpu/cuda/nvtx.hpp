// Named ranges for profilers. They cost nothing if no profiler listens. Internal to gpu.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace deltamatch::gpu {

/// Ranges of one thread must nest.
inline void begin_range(const char* name) noexcept { nvtxRangePushA(name); }
inline void end_range() noexcept { nvtxRangePop(); }

class Range {
 public:
  explicit Range(const char* name) noexcept { begin_range(name); }
  ~Range() { end_range(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace deltamatch::gpu
