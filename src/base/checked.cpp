#include "base/checked.hpp"

#include <algorithm>
#include <numeric>

namespace deltamatch {

CountOverflow::CountOverflow()
    : Error("count", "a count exceeds 2^128-1", "use a query with fewer vertices or with labels, or smaller batches") {}

void throw_count_overflow() { throw CountOverflow(); }

Count checked_factorial(std::uint64_t n) {
  Count product = 1;
  for (std::uint64_t i = 2; i <= n; ++i) product = checked_mul(product, i);
  return product;
}

Count checked_binomial(std::uint64_t n, std::uint64_t k) {
  if (k > n) return 0;
  k = std::min(k, n - k);
  Count result = 1;
  for (std::uint64_t i = 1; i <= k; ++i) {
    // C(n, i) = C(n, i-1) * (n-i+1) / i. Dividing out common factors first keeps every step within the result.
    const std::uint64_t factor = n - i + 1;
    const std::uint64_t common = std::gcd(factor, i);
    result = checked_mul(result / (i / common), factor / common);
  }
  return result;
}

}  // namespace deltamatch
