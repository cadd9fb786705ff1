// Values as they are written on the command line and as people read them: durations, counts, bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "deltamatch/count.hpp"
#include "deltamatch/id.hpp"

namespace deltamatch::cli {

/// A positive number with a unit, e.g. 250ms, 10s, 5m, 24h, 7d (also us), in microseconds. Throws Error(usage) naming `option`.
[[nodiscard]] Timestamp parse_duration(std::string_view text, std::string_view option);

/// Decimal digits only, from `least` to `most`. Throws Error(usage) naming `option`.
[[nodiscard]] std::uint64_t parse_number(std::string_view text, std::string_view option, std::uint64_t least,
                                         std::uint64_t most);

/// A decimal fraction from `least` to `most`. Throws Error(usage) naming `option`.
[[nodiscard]] double parse_fraction(std::string_view text, std::string_view option, double least, double most);

/// Digits in groups of three: 1,234,567.
[[nodiscard]] std::string grouped(Count count);

/// Bytes in the binary unit that leaves one to four digits before the point: "640 B", "12.3 MiB".
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

/// Seconds to the digits that mean something: "4.2 ms", "1.25 s", "12.3 s", "2:05 min", "1:02:05 h".
[[nodiscard]] std::string human_seconds(double seconds);

}  // namespace deltamatch::cli
