#include "cli/terminal/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::cli {

namespace {

/// A whole number and the text after it. Nothing if the text does not begin with a digit.
std::optional<std::pair<std::uint64_t, std::string_view>> split_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{}) return std::nullopt;
  return std::pair{number, std::string_view(rest, static_cast<std::size_t>(end - rest))};
}

/// Whether the text has only digits, and too many of them.
bool exceeds_64_bits(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc::result_out_of_range && rest == end;
}

using Unit = std::pair<std::string_view, std::uint64_t>;
constexpr std::array<Unit, 6> duration_units{
    {{"us", 1}, {"ms", 1'000}, {"s", 1'000'000}, {"m", 60'000'000}, {"h", 3'600'000'000}, {"d", 86'400'000'000}}};
constexpr std::uint64_t kib = 1024;
constexpr std::array<Unit, 9> size_units{{{"K", kib},
                                          {"M", kib* kib},
                                          {"G", kib* kib* kib},
                                          {"T", kib* kib* kib* kib},
                                          {"", 1},
                                          {"KiB", kib},
                                          {"MiB", kib* kib},
                                          {"GiB", kib* kib* kib},
                                          {"TiB", kib* kib* kib* kib}}};

/// The number times its unit. Nothing if there is no such unit, or the product exceeds `most`.
std::optional<std::uint64_t> read_with_unit(std::string_view text, std::span<const Unit> units, std::uint64_t most) noexcept {
  const auto parts = split_number(text);
  if (!parts) return std::nullopt;
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.first == parts->second; });
  if (unit == units.end() || parts->first > most / unit->second) return std::nullopt;
  return parts->first * unit->second;
}

/// `units` must be in ascending order.
std::string write_with_unit(std::uint64_t value, std::span<const Unit> units) {
  const Unit* largest = units.data();
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.second == 0) largest = &unit;
  }
  return fmt::format("{}{}", value / largest->second, largest->first);
}

}  // namespace

std::optional<Timestamp> read_duration(std::string_view text) noexcept {
  const auto duration = read_with_unit(text, duration_units, std::numeric_limits<Timestamp>::max());
  if (!duration || *duration == 0) return std::nullopt;
  return static_cast<Timestamp>(*duration);
}

std::string duration_flaw(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const bool has_unit = digits > 0 && std::ranges::count(duration_units, text.substr(digits), &Unit::first) > 0;
  if (!has_unit || text.find_first_not_of('0') == digits) return "is not a duration";
  constexpr Unit days = duration_units.back();
  return fmt::format("is more than {}{}", std::numeric_limits<Timestamp>::max() / days.second, days.first);
}

std::string duration_text(Timestamp microseconds) {
  return write_with_unit(static_cast<std::uint64_t>(microseconds), duration_units);
}

std::optional<std::uint64_t> read_size(std::string_view text) noexcept {
  return read_with_unit(text, size_units, std::numeric_limits<std::uint64_t>::max());
}

std::string size_text(std::uint64_t bytes) { return write_with_unit(bytes, std::span(size_units).last(5)); }

std::optional<std::uint64_t> read_number(std::string_view text, std::uint64_t least, std::uint64_t most) noexcept {
  const auto parts = split_number(text);
  if (!parts || !parts->second.empty() || parts->first < least || parts->first > most) return std::nullopt;
  return parts->first;
}

std::string number_remedy(std::string_view text, std::uint64_t least, std::uint64_t most) {
  if (most == std::numeric_limits<std::uint64_t>::max() && !exceeds_64_bits(text)) {
    return fmt::format("write a whole number from {} up", least);
  }
  return fmt::format("write a whole number from {} to {}", least, most);
}

Timestamp parse_duration(std::string_view text, std::string_view option) {
  if (const auto duration = read_duration(text)) return *duration;
  throw Error(ErrorKind::usage, option, fmt::format("'{}' {}", text, duration_flaw(text)), duration_remedy);
}

std::uint64_t parse_size(std::string_view text, std::string_view option) {
  constexpr std::uint64_t most = std::uint64_t{1} << 44;
  const auto size = read_size(text);
  if (size && *size >= 1 && *size <= most) return *size;
  throw Error(ErrorKind::usage, option, fmt::format("'{}' is not a size from 1 byte to 16 TiB", text), size_remedy);
}

std::uint64_t parse_number(std::string_view text, std::string_view option, std::uint64_t least, std::uint64_t most) {
  if (const auto number = read_number(text, least, most)) return *number;
  throw Error(ErrorKind::usage, option, fmt::format("'{}' is not accepted", text), number_remedy(text, least, most));
}

std::optional<double> read_fraction(std::string_view text, double least, double most) noexcept {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || rest != end || !(least <= number && number <= most)) return std::nullopt;  // NaN compares false
  return number;
}

std::string fraction_remedy(double least, double most) { return fmt::format("write a number from {} to {}", least, most); }

double parse_fraction(std::string_view text, std::string_view option, double least, double most) {
  if (const auto number = read_fraction(text, least, most)) return *number;
  throw Error(ErrorKind::usage, option, fmt::format("'{}' is not accepted", text), fraction_remedy(least, most));
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
