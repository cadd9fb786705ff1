// Checked arithmetic on counts. A result beyond 2^128 - 1 is an Error.
#pragma once

#include <cstdint>

#include "deltamatch/count.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch {

/// The error for a count beyond 2^128 - 1.
class CountOverflow : public Error {
 public:
  CountOverflow();
};

[[noreturn]] void throw_count_overflow();

[[nodiscard]] inline Count checked_add(Count a, Count b) {
  Count sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) [[unlikely]]
    throw_count_overflow();
  return sum;
}

[[nodiscard]] inline Count checked_mul(Count a, Count b) {
  Count product = 0;
  if (__builtin_mul_overflow(a, b, &product)) [[unlikely]]
    throw_count_overflow();
  return product;
}

/// Returns n! for n <= 34, and throws beyond that. O(n).
[[nodiscard]] Count checked_factorial(std::uint64_t n);

/// Returns the number of k-subsets of n things; 0 if k > n. Throws only if the result itself is beyond 2^128 - 1. O(min(k, n -
/// k)), and at most a few hundred steps, because the result then exceeds 128 bits.
[[nodiscard]] Count checked_binomial(std::uint64_t n, std::uint64_t k);

}  // namespace deltamatch
