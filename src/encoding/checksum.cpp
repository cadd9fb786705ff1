#include "encoding/checksum.hpp"

#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <new>

namespace deltamatch::encoding {
namespace {

Checksum canonical(XXH128_hash_t hash) noexcept {
  XXH128_canonical_t digits;
  XXH128_canonicalFromHash(&digits, hash);
  Checksum sum{};
  std::copy_n(reinterpret_cast<const char*>(digits.digest), checksum_size, sum.begin());
  return sum;
}

}  // namespace

Checksum checksum(std::string_view bytes, std::uint64_t seed) noexcept {
  return canonical(XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed));
}

Checksum checksum(std::string_view first, std::string_view second, std::uint64_t seed) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_128bits_reset_withSeed(state.get(), seed);
  XXH3_128bits_update(state.get(), first.data(), first.size());
  XXH3_128bits_update(state.get(), second.data(), second.size());
  return canonical(XXH3_128bits_digest(state.get()));
}

}  // namespace deltamatch::encoding
