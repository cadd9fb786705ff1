#include "engine/whole/portions.hpp"

#include <algorithm>

namespace deltamatch::engine {

namespace {

constexpr std::size_t most_portion = std::size_t{1} << 16;
constexpr double short_portion = 0.05;  // seconds
constexpr double long_portion = 0.2;
// A portion that is broken off for filtering is lost. So while that may happen, a portion should take at most this share of the
// patience.
constexpr double lost_share = 0.05;
// While a portion may be lost, it has at least 1/16 of the anchors that keep the matcher busy.
constexpr std::size_t patient_share = 16;

}  // namespace

Portions::Portions(std::size_t threads, std::size_t preferred_anchors) noexcept
    : least_(threads),
      most_(std::max(most_portion, 4 * preferred_anchors)),
      size_(std::max(least_, preferred_anchors)),
      least_if_lost_(std::max(least_, preferred_anchors / patient_share)) {}

void Portions::may_lose(double patience) noexcept {
  may_lose_ = true;
  seconds_if_lost_ = lost_share * patience;
  size_ = least_if_lost_;
}

void Portions::begin(std::uint64_t starts) noexcept {
  starts_ = starts;
  tried_ = 0;
}

// While a portion may be lost, it has at most a quarter of what is left. Vertices are often numbered by degree, so a few of the
// last ones take most of the time.
std::size_t Portions::next() const noexcept {
  return may_lose_ ? std::min<std::size_t>(size_, std::max<std::uint64_t>(least_if_lost_, (starts_ - tried_) / 4)) : size_;
}

void Portions::tried(std::size_t starts, double seconds) noexcept {
  tried_ += starts;
  const double aim = may_lose_ ? std::min(short_portion, seconds_if_lost_) : short_portion;
  if (seconds < aim) size_ = std::min(seconds < aim / 8 ? 8 * size_ : 2 * size_, most_);
  if (seconds > long_portion) size_ = std::max(size_ / 2, least_);
}

double Portions::untried() const noexcept {
  return 1 - static_cast<double>(tried_) / static_cast<double>(std::max<std::uint64_t>(1, starts_));
}

}  // namespace deltamatch::engine
