// Reads times: numbers, ISO 8601, and what a format states.
#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

constexpr Timestamp second = 1'000'000;
constexpr Timestamp no_time = std::numeric_limits<Timestamp>::min();  // the graph means an edge without a time by it

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

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

std::chrono::year_month_day date_of(const Calendar& c) noexcept {
  return {std::chrono::year(c.year), std::chrono::month(static_cast<unsigned>(c.month)),
          std::chrono::day(static_cast<unsigned>(c.day))};
}

std::optional<Timestamp> to_time(const std::optional<Calendar>& calendar) noexcept {
  if (!calendar) return std::nullopt;
  const Calendar& c = *calendar;
  const std::chrono::year_month_day date = date_of(c);
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

std::optional<Calendar> parse_iso(std::string_view text) noexcept {
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
  return text.empty() ? std::optional(c) : std::nullopt;
}

/// Takes digits off the front: `width` of them, or one less if `short_too`.
bool take_number(std::string_view& text, std::size_t width, bool short_too, int& value) noexcept {
  if (take_digits(text, width, value)) return true;
  return short_too && take_digits(text, width - 1, value);
}

/// Takes the name of a month off the front, or its first three letters, in any case.
bool take_month(std::string_view& text, int& month) noexcept {
  constexpr auto names = std::to_array<std::string_view>({"January", "February", "March", "April", "May", "June", "July",
                                                          "August", "September", "October", "November", "December"});
  constexpr std::size_t shortest = 3;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const std::size_t size : {names[i].size(), shortest}) {
      if (!same_letters(text.substr(0, size), names[i].substr(0, size))) continue;
      text.remove_prefix(size);
      month = static_cast<int>(i) + 1;
      return true;
    }
  }
  return false;
}

bool is_field(std::string_view format, std::size_t at) noexcept { return at < format.size() && format[at] == '%'; }

/// Whether the field at `at` has no digits of another field beside it. So it may lack its leading zero.
bool stands_alone(std::string_view format, std::size_t at) noexcept {
  const bool after_field = at > 1 && format[at - 2] == '%' && (at < 3 || format[at - 3] != '%');
  return !after_field && !is_field(format, at + 2);
}

/// Reads one field of a format, of which `letter` says the kind.
bool take_field(std::string_view& text, char letter, bool alone, Calendar& c, std::optional<bool>& afternoon) noexcept {
  switch (letter) {
    case 'Y':
      return take_digits(text, 4, c.year);
    case 'y':
      if (!take_digits(text, 2, c.year)) return false;
      c.year += c.year < 69 ? 2000 : 1900;  // as strptime does
      return true;
    case 'm':
      return take_number(text, 2, alone, c.month);
    case 'b':
      return take_month(text, c.month);
    case 'd':
      return take_number(text, 2, alone, c.day);
    case 'H':
      return take_number(text, 2, alone, c.hour);
    case 'I':
      return take_number(text, 2, alone, c.hour) && c.hour >= 1 && c.hour <= 12;
    case 'p':
      if (text.size() < 2 || (text[1] != 'M' && text[1] != 'm') || std::string_view("AaPp").find(text[0]) == text.npos)
        return false;
      afternoon = text[0] == 'P' || text[0] == 'p';
      text.remove_prefix(2);
      return true;
    case 'M':
      return take_digits(text, 2, c.minute);
    case 'S':
      return take_digits(text, 2, c.second) && take_fraction(text, second, c.micros);
    case '%':
      return take(text, '%');
    default:
      return false;
  }
}

std::optional<Calendar> parse_formatted(std::string_view text, std::string_view format) noexcept {
  Calendar c;
  std::optional<bool> afternoon;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      if (!take(text, format[i])) return std::nullopt;
      continue;
    }
    const bool alone = stands_alone(format, i);
    if (!take_field(text, format[++i], alone, c, afternoon)) return std::nullopt;
  }
  if (afternoon) c.hour = c.hour % 12 + (*afternoon ? 12 : 0);
  return text.empty() ? std::optional(c) : std::nullopt;
}

bool may_be_iso(std::string_view text) noexcept { return text.size() > 4 && text[4] == '-'; }

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
  if (__builtin_add_overflow(time, rest, &time) || time == no_time) return std::nullopt;
  return time;
}

/// A number without its exponent, if it has one: 1.7e9 is 1700000000. Empty if it would be too long for a time.
std::string without_exponent(std::string_view text) {
  constexpr std::size_t longest = 64;
  const std::size_t mark = text.find_first_of("eE");
  std::int64_t exponent = 0;
  const std::string_view number = text.substr(0, mark);
  if (parse_integer(text.substr(mark + 1), exponent) != NumberFault::none) return {};
  const std::size_t point = std::min(number.find('.'), number.size());
  const std::string_view sign = number.substr(0, number.starts_with('-') ? 1 : 0);
  std::string digits(number.substr(sign.size(), point - sign.size()));
  auto whole = static_cast<std::int64_t>(digits.size());  // digits before the point
  digits += number.substr(std::min(point + 1, number.size()));
  constexpr auto far = static_cast<std::int64_t>(longest);
  if (digits.size() > longest || exponent < -far || exponent > far) return {};
  whole += exponent;
  if (whole <= 0) digits.insert(0, static_cast<std::size_t>(1 - whole), '0'), whole = 1;
  if (whole > static_cast<std::int64_t>(digits.size())) digits.resize(static_cast<std::size_t>(whole), '0');
  if (whole < static_cast<std::int64_t>(digits.size())) digits.insert(static_cast<std::size_t>(whole), 1, '.');
  return std::string(sign) + digits;
}

}  // namespace

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
    if (i == format_.size() || std::string_view("YymbdHIpMS%").find(format_[i]) == std::string_view::npos) {
      throw Error(ErrorKind::usage, "time format", "`" + format_ + "` has an unknown field",
                  "use %Y %y %m %b %d %H %I %p %M %S and %%");
    }
  }
}

std::optional<Timestamp> TimeReader::read(std::string_view text, bool json) const {
  if (!format_.empty()) return to_time(parse_formatted(text, format_));
  if (json && text.find_first_of("eE") != std::string_view::npos) return read(without_exponent(text));
  if (may_be_iso(text)) return to_time(parse_iso(text));
  bool fraction = false;
  const std::optional<Timestamp> time = parse_number(text, unit_, fraction);
  if (doubts_ != nullptr && time) doubts_->number_as_time(*time, fraction);
  return time;
}

std::string_view TimeReader::fault(std::string_view text) const noexcept {
  const std::optional<Calendar> calendar = !format_.empty()   ? parse_formatted(text, format_)
                                           : may_be_iso(text) ? parse_iso(text)
                                                              : std::nullopt;
  return calendar && !date_of(*calendar).ok() ? "is not a time: there is no such day" : "is not a time, or beyond the range";
}

}  // namespace deltamatch::ingest
