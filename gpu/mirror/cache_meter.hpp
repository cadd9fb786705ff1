// How well the cache was chosen, by true counts of look-ups. Internal to gpu.
#pragma once

#include <vector>

#include "deltamatch/engine.hpp"
#include "estimate/selection.hpp"

namespace deltamatch::gpu {

/// Averages over batches, and over the devices that share them.
class CacheMeter {
 public:
  /// One batch of one device: what was looked up at all.
  void add(std::vector<estimate::Accessed> truth);
  /// Sets CacheStatistics::top and coverage, if there was a batch.
  void write(CacheStatistics& into) const;

 private:
  std::vector<TopLists> sums_;
  double batches_ = 0;
};

}  // namespace deltamatch::gpu
