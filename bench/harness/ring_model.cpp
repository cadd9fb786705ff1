#include "bench/harness/ring_model.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cmath>
#include <span>

#include "estimate/counter_random.hpp"

namespace deltamatch::bench {

namespace {

// Parts of a look-up add up to one up to this error.
constexpr double rounding = 1e-3;

// A warp that makes the look-ups of one piece of work.
struct WorkingWarp {
  std::span<const estimate::LookUp> rest;
  boost::unordered_flat_map<std::uint64_t, double> made;  // by key: what of the last look-up belongs to partial matches to come

  // Moves to the next look-up. Returns how often it is made: not at all if it was shared.
  std::uint64_t next() {
    const estimate::LookUp one = rest.front();
    rest = rest.subspan(1);
    double& left = made[one.key];
    const double missing = one.times - left;
    const auto times = static_cast<std::uint64_t>(std::max(0.0, std::ceil(missing - rounding)));
    left = static_cast<double>(times) - missing;
    return times;
  }
};

}  // namespace

std::vector<std::uint64_t> order_of(const estimate::Trace& trace, std::size_t warps) {
  std::vector<std::uint64_t> order;
  std::vector<WorkingWarp> working(warps);
  auto next = trace.begin();
  for (bool some = true; some;) {
    some = false;
    for (WorkingWarp& warp : working) {
      while (warp.rest.empty() && next != trace.end()) {
        warp.rest = *next++;
        warp.made.clear();
      }
      std::uint64_t times = 0;
      std::uint64_t key = 0;
      while (times == 0 && !warp.rest.empty()) {
        key = warp.rest.front().key;
        times = warp.next();
      }
      order.insert(order.end(), times, key);
      some = some || times > 0 || !warp.rest.empty();
    }
    some = some || next != trace.end();
  }
  return order;
}

bool RingModel::look_up(std::uint64_t key, std::size_t bytes) {
  if (key >= segment_of_.size()) segment_of_.resize(std::max<std::size_t>(key + 1, 2 * segment_of_.size()));
  std::uint32_t& place = segment_of_[key];
  // Segments from `segment_` + ahead - segments on back are empty.
  if (place != 0 && place - 1 + shape_.segments > segment_ + shape_.segments_ahead) return true;
  const auto granules = static_cast<std::uint32_t>((bytes + gpu::RingShape::granule_bytes - 1) / gpu::RingShape::granule_bytes);
  if (granules == 0 || granules > shape_.most_granules || is_put_off(granules)) return false;
  if (taken_ + granules > shape_.segment_granules) {
    ++segment_;
    taken_ = 0;
  }
  taken_ += granules;
  place = segment_ + 1;
  ++filled_lists_;
  filled_bytes_ += bytes;
  return false;
}

void RingModel::drop(std::uint64_t key) noexcept {
  if (key < segment_of_.size()) segment_of_[key] = 0;
}

bool RingModel::is_put_off(std::uint32_t granules) noexcept {
  if (granules <= gpu::RingShape::short_granules) return false;
  return estimate::Random(0, 0, ++draws_).below(granules) >= gpu::RingShape::short_granules;
}

}  // namespace deltamatch::bench
