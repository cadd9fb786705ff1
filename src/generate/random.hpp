// Random numbers that are equal on every machine, compiler and standard library. They use integers only, no libm.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace deltamatch::generate {

/// xoshiro256** seeded through splitmix64. Equal seeds give equal sequences everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept;

  /// Returns 64 uniform bits.
  std::uint64_t next() noexcept;
  /// Returns a uniform number in [0, bound), without bias. bound > 0.
  std::uint64_t below(std::uint64_t bound) noexcept;
  /// Returns true with probability `share`, a number in [0, 1] (to 53 bits).
  bool chance(double share) noexcept;
  /// Returns an exponentially distributed number with the given mean (below 2^56), rounded down. It is less than 45 times the
  /// mean.
  std::uint64_t exponential(std::uint64_t mean) noexcept;

  template <typename T>
  void shuffle(std::span<T> items) noexcept {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_[4];
};

/// A well mixed 64-bit hash of a 64-bit number (a bijection).
[[nodiscard]] std::uint64_t mix(std::uint64_t x) noexcept;

/// log2(x) as a fixed-point number with 32 fractional bits, rounded down; x > 0.
[[nodiscard]] std::uint64_t log2_fixed(std::uint64_t x) noexcept;

/// 2^-y with 32 fractional bits. y has 32 fractional bits too.
[[nodiscard]] std::uint64_t exp2_negative_fixed(std::uint64_t y) noexcept;

/// Returns weights of `count` items by rank, proportional to (rank + offset)^-power. They are scaled so that the first is 2^32
/// - 1; none is zero. offset >= 1, 0 <= power <= 16.
[[nodiscard]] std::vector<std::uint32_t> power_law_weights(std::uint32_t count, std::uint32_t offset, double power);

/// Draws indices with probability exactly proportional to integer weights: Walker's alias method in integers. O(n) to build,
/// O(1) to draw, 12 bytes per item.
class AliasTable {
 public:
  AliasTable() = default;
  /// `weights` must not be empty, must have at most 2^31 items, and must have a weight above zero.
  explicit AliasTable(std::span<const std::uint32_t> weights);
  [[nodiscard]] std::uint32_t operator()(Random& random) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return alias_.size(); }

 private:
  std::vector<std::uint64_t> threshold_;  // of total_; below it a column yields its own index
  std::vector<std::uint32_t> alias_;
  std::uint64_t total_ = 0;
};

}  // namespace deltamatch::generate
