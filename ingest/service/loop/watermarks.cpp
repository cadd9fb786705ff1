#include "ingest/service/loop/watermarks.hpp"

#include <algorithm>

namespace deltamatch::ingest {

using namespace std::chrono_literals;

WatermarkLevel WatermarkLevel::of(const PartitionTime& part) noexcept {
  return {!part.idle, part.idle ? std::nullopt : part.largest, part.largest};
}

WatermarkLevel WatermarkLevel::with(const WatermarkLevel& other) const noexcept {
  WatermarkLevel both{held || other.held, least, std::max(largest, other.largest)};
  if (other.held) both.least = held ? std::min(least, other.least) : other.least;
  return both;
}

std::chrono::milliseconds Watermarks::ask_every(std::chrono::milliseconds idle_after) {
  return std::clamp<std::chrono::milliseconds>(idle_after / 5, 50ms, 5s);
}

std::chrono::milliseconds Watermarks::answer_counts(std::chrono::milliseconds idle_after) {
  return 2 * ask_every(idle_after) + 1s;
}

bool Watermarks::holds(const Part& part, Clock::time_point now) const {
  if (part.gone) return false;
  if (!part.end || now - part.end->last >= answer_counts(idle_after_)) return true;
  if (part.spoke && !part.largest) return false;
  return part.end->last - std::max(part.end->since, part.seen) < idle_after_;
}

void Watermarks::resume(std::size_t part, Clock::time_point now) {
  parts_[part].gone = false;
  parts_[part].seen = now;
  parts_[part].end.reset();
}

void Watermarks::see(std::size_t part, std::optional<Timestamp> time, Clock::time_point now) {
  Part& at = parts_[part];
  at.seen = now;
  at.spoke = true;
  at.largest = std::max(at.largest, time);  // an empty time is less than any other
  judge(at);
}

std::optional<Timestamp> Watermarks::at(Clock::time_point now) const {
  WatermarkLevel all;
  for (const Part& part : parts_) all = all.with(WatermarkLevel::of({part.largest, !holds(part, now)}));
  return std::max(watermark_, all.watermark());
}

std::vector<PartitionTime> Watermarks::times(Clock::time_point now) const {
  std::vector<PartitionTime> all;
  all.reserve(parts_.size());
  for (const Part& part : parts_) all.push_back({part.largest, !holds(part, now)});
  return all;
}

void Watermarks::judge(Part& part) {
  const bool below = part.largest <= bound_ && holds(part, judged_);
  if (below != part.below) below_ += below ? 1 : -1;
  part.below = below;
}

void Watermarks::limit(std::optional<Timestamp> bound, Clock::time_point now) {
  bound_ = bound;
  judged_ = now;
  for (Part& part : parts_) judge(part);
}

bool Watermarks::passes(std::size_t part, std::optional<Timestamp> time) const {
  const Part& at = parts_[part];
  return std::max(at.largest, time) > bound_ && below_ == (at.below ? 1 : 0);
}

}  // namespace deltamatch::ingest
