// Times and decimals, read and written.
#include "deltamatch/value_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch {
namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(TimeText, IsIso8601InUtc) {
  EXPECT_EQ(time_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(time_text(-1), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(time_text(1), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(time_text(951'782'400'000'000), "2000-02-29T00:00:00Z");
  EXPECT_EQ(time_text(-62'167'219'200'000'000), "0000-01-01T00:00:00Z");
  EXPECT_EQ(time_text(-62'167'219'200'000'001), "-000001-12-31T23:59:59.999999Z");
  EXPECT_EQ(time_text(253'402'300'800'000'000), "+010000-01-01T00:00:00Z");
  EXPECT_EQ(time_text(std::numeric_limits<Timestamp>::max()), "+294247-01-10T04:00:54.775807Z");
  EXPECT_EQ(time_text(std::numeric_limits<Timestamp>::min()), "-290308-12-21T19:59:05.224192Z");
}

std::string time_again(std::string_view text) {
  const auto time = parse_time(text);
  return time ? time_text(*time) : "none";
}

TEST(ParseTime, ReadsDatesAndTimes) {
  EXPECT_EQ(parse_time("1970-01-01"), 0);
  EXPECT_EQ(time_again("2026-03-01 00:00:03"), "2026-03-01T00:00:03Z");
  EXPECT_EQ(time_again("2026-03-01T00:00:03"), "2026-03-01T00:00:03Z");
  EXPECT_EQ(time_again("2026-03-01T00:00:03Z"), "2026-03-01T00:00:03Z");
  EXPECT_EQ(time_again("2026-03-01 00:00"), "2026-03-01T00:00:00Z");
  EXPECT_EQ(time_again("2026-03-01T00:30:00+01:00"), "2026-02-28T23:30:00Z");
  EXPECT_EQ(time_again("2026-03-01 00:00:03.5"), "2026-03-01T00:00:03.500000Z");
}

TEST(ParseTime, DropsDigitsFinerThanAMicrosecond) {
  EXPECT_EQ(time_again("2026-03-01 00:00:03.123456789"), "2026-03-01T00:00:03.123456Z");
}

TEST(ParseTime, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2026", "2026-02-29", "2026-13-01", "2026-03-01 24:00:00", "2026-03-01 00:00:60", "2026-03-01 00",
        "2026-03-01 00:00:03.", "2026-03-01 00:00:03 ", "2026-03-01x00:00:03", "01.03.2026", "1772323203"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
}

TEST(ParseDecimal, HasTheDigitsOfItsScale) {
  EXPECT_EQ(parse_decimal("55.7", 2), 5570);
  EXPECT_EQ(parse_decimal("12", 2), 1200);
  EXPECT_EQ(parse_decimal("-0.05", 2), -5);
  EXPECT_EQ(parse_decimal("1.2500", 2), 125);
  EXPECT_EQ(parse_decimal("7", 0), 7);
  EXPECT_EQ(parse_decimal("1e3", 1), 10'000);
  EXPECT_EQ(parse_decimal("92233720368547758.07", 2), most);
  EXPECT_EQ(parse_decimal("-92233720368547758.08", 2), least);
  EXPECT_EQ(parse_decimal("0.000000000000000001", 18), 1);
}

TEST(ParseDecimal, RefusesWhatIsNoNumberOrDoesNotFit) {
  for (const char* text :
       {"", "-", "--1", ".5", "5.", "1,5", "1 000", "5 ", "+5", "12.505", "92233720368547758.08", "nan", "0x1"}) {
    EXPECT_EQ(parse_decimal(text, 2), std::nullopt) << text;
  }
  EXPECT_EQ(parse_decimal("1", 19), std::nullopt);
}

TEST(DecimalText, HasAllDigitsOfItsScale) {
  EXPECT_EQ(decimal_text(5570, 2), "55.70");
  EXPECT_EQ(decimal_text(-5, 2), "-0.05");
  EXPECT_EQ(decimal_text(0, 2), "0.00");
  EXPECT_EQ(decimal_text(7, 0), "7");
  EXPECT_EQ(decimal_text(least, 18), "-9.223372036854775808");
}

}  // namespace
}  // namespace deltamatch
