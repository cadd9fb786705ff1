#include "ingest/codec/fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {
namespace {

constexpr Timestamp second = 1'000'000;

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Whether an integer has its canonical spelling: no plus sign, no leading zeros, no -0.
bool is_canonical(std::string_view text) noexcept {
  if (text.starts_with('-')) return text.size() > 1 && text[1] != '0';
  return text == "0" || (!text.starts_with('0') && !text.starts_with('+'));
}

/// Takes exactly `width` digits off the front.
bool take_digits(std::string_view& text, std::size_t width, int& value) noexcept {
  if (text.size() < width) return false;
  value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    if (!is_digit(text[i])) return false;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(width);
  return true;
}

bool take(std::string_view& text, char c) noexcept {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

/// Takes ".digits" off the front, if it is there. Returns the fraction in units of 1/scale and drops finer digits. Returns
/// false for a point without digits.
bool take_fraction(std::string_view& text, Timestamp scale, Timestamp& value) noexcept {
  value = 0;
  if (!take(text, '.')) return true;
  const std::size_t before = text.size();
  while (!text.empty() && is_digit(text.front())) {
    scale /= 10;
    value += scale * (text.front() - '0');
    text.remove_prefix(1);
  }
  return text.size() < before;
}

struct Calendar {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  Timestamp micros = 0;
  int offset = 0;  // minutes east of UTC
};

std::optional<Timestamp> to_time(const Calendar& c) noexcept {
  const std::chrono::year_month_day date{std::chrono::year(c.year), std::chrono::month(static_cast<unsigned>(c.month)),
                                         std::chrono::day(static_cast<unsigned>(c.day))};
  if (!date.ok() || c.hour > 23 || c.minute > 59 || c.second > 59) return std::nullopt;
  const Timestamp days = std::chrono::sys_days(date).time_since_epoch().count();
  const Timestamp minutes = (days * 24 + c.hour) * 60 + c.minute - c.offset;
  return (minutes * 60 + c.second) * second + c.micros;
}

/// Takes "Z", "+01:00", "+0100", "+01" or nothing off the front.
bool take_zone(std::string_view& text, int& offset) noexcept {
  offset = 0;
  if (text.empty() || take(text, 'Z') || take(text, 'z')) return true;
  const int sign = text.front() == '-' ? -1 : 1;
  if (!take(text, '+') && !take(text, '-')) return false;
  int hours = 0;
  int minutes = 0;
  if (!take_digits(text, 2, hours)) return false;
  take(text, ':');
  if (!text.empty() && !take_digits(text, 2, minutes)) return false;
  offset = sign * (hours * 60 + minutes);
  return hours < 24 && minutes < 60;
}

std::optional<Timestamp> parse_iso(std::string_view text) noexcept {
  Calendar c;
  if (!take_digits(text, 4, c.year) || !take(text, '-') || !take_digits(text, 2, c.month) || !take(text, '-') ||
      !take_digits(text, 2, c.day)) {
    return std::nullopt;
  }
  if (!text.empty()) {
    if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return std::nullopt;
    if (!take_digits(text, 2, c.hour) || !take(text, ':') || !take_digits(text, 2, c.minute)) return std::nullopt;
    if (take(text, ':') && (!take_digits(text, 2, c.second) || !take_fraction(text, second, c.micros))) return std::nullopt;
    if (!take_zone(text, c.offset)) return std::nullopt;
  }
  return text.empty() ? to_time(c) : std::nullopt;
}

std::optional<Timestamp> parse_formatted(std::string_view text, std::string_view format) noexcept {
  Calendar c;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      if (!take(text, format[i])) return std::nullopt;
      continue;
    }
    bool good = false;
    switch (format[++i]) {
      case 'Y':
        good = take_digits(text, 4, c.year);
        break;
      case 'm':
        good = take_digits(text, 2, c.month);
        break;
      case 'd':
        good = take_digits(text, 2, c.day);
        break;
      case 'H':
        good = take_digits(text, 2, c.hour);
        break;
      case 'M':
        good = take_digits(text, 2, c.minute);
        break;
      case 'S':
        good = take_digits(text, 2, c.second) && take_fraction(text, second, c.micros);
        break;
      case '%':
        good = take(text, '%');
        break;
      default:
        break;
    }
    if (!good) return std::nullopt;
  }
  return text.empty() ? to_time(c) : std::nullopt;
}

/// `fraction` tells whether digits behind the point count.
std::optional<Timestamp> parse_number(std::string_view text, Timestamp unit, bool& fraction) noexcept {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string_view digits = text.substr(point);
  std::int64_t whole = 0;
  if (parse_integer(text.substr(0, point), whole) != NumberFault::none) return std::nullopt;
  Timestamp rest = 0;
  if (!take_fraction(digits, unit, rest) || !digits.empty()) return std::nullopt;
  fraction = rest != 0;
  Timestamp time = 0;
  if (__builtin_mul_overflow(whole, unit, &time)) return std::nullopt;
  if (text.starts_with('-')) rest = -rest;
  return __builtin_add_overflow(time, rest, &time) ? std::nullopt : std::optional(time);
}

}  // namespace

NumberFault parse_integer(std::string_view text, std::int64_t& value) noexcept {
  constexpr std::size_t surely_in_range = 18;
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
  if (digits.empty()) return NumberFault::not_a_number;
  if (digits.size() > surely_in_range) {
    if (!std::all_of(digits.begin(), digits.end(), is_digit)) return NumberFault::not_a_number;
    const std::string_view number = negative ? text : digits;
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), value);
    return code == std::errc() ? NumberFault::none : NumberFault::out_of_range;
  }
  std::int64_t sum = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return NumberFault::not_a_number;
    sum = sum * 10 + (c - '0');
  }
  value = negative ? -sum : sum;
  return NumberFault::none;
}

std::string_view fault_text(IdFault fault) noexcept {
  switch (fault) {
    case IdFault::none:
      return "is an id";
    case IdFault::empty:
      return "is empty";
    case IdFault::not_an_integer:
      return "is not an integer";
    case IdFault::out_of_range:
      return "exceeds 64 bits";
    case IdFault::control_character:
      return "holds a control character";
    case IdFault::missing:
      return "stands for a missing id";
  }
  return "is not an id";
}

bool is_missing_value(std::string_view text) noexcept {
  if (text == "\\N") return true;
  if (text.size() < 3 || text.size() > 4 || (text[0] != 'n' && text[0] != 'N')) return false;
  return same_letters(text, "null") || same_letters(text, "nan") || same_letters(text, "none");
}

bool may_stand_for_none(std::string_view text) noexcept {
  constexpr std::size_t longest = 9;
  if (text.size() > longest) return false;
  constexpr auto words = std::to_array<std::string_view>({"na", "n/a", "#n/a", "<na>", "nil", "nat", "(null)", "<null>",
                                                          "[null]", "(none)", "<none>", "undefined", "-", "--", "?"});
  return std::ranges::any_of(words, [&](std::string_view word) { return same_letters(word, text); });
}

bool is_numeric(const Id& id) noexcept {
  std::int64_t number = 0;
  return !id.is_text() || parse_integer(id.text(), number) == NumberFault::none;
}

IdFault parse_id(std::string_view text, IdKind kind, Id& id) noexcept {
  if (text.empty()) return IdFault::empty;
  if (kind == IdKind::integer || (kind == IdKind::automatic && (is_digit(text[0]) || text[0] == '-') && is_canonical(text))) {
    std::int64_t value = 0;
    const NumberFault fault = parse_integer(text, value);
    if (fault == NumberFault::none) {
      id = Id(value);
      return IdFault::none;
    }
    if (fault == NumberFault::out_of_range) return IdFault::out_of_range;
    if (kind == IdKind::integer) return IdFault::not_an_integer;
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return IdFault::control_character;
  }
  if (kind == IdKind::automatic && is_missing_value(text)) return IdFault::missing;
  id = Id(text);
  return IdFault::none;
}

TimeReader::TimeReader(TimeUnit unit, std::string format, Doubts* doubts)
    : unit_(unit == TimeUnit::seconds        ? second
            : unit == TimeUnit::milliseconds ? second / 1000
                                             : 1),
      format_(std::move(format)),
      doubts_(doubts) {
  if (doubts_ != nullptr && format_.empty()) doubts_->reads_times_as(unit);
  for (std::size_t i = 0; i < format_.size(); ++i) {
    if (format_[i] != '%') continue;
    ++i;
    if (i == format_.size() || std::string_view("YmdHMS%").find(format_[i]) == std::string_view::npos) {
      throw Error(ErrorKind::usage, "time format", "`" + format_ + "` has an unknown field", "use %Y %m %d %H %M %S and %%");
    }
  }
}

std::optional<Timestamp> TimeReader::read(std::string_view text) const noexcept {
  if (!format_.empty()) return parse_formatted(text, format_);
  if (text.size() > 4 && text[4] == '-') return parse_iso(text);
  bool fraction = false;
  const std::optional<Timestamp> time = parse_number(text, unit_, fraction);
  if (doubts_ != nullptr && time) doubts_->number_as_time(*time, fraction);
  return time;
}

std::string in_ticks(std::string_view text, std::size_t longest) {
  std::string out = "`";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      out.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
  }
  return out + (text.size() > longest ? "...`" : "`");
}

bool same_letters(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace deltamatch::ingest
