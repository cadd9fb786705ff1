// Checked arithmetic on counts: a result beyond 2^128 - 1 is an Error.
#pragma once

#include <cstdint>

#include "deltamatch/count.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch {

/// A count beyond 2^128 - 1.
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

/// n! for n <= 34; beyond that an Error. O(n).
[[nodiscard]] Count checked_factorial(std::uint64_t n);

/// The number of k-subsets of n things; 0 where k > n. Throws only where the result itself is beyond 2^128 - 1.
/// O(min(k, n - k)), and never more than some hundred steps, since the result outgrows 128 bits.
[[nodiscard]] Count checked_binomial(std::uint64_t n, std::uint64_t k);

}  // namespace deltamatch
