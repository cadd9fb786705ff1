#include "condition/literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

#include "deltamatch/value_text.hpp"

namespace deltamatch::condition {
namespace {

constexpr std::int64_t microseconds_per_second = 1'000'000;

/// From the smallest to the largest.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> units{{{"us", 1},
                                                                          {"ms", 1'000},
                                                                          {"s", microseconds_per_second},
                                                                          {"m", 60 * microseconds_per_second},
                                                                          {"h", 3'600 * microseconds_per_second},
                                                                          {"d", 86'400 * microseconds_per_second},
                                                                          {"w", 604'800 * microseconds_per_second}}};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Returns a * b + c, or nullopt if it does not fit. All are at least 0.
std::optional<std::int64_t> multiply_add(std::int64_t a, std::int64_t b, std::int64_t c) noexcept {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result) || __builtin_add_overflow(result, c, &result)) return std::nullopt;
  return result;
}

/// Takes the digits at the start of `text` off it. Returns nullopt if there are none or their number does not fit.
std::optional<std::int64_t> take_number(std::string_view& text) noexcept {
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  std::optional<std::int64_t> number = 0;
  while (number && !text.empty() && is_digit(text[0])) {
    number = multiply_add(*number, 10, text[0] - '0');
    text.remove_prefix(1);
  }
  return number;
}

bool take(std::string_view& text, std::string_view prefix) noexcept {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Takes exactly `count` digits off the text.
std::optional<int> take_digits(std::string_view& text, std::size_t count) noexcept {
  if (text.size() < count || !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count), is_digit)) {
    return std::nullopt;
  }
  int number = 0;
  for (const char c : text.substr(0, count)) number = number * 10 + (c - '0');
  text.remove_prefix(count);
  return number;
}

/// How exactly a text must say what it means. lenient: finer digits than microseconds are dropped, and a time without a zone is
/// in UTC.
enum class Rigour : std::uint8_t { strict, lenient };

/// Takes the digits behind a decimal point off the text, as microseconds. Finer digits must be 0, unless they are dropped.
std::optional<std::int64_t> take_fraction(std::string_view& text, Rigour rigour = Rigour::strict) noexcept {
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  std::int64_t result = 0;
  for (std::int64_t value = microseconds_per_second / 10; !text.empty() && is_digit(text[0]); value /= 10) {
    if (value == 0 && text[0] != '0' && rigour == Rigour::strict) return std::nullopt;
    result += value * (text[0] - '0');
    text.remove_prefix(1);
  }
  return result;
}

/// Takes "Z", "+hh:mm" or "-hh:mm" off the text: minutes east of UTC.
std::optional<int> take_zone(std::string_view& text) noexcept {
  if (take(text, "Z")) return 0;
  const int sign = text.starts_with('-') ? -1 : 1;
  if (!take(text, "+") && !take(text, "-")) return std::nullopt;
  const auto hours = take_digits(text, 2);
  if (!hours || *hours > 23 || !take(text, ":")) return std::nullopt;
  const auto minutes = take_digits(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  return sign * (*hours * 60 + *minutes);
}

std::string duration_text(const Duration& duration) {
  auto unit = units.begin();
  for (auto candidate = units.begin(); candidate != units.end(); ++candidate) {
    if (duration.microseconds != 0 && duration.microseconds % candidate->second == 0) unit = candidate;
  }
  return fmt::format("{}{}", duration.microseconds / unit->second, unit->first);
}

std::string instant_text(const Instant& instant) { return "datetime('" + time_text(instant.microseconds) + "')"; }

std::string string_text(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      result += c;
    }
  }
  return result + "'";
}

}  // namespace

namespace {

/// Reads a number without its sign. The result has the sign.
std::optional<Decimal> read_signed(std::string_view text, bool negative) {
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  std::string digits;
  std::int64_t scale = 0;
  while (!text.empty() && is_digit(text[0])) {
    digits += text[0];
    text.remove_prefix(1);
  }
  if (take(text, ".")) {
    if (text.empty() || !is_digit(text[0])) return std::nullopt;
    while (!text.empty() && is_digit(text[0])) {
      digits += text[0];
      ++scale;
      text.remove_prefix(1);
    }
  }
  if (take(text, "e") || take(text, "E")) {
    const bool small = take(text, "-");
    if (!small) take(text, "+");
    const auto exponent = take_number(text);
    if (!exponent || *exponent > 1000) return std::nullopt;
    scale += small ? *exponent : -*exponent;
  }
  if (!text.empty()) return std::nullopt;
  while (scale > 0 && digits.ends_with('0')) {
    digits.pop_back();
    --scale;
  }
  if (digits.find_first_not_of('0') == std::string::npos) return Decimal{0, 0};
  if (scale < 0) digits.append(static_cast<std::size_t>(-scale), '0');
  if (scale > max_scale) return std::nullopt;
  const auto places = static_cast<std::uint8_t>(std::max<std::int64_t>(scale, 0));
  std::string_view rest = digits;
  if (const auto number = take_number(rest)) return Decimal{negative ? -*number : *number, places};
  const std::size_t first = digits.find_first_not_of('0');
  if (negative && digits.compare(first, std::string::npos, "9223372036854775808") == 0) {  // 2^63
    return Decimal{std::numeric_limits<std::int64_t>::min(), places};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Decimal> read_decimal(std::string_view text) { return read_signed(text, false); }
std::optional<Decimal> read_negative_decimal(std::string_view text) { return read_signed(text, true); }

std::optional<Duration> read_duration(std::string_view text) {
  const auto number = take_number(text);
  const auto unit = std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.first == text; });
  if (!number || unit == units.end()) return std::nullopt;
  const auto product = multiply_add(*number, unit->second, 0);
  if (!product) return std::nullopt;
  return Duration{*product};
}

std::optional<Duration> read_iso_duration(std::string_view text) {
  if (!take(text, "P") || text.empty()) return std::nullopt;
  std::int64_t total = 0;
  bool in_time = false;
  constexpr std::string_view date_units = "WD";
  constexpr std::string_view time_units = "HMS";
  std::size_t next = 0;  // units must come in order
  do {
    if (!in_time && take(text, "T")) {
      in_time = true;
      next = 0;
    }
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    std::optional<std::int64_t> fraction;
    if (take(text, ".")) {
      fraction = take_fraction(text);
      if (!fraction) return std::nullopt;
    }
    const std::string_view allowed = in_time ? time_units : date_units;
    const std::size_t found = text.empty() ? std::string_view::npos : allowed.find(text[0], next);
    if (found == std::string_view::npos || (fraction && text[0] != 'S')) return std::nullopt;
    constexpr std::array<std::int64_t, 2> date_factors{units[6].second, units[5].second};
    constexpr std::array<std::int64_t, 3> time_factors{units[4].second, units[3].second, units[2].second};
    next = found + 1;
    text.remove_prefix(1);
    const auto sum = multiply_add(*number, in_time ? time_factors[found] : date_factors[found], total);
    if (!sum || __builtin_add_overflow(*sum, fraction.value_or(0), &total)) return std::nullopt;
  } while (!text.empty());
  return Duration{total};
}

namespace {

std::optional<Timestamp> read_time(std::string_view text, Rigour rigour) {
  using namespace std::chrono;
  const auto years = take_digits(text, 4);
  if (!years || !take(text, "-")) return std::nullopt;
  const auto months = take_digits(text, 2);
  if (!months || !take(text, "-")) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day) return std::nullopt;
  const year_month_day date{year(*years), month(static_cast<unsigned>(*months)), std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  sys_time<microseconds> time{sys_days(date)};
  if (text.empty()) return time.time_since_epoch().count();
  if (!take(text, "T") && !take(text, " ")) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || *hour > 23 || !take(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  time += hours(*hour) + minutes(*minute);
  if (take(text, ":")) {
    const auto second = take_digits(text, 2);
    if (!second || *second > 59) return std::nullopt;
    time += seconds(*second);
    if (take(text, ".")) {
      const auto fraction = take_fraction(text, rigour);
      if (!fraction) return std::nullopt;
      time += microseconds(*fraction);
    }
  }
  if (text.empty() && rigour == Rigour::lenient) return time.time_since_epoch().count();
  const auto zone = take_zone(text);
  if (!zone || !text.empty()) return std::nullopt;
  time -= minutes(*zone);
  return time.time_since_epoch().count();
}

}  // namespace

std::optional<Instant> read_instant(std::string_view text) {
  const auto time = read_time(text, Rigour::strict);
  return time ? std::optional(Instant{*time}) : std::nullopt;
}

std::string to_text(const Literal& literal) {
  struct Writer {
    std::string operator()(std::monostate /*null*/) const { return "NULL"; }
    std::string operator()(bool value) const { return value ? "TRUE" : "FALSE"; }
    std::string operator()(const Decimal& value) const { return decimal_text(value.digits, value.scale); }
    std::string operator()(const std::string& value) const { return string_text(value); }
    std::string operator()(const Duration& value) const { return duration_text(value); }
    std::string operator()(const Instant& value) const { return instant_text(value); }
  };
  return std::visit(Writer{}, literal);
}

}  // namespace deltamatch::condition

namespace deltamatch {

std::optional<Timestamp> parse_time(std::string_view text) { return condition::read_time(text, condition::Rigour::lenient); }

std::optional<std::int64_t> parse_decimal(std::string_view text, unsigned scale) {
  const bool negative = text.starts_with('-');
  const auto number = negative ? condition::read_negative_decimal(text.substr(1)) : condition::read_decimal(text);
  if (!number || number->scale > scale || scale > condition::max_scale) return std::nullopt;
  std::int64_t digits = number->digits;
  for (unsigned places = number->scale; places < scale; ++places) {
    if (__builtin_mul_overflow(digits, 10, &digits)) return std::nullopt;
  }
  return digits;
}

}  // namespace deltamatch
