#include "base/hash.hpp"

#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace deltamatch {
namespace {

std::uint64_t draw_seed() noexcept {
  try {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  } catch (...) {  // this machine has no source of randomness
    return 0x2545f4914f6cdd1dU;
  }
}

}  // namespace

std::uint64_t hash_seed() noexcept {
  static const std::uint64_t seed = draw_seed();
  return seed;
}

std::uint32_t hash_text(std::string_view text, std::uint64_t seed) noexcept {
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(text.data(), text.size(), seed) >> 32);
}

}  // namespace deltamatch
