#include "ingest/text/time_text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace deltamatch::ingest {
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

/// Appends the date, `between` and the time of the day in whole seconds. Returns the microseconds that are left.
std::int64_t append_seconds(std::string& out, Timestamp time, char between) {
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
  fmt::format_to(end, "-{:02}-{:02}{}{:02}:{:02}:{:02}", date.month, date.day, between, seconds / 3'600, seconds / 60 % 60,
                 seconds % 60);
  return in_day % second;
}

}  // namespace

void append_iso_time(std::string& out, Timestamp time) {
  if (const std::int64_t rest = append_seconds(out, time, 'T'); rest != 0)
    fmt::format_to(std::back_inserter(out), ".{:06}", rest);
  out += 'Z';
}

void append_sheet_time(std::string& out, Timestamp time, char decimal) {
  const std::int64_t milliseconds = append_seconds(out, time, ' ') / 1'000;
  if (milliseconds != 0) fmt::format_to(std::back_inserter(out), "{}{:03}", decimal, milliseconds);
}

}  // namespace deltamatch::ingest
