#include "generate/random.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace deltamatch::generate {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) { return static_cast<std::uint64_t>(Wide{a} * b >> 64); }

constexpr std::uint64_t square_root(Wide x) {
  Wide root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Wide candidate = root | Wide{1} << bit;
    if (candidate * candidate <= x) root = candidate;
  }
  return static_cast<std::uint64_t>(root);
}

// The numbers 2^-(1/2), 2^-(1/4), … 2^-(2^-32), each with 64 fractional bits. Each is the square root of the one before, the
// first of 1/2.
constexpr std::array<std::uint64_t, 32> make_roots() {
  std::array<std::uint64_t, 32> roots{};
  std::uint64_t root = std::uint64_t{1} << 63;
  for (auto& entry : roots) entry = root = square_root(Wide{root} << 64);
  return roots;
}
constexpr auto roots_of_half = make_roots();

constexpr std::uint64_t ln2_fixed = 0xB17217F8;  // ln 2 with 32 fractional bits

}  // namespace

std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

Random::Random(std::uint64_t seed) noexcept {
  for (auto& word : state_) word = mix(seed += 0x9E3779B97F4A7C15);
}

std::uint64_t Random::next() noexcept {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

// Lemire's method: the high half of a product. The few products that would bias it are drawn again.
std::uint64_t Random::below(std::uint64_t bound) noexcept {
  Wide product = Wide{next()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t biased = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < biased) product = Wide{next()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

bool Random::chance(double share) noexcept {
  return static_cast<double>(next() >> 11) < share * static_cast<double>(std::uint64_t{1} << 53);
}

std::uint64_t Random::exponential(std::uint64_t mean) noexcept {
  // -ln(u) = -log2(u) ln 2, where u = bits / 2^64.
  const std::uint64_t minus_log2 = (std::uint64_t{64} << 32) - log2_fixed(next() | 1);
  const auto minus_ln = static_cast<std::uint64_t>(Wide{minus_log2} * ln2_fixed >> 32);
  return static_cast<std::uint64_t>(Wide{minus_ln} * mean >> 32);
}

std::uint64_t log2_fixed(std::uint64_t x) noexcept {
  const int shift = std::countl_zero(x);
  auto result = static_cast<std::uint64_t>(63 - shift);
  std::uint64_t mantissa = x << shift;  // in [1, 2), with 63 fractional bits
  for (int bit = 0; bit < 32; ++bit) {  // squaring doubles the logarithm: the next bit is whether it reached 2
    const Wide square = Wide{mantissa} * mantissa >> 63;
    const bool carry = (square >> 64) != 0;
    mantissa = static_cast<std::uint64_t>(carry ? square >> 1 : square);
    result = result << 1 | (carry ? 1U : 0U);
  }
  return result;
}

std::uint64_t exp2_negative_fixed(std::uint64_t y) noexcept {
  const std::uint64_t whole = y >> 32;
  if (whole >= 32) return 0;
  std::uint64_t result = ~std::uint64_t{0};
  for (unsigned bit = 0; bit < 32; ++bit) {
    if ((y >> (31 - bit) & 1) != 0) result = high_product(result, roots_of_half[bit]);
  }
  return result >> whole >> 32;
}

std::vector<std::uint32_t> power_law_weights(std::uint32_t count, std::uint32_t offset, double power) {
  const auto power_fixed = static_cast<std::uint64_t>(power * 4294967296.0);
  const std::uint64_t first = log2_fixed(offset);
  std::vector<std::uint32_t> weights(count);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const std::uint64_t log_ratio = log2_fixed(std::uint64_t{rank} + offset) - first;
    const auto exponent = static_cast<std::uint64_t>(Wide{log_ratio} * power_fixed >> 32);
    weights[rank] = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, exp2_negative_fixed(exponent)));
  }
  return weights;
}

// A column holds 1/n of the probability: its own weight, filled up from one heavier item. In units of 1/(n total) all numbers
// are integers.
AliasTable::AliasTable(std::span<const std::uint32_t> weights) : threshold_(weights.size()), alias_(weights.size()) {
  for (const std::uint32_t weight : weights) total_ += weight;
  std::vector<std::uint32_t> light;
  std::vector<std::uint32_t> heavy;
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    threshold_[i] = std::uint64_t{weights[i]} * weights.size();
    alias_[i] = i;
    (threshold_[i] < total_ ? light : heavy).push_back(i);
  }
  while (!light.empty()) {  // the columns sum to n total, so if there is a light one there is a heavy one
    const std::uint32_t poor = light.back();
    const std::uint32_t rich = heavy.back();
    light.pop_back();
    alias_[poor] = rich;
    threshold_[rich] -= total_ - threshold_[poor];
    if (threshold_[rich] < total_) {
      heavy.pop_back();
      light.push_back(rich);
    }
  }
}

std::uint32_t AliasTable::operator()(Random& random) const noexcept {
  const std::uint64_t column = random.below(alias_.size());
  return random.below(total_) < threshold_[column] ? static_cast<std::uint32_t>(column) : alias_[column];
}

}  // namespace deltamatch::generate
