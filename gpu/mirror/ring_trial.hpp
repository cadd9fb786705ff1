// Decides whether kernels fill a DemandRing. Needs no device.
#pragma once

#include <cstdint>

namespace deltamatch::gpu {

/// Filling the ring pays if lists are looked up again soon. If they are not, copying them takes longer than reading them. That
/// depends on the graph and the queries, so both are tried.
///
/// A trial takes some batches, with and without the ring in turn. Then the faster way holds for many batches, until the next
/// trial.
class RingTrial {
 public:
  static constexpr unsigned first_batches = 2;   ///< fill the ring before the first trial
  static constexpr unsigned trial_batches = 8;   ///< of which every other one fills the ring
  static constexpr unsigned held_batches = 120;  ///< between two trials
  /// Without the ring, matching must take at most this share of the time with it.
  static constexpr double worthwhile = 0.95;

  /// Whether the next batch fills the ring.
  [[nodiscard]] bool fills() const noexcept {
    if (batches_ < first_batches) return true;
    return in_trial() ? (batches_ - first_batches) % 2 == 0 : fills_;
  }
  /// Reports that a batch with so many anchors was matched. One without anchors tells nothing.
  void matched(double seconds, std::uint64_t anchors) noexcept {
    if (anchors == 0) return;
    if (in_trial()) {
      Side& side = sides_[fills() ? 1 : 0];
      side.seconds += seconds;
      side.anchors += static_cast<double>(anchors);
    }
    if (++batches_ == first_batches + trial_batches) {
      fills_ = sides_[0].seconds * sides_[1].anchors > worthwhile * sides_[1].seconds * sides_[0].anchors;
      sides_[0] = sides_[1] = {};
    }
    if (batches_ == first_batches + trial_batches + held_batches) batches_ = first_batches;
  }
  /// Begins anew, for other queries.
  void restart() noexcept { *this = {}; }

 private:
  struct Side {
    double seconds = 0;
    double anchors = 0;
  };
  [[nodiscard]] bool in_trial() const noexcept { return batches_ >= first_batches && batches_ < first_batches + trial_batches; }

  unsigned batches_ = 0;
  bool fills_ = true;
  Side sides_[2];  // without the ring, with it
};

}  // namespace deltamatch::gpu
