// Random numbers that are the same on every machine, compiler and standard library: integers only, no libm.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace deltamatch::generate {

/// xoshiro256** seeded through splitmix64: equal seeds give equal sequences everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept;

  /// 64 uniform bits.
  std::uint64_t next() noexcept;
  /// Uniform in [0, bound), without bias; bound > 0.
  std::uint64_t below(std::uint64_t bound) noexcept;
  /// True with probability `share`, which is a number in [0, 1] (to 53 bits).
  bool chance(double share) noexcept;
  /// Exponentially distributed with the given mean (below 2^56), rounded down; less than 45 times the mean.
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

/// 2^-y with 32 fractional bits, where y has 32 fractional bits.
[[nodiscard]] std::uint64_t exp2_negative_fixed(std::uint64_t y) noexcept;

/// Weights of `count` items by rank, proportional to (rank + offset)^-power and scaled so that the first is 2^32 - 1; none is
/// zero. offset >= 1, 0 <= power <= 16.
[[nodiscard]] std::vector<std::uint32_t> power_law_weights(std::uint32_t count, std::uint32_t offset, double power);

/// Draws indices with probability proportional to integer weights, exactly: Walker's alias method in integers. O(n) to build,
/// O(1) to draw, 12 bytes per item.
class Discrete {
 public:
  Discrete() = default;
  /// Not empty, at most 2^31 items, at least one weight above zero.
  explicit Discrete(std::span<const std::uint32_t> weights);
  [[nodiscard]] std::uint32_t operator()(Random& random) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return alias_.size(); }

 private:
  std::vector<std::uint64_t> threshold_;  // of total_, below which a column yields its own index
  std::vector<std::uint32_t> alias_;
  std::uint64_t total_ = 0;
};

}  // namespace deltamatch::generate
