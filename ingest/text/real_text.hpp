// The text of a float or a double, without an exponent: readers of ids and times take digits alone.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace deltamatch::ingest {

/// Room for the text of any number of 64 bits: a sign, 308 digits before the point, or some 340 behind it.
using RealText = std::array<char, 352>;

/// A whole number below 2^53 has its digits alone. Any other finite number has the fewest digits that read as the same number.
/// A number that is not finite is `inf`, `-inf` or `nan`.
template <class Real>
[[nodiscard]] std::string_view write_real(Real value, RealText& room) noexcept {
  constexpr Real exact = 9007199254740992;  // 2^53
  const bool whole = std::abs(value) < exact && std::trunc(value) == value;
  const auto [end, error] = whole ? std::to_chars(room.data(), room.data() + room.size(), static_cast<std::int64_t>(value))
                                  : std::to_chars(room.data(), room.data() + room.size(), value, std::chars_format::fixed);
  static_cast<void>(error);  // there is room
  return {room.data(), static_cast<std::size_t>(end - room.data())};
}

}  // namespace deltamatch::ingest
