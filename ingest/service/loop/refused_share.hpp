// The share of the latest records that was refused.
#pragma once

#include <cstdint>
#include <deque>

namespace deltamatch::ingest {

/// Covers the last batches that together have at least 10,000 records, or all batches while there are fewer records. Not
/// thread-safe.
class RefusedShare {
 public:
  static constexpr std::uint64_t horizon = 10'000;
  static constexpr std::uint64_t least = 100;  ///< of fewer records, a share says little

  /// Adds a batch: the number of its records with content, and how many of these were refused. O(1) amortised.
  void add(std::uint64_t records, std::uint64_t refused) {
    if (records == 0) return;
    batches_.push_back({records, refused});
    records_ += records;
    refused_ += refused;
    while (records_ - batches_.front().records >= horizon) {
      records_ -= batches_.front().records;
      refused_ -= batches_.front().refused;
      batches_.pop_front();
    }
  }

  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
  /// Whether the share is larger than `most`, and enough records say so.
  [[nodiscard]] bool exceeds(double most) const noexcept { return records_ >= least && share() > most; }
  /// From 0 to 1.
  [[nodiscard]] double share() const noexcept {
    return records_ == 0 ? 0 : static_cast<double>(refused_) / static_cast<double>(records_);
  }

 private:
  struct Batch {
    std::uint64_t records;
    std::uint64_t refused;
  };
  std::deque<Batch> batches_;
  std::uint64_t records_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace deltamatch::ingest
