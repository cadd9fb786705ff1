// Hashes of ids and texts for tables in memory. Each process has its own seed, so that no input can force collisions. Nothing
// that leaves the process depends on these hashes.
#pragma once

#include <cstdint>
#include <string_view>

namespace deltamatch {

/// The seed of this process.
[[nodiscard]] std::uint64_t hash_seed() noexcept;

/// Hashes a number. All bits of the result depend on all bits of the number.
[[nodiscard]] inline std::uint32_t hash_number(std::uint64_t number, std::uint64_t seed) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(number ^ seed) * 0xd6e8feb86659fd93U;
  const std::uint64_t folded = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  return static_cast<std::uint32_t>((folded * 0x9e3779b97f4a7c15U) >> 32);
}

[[nodiscard]] std::uint32_t hash_text(std::string_view text, std::uint64_t seed) noexcept;

}  // namespace deltamatch
