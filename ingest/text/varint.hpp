// Variable-length numbers: seven bits per byte, the lowest first, with the high bit set in all bytes but the last. Signed
// numbers are folded (0, -1, 1, -2, ...), so small ones stay short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace deltamatch::ingest {

inline constexpr std::size_t longest_varint = 10;

[[nodiscard]] constexpr std::uint64_t fold(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] constexpr std::int64_t unfold(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
}

inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

enum class VarintFault : std::uint8_t { none, cut, wrong };

/// Reads a number at `at` and moves `at` behind it. cut: the bytes end before the number does. wrong: the number exceeds 64
/// bits, or has more bytes than it needs. Each number has exactly one valid encoding.
inline VarintFault take_varint(const char*& at, const char* end, std::uint64_t& value) noexcept {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == end) return VarintFault::cut;
    const auto byte = static_cast<unsigned char>(*at++);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return (byte == 0 && shift != 0) || (shift == 63 && byte > 1) ? VarintFault::wrong : VarintFault::none;
  }
  return VarintFault::wrong;
}

}  // namespace deltamatch::ingest
