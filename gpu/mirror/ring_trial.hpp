// Decides which share of a cache is a DemandRing. Needs no device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace deltamatch::gpu {

/// A ring serves lists that are looked up again soon, whatever they are. The rest of the cache serves those that are usually
/// looked up. Which of them is worth more depends on the graph and the queries, and so does whether copying pays at all. So
/// shares are tried.
///
/// A trial measures the present share and then those beside it. The fastest holds for many batches, until the next trial. A
/// cache that is divided anew must be filled anew. So the next trial also waits until that is a small part of the time.
class RingTrial {
 public:
  static constexpr std::array<double, 4> shares{0, 0.25, 0.5, 0.875};
  static constexpr std::size_t first_share = 2;    ///< the place in `shares` of the one to begin with
  static constexpr unsigned settling_batches = 2;  ///< fill the ring, before batches are measured
  static constexpr unsigned measured_batches = 6;
  static constexpr unsigned held_batches = 240;  ///< between two trials, at least
  static constexpr double most_filling = 0.02;   ///< of the time of matching
  /// Another share must take at most this part of the time.
  static constexpr double worthwhile = 0.97;

  /// The ring's share in the next batch.
  [[nodiscard]] double share() const noexcept { return shares[present_]; }
  /// Reports that the cache has been divided anew, and how long it took to fill what is chosen.
  void divided(double seconds) noexcept { filling_ += seconds; }
  /// Reports that a batch with so many anchors was matched. One without anchors tells nothing.
  void matched(double seconds, std::uint64_t anchors) noexcept {
    if (anchors == 0) return;
    ++batches_;
    if (holds_) {
      seconds_ += seconds;
      if (batches_ >= held_batches && filling_ <= most_filling * seconds_) restart();
      return;
    }
    if (batches_ <= settling_batches) return;
    seconds_ += seconds;
    anchors_ += static_cast<double>(anchors);
    if (batches_ == settling_batches + measured_batches) compare();
  }
  /// Begins a trial, for other queries. It starts with the present share.
  void restart() noexcept {
    best_ = present_;
    known_ = {};
    holds_ = false;
    filling_ = 0;
    measure(present_);
  }

 private:
  void measure(std::size_t share) noexcept {
    present_ = share;
    batches_ = 0;
    seconds_ = anchors_ = 0;
  }
  void compare() noexcept {
    const double cost = seconds_ / anchors_;
    known_[present_] = true;
    if (present_ == best_ || cost <= worthwhile * least_) {
      best_ = present_;
      least_ = cost;
    }
    if (best_ > 0 && !known_[best_ - 1]) {
      measure(best_ - 1);
    } else if (best_ + 1 < shares.size() && !known_[best_ + 1]) {
      measure(best_ + 1);
    } else {
      measure(best_);
      holds_ = true;
    }
  }

  std::size_t present_ = first_share;
  std::size_t best_ = first_share;
  double least_ = 0;  // seconds for an anchor with the best share
  std::array<bool, shares.size()> known_{};
  bool holds_ = false;
  unsigned batches_ = 0;  // with the present share
  double seconds_ = 0;    // of those that are measured, or since the trial
  double anchors_ = 0;
  double filling_ = 0;  // seconds, since the trial began
};

}  // namespace deltamatch::gpu
