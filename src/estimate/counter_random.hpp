// Random numbers that depend only on their key and their position in the stream. So it does not matter which thread draws them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace deltamatch::estimate {

/// SplitMix64 (Steele, Lea, Flood 2014), started from a hash of the key.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t round, std::uint64_t piece) noexcept : state_(mix(mix(mix(seed) ^ round) ^ piece)) {}

  std::uint64_t next() noexcept { return mix(state_ += 0x9e3779b97f4a7c15U); }
  /// Between 0 and 1, both excluded.
  double uniform() noexcept { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

  /// A number from 0 to n - 1. All are equally likely, up to an error of n / 2^64.
  std::uint64_t below(std::uint64_t n) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>(next()) * n >> 64);
  }

  /// The failures before the first success, or infinity. `log_failure` = log(1 - p) < 0.
  double failures(double log_failure) noexcept { return std::floor(std::log(uniform()) / log_failure); }

  /// The successes in n trials. O(min(n p, 1)) expected.
  std::uint64_t binomial(std::uint64_t n, double p) noexcept;

 private:
  static std::uint64_t mix(std::uint64_t x) noexcept {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  }
  std::uint64_t rejection(double n, double p) noexcept;

  std::uint64_t state_;
};

/// Up to this many expected successes, drawing them one by one is cheaper.
inline constexpr double few_successes = 16;

inline std::uint64_t Random::binomial(std::uint64_t n, double p) noexcept {
  if (n == 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (p > 0.5) return n - binomial(n, 1 - p);
  const auto trials = static_cast<double>(n);
  if (trials * p >= few_successes) return rejection(trials, p);
  const double log_failure = std::log1p(-p);
  std::uint64_t successes = 0;
  double at = failures(log_failure);
  while (at < trials) {
    ++successes;
    at += 1 + failures(log_failure);
  }
  return successes;
}

// Transformed rejection with squeeze, BTRS (Hoermann, The generation of binomial random variates, 1993). Requires n p >= 10 and
// p <= 1/2.
inline std::uint64_t Random::rejection(double n, double p) noexcept {
  // The difference between log k! and Stirling's formula.
  const auto tail = [](double k) {
    static constexpr std::array<double, 10> table = {
        0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
        0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287};
    if (k < 10) return table[static_cast<std::size_t>(k)];
    const double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
  };
  const double odds = p / (1 - p);
  const double deviation = std::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = n * p + 0.5;
  const double squeeze = 0.92 - 4.2 / b;
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = std::floor((n + 1) * p);
  for (;;) {
    const double u = uniform() - 0.5;
    double v = uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= squeeze) return static_cast<std::uint64_t>(k);
    if (k < 0 || k > n) continue;
    v = std::log(v * alpha / (a / (us * us) + b));
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (n - mode + 1))) +
                         (n + 1) * std::log((n - mode + 1) / (n - k + 1)) + (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) +
                         tail(mode) + tail(n - mode) - tail(k) - tail(n - k);
    if (v <= bound) return static_cast<std::uint64_t>(k);
  }
}

}  // namespace deltamatch::estimate
