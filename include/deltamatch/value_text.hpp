// Times and decimals as text, for programs that read and write files of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/id.hpp"

namespace deltamatch {

/// Reads a date, or a date and a time joined by T or a blank: 2026-03-01 00:00:03, 2026-03-01T00:00:03.5+01:00. Without Z or an
/// offset it is in UTC. A date alone is its first instant. Digits finer than a microsecond are dropped. Returns nullopt if it
/// is no such time.
[[nodiscard]] std::optional<Timestamp> parse_time(std::string_view text);
/// Reads a decimal as an AttributeValue has it: 55.7 at scale 2 is 5570. An exponent may follow, as in 1e6. Returns nullopt if
/// it is no such number, has more than `scale` digits after the point, or does not fit in 64 bits. A scale is at most 18.
[[nodiscard]] std::optional<std::int64_t> parse_decimal(std::string_view text, unsigned scale);

/// Writes a time in ISO 8601, in UTC: 2026-03-01T00:00:03Z. Six digits of a second follow if it is not a whole one:
/// 2026-03-01T00:00:03.500000Z. Years outside 0 to 9999 have a sign and six digits, as in ECMAScript.
[[nodiscard]] std::string time_text(Timestamp time);
/// Writes a decimal with all digits of its scale: 5570 at scale 2 is 55.70.
[[nodiscard]] std::string decimal_text(std::int64_t digits, unsigned scale);

}  // namespace deltamatch
