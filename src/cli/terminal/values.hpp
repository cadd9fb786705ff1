// Values as people write them on the command line and read them: durations, counts, bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/count.hpp"
#include "deltamatch/id.hpp"

namespace deltamatch::cli {

/// Reads a positive whole number with a unit, e.g. 250ms, 10s, 5m, 24h, 7d (also us). Returns microseconds.
[[nodiscard]] std::optional<Timestamp> read_duration(std::string_view text) noexcept;
inline constexpr std::string_view duration_remedy = "write a whole number above 0 and its unit, e.g. 250ms, 10s, 5m, 24h, 7d";

/// Says why read_duration does not take a text: "is not a duration", or "is more than" the longest one in days.
[[nodiscard]] std::string duration_flaw(std::string_view text);

/// Writes a duration with the largest unit that divides it: 90000000 is "90s".
[[nodiscard]] std::string duration_text(Timestamp microseconds);

/// Reads a whole number of bytes, with or without a unit: K, M, G, T or KiB, MiB, GiB, TiB, all powers of 1024.
[[nodiscard]] std::optional<std::uint64_t> read_size(std::string_view text) noexcept;
inline constexpr std::string_view size_remedy = "write a whole number of bytes, or one with a unit, e.g. 64KiB, 512MiB, 8GiB";

/// Writes a size with the largest unit that divides it: 1536 is "1536", 2048 is "2KiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

/// Reads decimal digits only, from `least` to `most`.
[[nodiscard]] std::optional<std::uint64_t> read_number(std::string_view text, std::uint64_t least, std::uint64_t most) noexcept;
/// Says what to write instead of `text`: "write a whole number from 1 to 8". If `most` is the largest number of 64 bits, it
/// says "from 1 up", unless the text exceeds it.
[[nodiscard]] std::string number_remedy(std::string_view text, std::uint64_t least, std::uint64_t most);

/// Calls read_duration. Throws Error(usage) that names `option`.
[[nodiscard]] Timestamp parse_duration(std::string_view text, std::string_view option);

/// Calls read_size, for 1 byte to 16 TiB. Throws Error(usage) that names `option`.
[[nodiscard]] std::uint64_t parse_size(std::string_view text, std::string_view option);

/// Calls read_number. Throws Error(usage) that names `option`.
[[nodiscard]] std::uint64_t parse_number(std::string_view text, std::string_view option, std::uint64_t least,
                                         std::uint64_t most);

/// Reads a decimal fraction from `least` to `most`.
[[nodiscard]] std::optional<double> read_fraction(std::string_view text, double least, double most) noexcept;
[[nodiscard]] std::string fraction_remedy(double least, double most);

/// Calls read_fraction. Throws Error(usage) that names `option`.
[[nodiscard]] double parse_fraction(std::string_view text, std::string_view option, double least, double most);

/// Digits in groups of three: 1,234,567.
[[nodiscard]] std::string grouped(Count count);

/// Bytes in the binary unit that leaves one to four digits before the point: "640 B", "12.3 MiB".
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

/// Seconds with the digits that matter: "4.2 ms", "1.25 s", "12.3 s", "2:05 min", "1:02:05 h".
[[nodiscard]] std::string human_seconds(double seconds);

}  // namespace deltamatch::cli
