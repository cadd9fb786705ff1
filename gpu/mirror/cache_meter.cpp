#include "gpu/mirror/cache_meter.hpp"

#include <array>

namespace deltamatch::gpu {

namespace {

constexpr std::array shares{0.01, 0.02, 0.03, 0.04, 0.05, 0.1, 0.2};
constexpr double told = 0.05;  // as CacheStatistics::coverage

}  // namespace

void CacheMeter::add(std::vector<estimate::Accessed> truth) {
  if (truth.empty()) return;
  const std::vector<estimate::TopLists> found = estimate::top_lists(truth, shares);
  if (sums_.empty()) {
    for (const double share : shares) sums_.push_back({share, 0, 0, 0});
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    sums_[i].accesses += found[i].accesses;
    sums_[i].coverage += found[i].coverage;
    sums_[i].bytes += found[i].bytes;
  }
  ++batches_;
}

void CacheMeter::write(CacheStatistics& into) const {
  into.top.clear();
  for (const estimate::TopLists& sum : sums_) {
    into.top.push_back({sum.share, sum.accesses / batches_, sum.coverage / batches_, sum.bytes / batches_});
    if (sum.share == told) into.coverage = into.top.back().coverage;
  }
}

}  // namespace deltamatch::gpu
