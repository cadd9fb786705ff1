#include "deltamatch/value_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

namespace deltamatch {
namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t day = 86'400 * second;

struct Date {
  std::int64_t year;
  std::int64_t month;
  std::int64_t day;
};

// std::chrono::year ends at 32767, and times of 64 bits reach beyond the year 290,000. So the date is computed here, in years
// that begin in March and eras of 400 years.
Date date_of(std::int64_t days) noexcept {
  constexpr std::int64_t era_days = 146'097;
  days += 719'468;  // from 1 March of the year 0
  const std::int64_t era = (days >= 0 ? days : days - era_days + 1) / era_days;
  const std::int64_t in_era = days - era * era_days;
  const std::int64_t year = (in_era - in_era / 1'460 + in_era / 36'524 - in_era / 146'096) / 365;
  const std::int64_t in_year = in_era - (365 * year + year / 4 - year / 100);
  const std::int64_t month = (5 * in_year + 2) / 153;  // from March
  return {year + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, in_year - (153 * month + 2) / 5 + 1};
}

}  // namespace

std::string time_text(Timestamp time) {
  std::string out;
  const std::int64_t days = time / day - (time % day < 0 ? 1 : 0);
  const std::int64_t in_day = time % day + (time % day < 0 ? day : 0);
  const Date date = date_of(days);
  const auto end = std::back_inserter(out);
  if (date.year >= 0 && date.year <= 9999) {
    fmt::format_to(end, "{:04}", date.year);
  } else {
    fmt::format_to(end, "{:+07}", date.year);
  }
  const std::int64_t seconds = in_day / second;
  fmt::format_to(end, "-{:02}-{:02}T{:02}:{:02}:{:02}", date.month, date.day, seconds / 3'600, seconds / 60 % 60, seconds % 60);
  if (in_day % second != 0) fmt::format_to(end, ".{:06}", in_day % second);
  out += 'Z';
  return out;
}

std::string decimal_text(std::int64_t digits, unsigned scale) {
  std::string text = std::to_string(digits);
  if (scale == 0) return text;
  const std::size_t sign = digits < 0 ? 1 : 0;
  const std::size_t least = sign + scale + 1;
  if (text.size() < least) text.insert(sign, least - text.size(), '0');
  return text.insert(text.size() - scale, ".");
}

}  // namespace deltamatch
