#include "ingest/codec/time_guess.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

/// A form of dates, and whether its first number is the month.
struct DateForm {
  std::string_view format;
  std::string_view order;  // empty: it is clear
};

constexpr auto dates = std::to_array<DateForm>({
    {"%Y-%m-%d", ""},
    {"%Y/%m/%d", ""},
    {"%Y.%m.%d", ""},
    {"%m/%d/%Y", "the month first"},
    {"%d/%m/%Y", "the day first"},
    {"%d.%m.%Y", ""},
    {"%m-%d-%Y", "the month first"},
    {"%d-%m-%Y", "the day first"},
    {"%m/%d/%y", "the month first"},
    {"%d/%m/%y", "the day first"},
    {"%d.%m.%y", ""},
    {"%d %b %Y", ""},
    {"%d-%b-%Y", ""},
    {"%d-%b-%y", ""},
    {"%d/%b/%Y", ""},
    {"%b %d %Y", ""},
    {"%b %d, %Y", ""},
});
constexpr auto between = std::to_array<std::string_view>({" ", "T", ", ", ":", "  "});
constexpr auto clocks =
    std::to_array<std::string_view>({"%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p", "%I:%M:%S%p", "%I:%M%p"});
constexpr auto zones = std::to_array<std::string_view>({"", " UTC", " +0000", "Z", " GMT", "+00:00"});

bool reads(const std::string& format, std::string_view text) {
  return TimeReader(TimeUnit::seconds, format).read(text).has_value();
}

/// The format that a form of dates makes, with a clock or without one. Empty if none reads the text.
std::string whole_format(std::string_view date, std::string_view text) {
  if (std::string alone(date); reads(alone, text)) return alone;
  for (const std::string_view join : between) {
    for (const std::string_view clock : clocks) {
      for (const std::string_view zone : zones) {
        std::string format = fmt::format("{}{}{}{}", date, join, clock, zone);
        if (reads(format, text)) return format;
      }
    }
  }
  return {};
}

struct Found {
  std::string format;
  std::string_view order;  // of the date
};

std::vector<Found> formats_of(std::string_view text) {
  std::vector<Found> found;
  for (const DateForm& date : dates) {
    if (!found.empty() && date.order.empty()) continue;
    if (std::string format = whole_format(date.format, text); !format.empty()) found.push_back({std::move(format), date.order});
  }
  return found;
}

}  // namespace

std::string clear_time_format(std::string_view text) {
  const std::vector<Found> found = formats_of(text);
  return found.size() == 1 ? found[0].format : std::string();
}

std::string time_format_advice(const OptionSpelling& spelling, std::string_view text) {
  std::vector<std::string> found;
  for (const auto& [format, order] : formats_of(text)) {
    const std::string option = spell(spelling, "time-format", format);
    found.push_back(order.empty() ? option : fmt::format("{} ({})", option, order));
  }
  return found.empty() ? std::string() : fmt::format("{} reads it", fmt::join(found, " or "));
}

}  // namespace deltamatch::ingest
