#include "cli/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::cli {

Timestamp parse_duration(std::string_view text, std::string_view option) {
  static constexpr std::array<std::pair<std::string_view, Timestamp>, 6> units{
      {{"us", 1}, {"ms", 1'000}, {"s", 1'000'000}, {"m", 60'000'000}, {"h", 3'600'000'000}, {"d", 86'400'000'000}}};
  Timestamp number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code == std::errc{} && number > 0) {
    const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
    const auto* const unit = std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.first == suffix; });
    if (unit != units.end() && number <= std::numeric_limits<Timestamp>::max() / unit->second) return number * unit->second;
  }
  throw Error(ErrorKind::usage, option, fmt::format("'{}' is no duration", text),
              "write a whole number above 0 and its unit, e.g. 250ms, 10s, 5m, 24h, 7d");
}

std::uint64_t parse_number(std::string_view text, std::string_view option, std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code == std::errc{} && rest == end && least <= number && number <= most) return number;
  throw Error(ErrorKind::usage, option, fmt::format("'{}' is not accepted", text),
              most == std::numeric_limits<std::uint64_t>::max()
                  ? fmt::format("write a whole number from {} up", least)
                  : fmt::format("write a whole number from {} to {}", least, most));
}

double parse_fraction(std::string_view text, std::string_view option, double least, double most) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code == std::errc{} && rest == end && least <= number && number <= most) return number;  // a NaN fails the comparisons
  throw Error(ErrorKind::usage, option, fmt::format("'{}' is not accepted", text),
              fmt::format("write a number from {} to {}", least, most));
}

std::string grouped(Count count) {
  std::string digits = to_string(count);
  for (std::size_t place = digits.size(); place > 3;) {
    place -= 3;
    digits.insert(place, 1, ',');
  }
  return digits;
}

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string human_seconds(double seconds) {
  if (seconds < 0.99995) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 9.995) return fmt::format("{:.2f} s", seconds);
  if (seconds < 119.5) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace deltamatch::cli
