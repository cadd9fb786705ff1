// Named ranges for profilers; they cost nothing where no profiler listens. Internal to gpu.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace deltamatch::gpu {

class Range {
 public:
  explicit Range(const char* name) noexcept { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace deltamatch::gpu
