// What the devices of a matcher did, as fields. The public form is a list of metrics by name. Internal to gpu.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "deltamatch/statistics.hpp"
#include "estimate/selection.hpp"

namespace deltamatch::gpu {

/// All since the matcher was made. A list counts once for each look-up by a kernel.
struct CacheStatistics {
  std::uint64_t hits = 0;          ///< look-ups of lists in device memory
  std::uint64_t misses = 0;        ///< look-ups of lists that were read from host memory
  std::uint64_t filled = 0;        ///< vertices whose lists kernels copied to the device when they missed them
  std::uint64_t copied_bytes = 0;  ///< sent to the device in bulk, for the cache and for batches
  std::uint64_t cached_lists = 0;  ///< in device memory now
  std::uint64_t cached_bytes = 0;
  std::uint64_t choices = 0;       ///< how often the cache's contents were chosen anew
  std::uint64_t on_cpu = 0;        ///< how many times a query of a batch ran on the CPU instead, in one of its passes or both
  std::uint64_t shared_parts = 0;  ///< parts of work that busy warps gave to idle ones
  double kernel_seconds = 0;       ///< run time of kernels; of several devices the longest
  std::string notice;              ///< what was done differently than planned, and why; empty if nothing
  /// If measuring is on: averages over the batches, for shares of 1 % to 5 %, 10 % and 20 %.
  std::vector<estimate::TopLists> top = {};
  double coverage = 0;  ///< of the top 5 %
};

/// The metrics of the GPU backend. Those about look-ups are there only if measuring is on.
[[nodiscard]] BackendStatistics to_metrics(const CacheStatistics& statistics);

}  // namespace deltamatch::gpu
