#include "ingest/service/watermarks.hpp"

#include <algorithm>

namespace deltamatch::ingest {

void Watermarks::see(std::size_t part, std::optional<Timestamp> time, Clock::time_point now) {
  parts_[part].seen = now;
  parts_[part].largest = std::max(parts_[part].largest, time);  // nothing is less than any time
}

std::optional<Timestamp> Watermarks::advance(Clock::time_point now) {
  bool busy = false;
  std::optional<Timestamp> least;    // over busy partitions
  std::optional<Timestamp> largest;  // over all
  for (const Part& part : parts_) {
    largest = std::max(largest, part.largest);
    if (now - part.seen >= idle_after_) continue;
    least = busy ? std::min(least, part.largest) : part.largest;
    busy = true;
  }
  watermark_ = std::max(watermark_, busy ? least : largest);
  return watermark_;
}

}  // namespace deltamatch::ingest
