// The checksum of the log's entries and of the chunks of snapshots and graph files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace deltamatch::encoding {

inline constexpr std::size_t checksum_size = 16;
using Checksum = std::array<char, checksum_size>;

/// xxh3 with 128 bits of the bytes, high byte first. A seed that is the position in the file shows that the bytes were moved.
[[nodiscard]] Checksum checksum(std::string_view bytes, std::uint64_t seed) noexcept;
/// The checksum of the two parts, one behind the other. Throws std::bad_alloc.
[[nodiscard]] Checksum checksum(std::string_view first, std::string_view second, std::uint64_t seed);

[[nodiscard]] inline std::string_view view(const Checksum& sum) noexcept { return {sum.data(), sum.size()}; }

}  // namespace deltamatch::encoding
