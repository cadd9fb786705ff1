// Measures how well the cache was chosen, from true counts of look-ups. Internal to gpu.
#pragma once

#include <vector>

#include "estimate/selection.hpp"
#include "gpu/mirror/cache_statistics.hpp"

namespace deltamatch::gpu {

/// Averages over batches, and over the devices that share them.
class CacheMeter {
 public:
  /// Adds one batch of one device. `truth`: all vertices that were looked up.
  void add(std::vector<estimate::Accessed> truth);
  /// Sets CacheStatistics::top and coverage, if there was a batch.
  void write(CacheStatistics& into) const;

 private:
  std::vector<estimate::TopLists> sums_;
  double batches_ = 0;
};

}  // namespace deltamatch::gpu
