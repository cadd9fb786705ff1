// How constants of conditions are read and written: numbers, durations and instants.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/condition.hpp"

namespace deltamatch::condition {

inline constexpr std::uint8_t max_scale = 18;

/// Reads digits with an optional fraction and exponent: 1000, 0.8, 1e6. Returns nullopt if it is no such number, or if it does
/// not fit. At most 18 digits after the point fit, and a value without the point below 2^63. Trailing zeros after the point
/// are cut.
[[nodiscard]] std::optional<Decimal> read_decimal(std::string_view text);
/// Reads the number that stands behind a minus sign, and returns it with this sign. It may be 2^63 without its point.
[[nodiscard]] std::optional<Decimal> read_negative_decimal(std::string_view text);

/// Reads a number with a unit, us, ms, s, m, h, d or w: 24h. Returns nullopt if it is no such duration or does not fit in 64
/// bits.
[[nodiscard]] std::optional<Duration> read_duration(std::string_view text);

/// Reads an ISO 8601 duration of weeks, days, hours, minutes and seconds: P1DT12H, PT0.5S. Returns nullopt if it is no such
/// duration, has years or months, which differ in length, or does not fit in 64 bits.
[[nodiscard]] std::optional<Duration> read_iso_duration(std::string_view text);

/// Reads a date, or a date and a time with Z or an offset: 2026-01-31, 2026-01-31T10:00:00.5+01:00. A date alone is its first
/// instant in UTC. Returns nullopt if it is no such instant.
[[nodiscard]] std::optional<Instant> read_instant(std::string_view text);

/// Writes a constant so that the pattern language reads the same constant.
[[nodiscard]] std::string to_text(const Literal& literal);

}  // namespace deltamatch::condition
