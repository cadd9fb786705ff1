#include "condition/literal.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace deltamatch::condition {
namespace {

std::string decimal(std::string_view text) {
  const auto number = read_decimal(text);
  return number ? to_text(Literal(*number)) : "none";
}

std::string instant(std::string_view text) {
  const auto value = read_instant(text);
  return value ? to_text(Literal(*value)) : "none";
}

std::int64_t microseconds(std::optional<Duration> duration) { return duration ? duration->microseconds : -1; }

TEST(DecimalLiteral, IsExact) {
  EXPECT_EQ(read_decimal("0.8"), (Decimal{8, 1}));
  EXPECT_EQ(read_decimal("1000"), (Decimal{1000, 0}));
  EXPECT_EQ(read_decimal("1.50"), (Decimal{15, 1}));
  EXPECT_EQ(read_decimal("000.00"), (Decimal{0, 0}));
  EXPECT_EQ(read_decimal("1e6"), (Decimal{1000000, 0}));
  EXPECT_EQ(read_decimal("1.5e-3"), (Decimal{15, 4}));
  EXPECT_EQ(read_decimal("2.5E+1"), (Decimal{25, 0}));
  EXPECT_EQ(read_decimal("9223372036854775807"), (Decimal{9223372036854775807, 0}));
  EXPECT_EQ(read_decimal("9223372036854775808"), std::nullopt);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(read_negative_decimal("5.50"), (Decimal{-55, 1}));
  EXPECT_EQ(read_negative_decimal("9223372036854775808"), (Decimal{least, 0}));
  EXPECT_EQ(read_negative_decimal("09.223372036854775808"), (Decimal{least, 18}));
  EXPECT_EQ(read_negative_decimal("9223372036854775809"), std::nullopt);
  EXPECT_EQ(read_decimal("0.000000000000000001"), (Decimal{1, 18}));
}

TEST(DecimalLiteral, RefusesWhatDoesNotFit) {
  for (const char* text : {"", ".", ".5", "5.", "9223372036854775808", "0.0000000000000000001", "1e19", "1e", "1e1000000000000",
                           "1x", "-1", "1.2.3"}) {
    EXPECT_FALSE(read_decimal(text)) << text;
  }
}

TEST(DecimalLiteral, IsWrittenAsItIsRead) {
  for (const char* text : {"0", "7", "0.8", "0.08", "12.345", "9223372036854775807", "0.000000000000000001"}) {
    EXPECT_EQ(decimal(text), text);
  }
  EXPECT_EQ(to_text(Literal(Decimal{-5, 2})), "-0.05");
  EXPECT_EQ(to_text(Literal(Decimal{std::numeric_limits<std::int64_t>::min(), 0})), "-9223372036854775808");
}

TEST(DurationLiteral, HasUnits) {
  EXPECT_EQ(microseconds(read_duration("5us")), 5);
  EXPECT_EQ(microseconds(read_duration("5ms")), 5'000);
  EXPECT_EQ(microseconds(read_duration("90m")), 5'400'000'000);
  EXPECT_EQ(microseconds(read_duration("24h")), 86'400'000'000);
  EXPECT_EQ(microseconds(read_duration("2w")), 1'209'600'000'000);
  for (const char* text : {"", "h", "24", "24 h", "24hours", "1.5h", "9223372036854775807d"})
    EXPECT_FALSE(read_duration(text)) << text;
  EXPECT_EQ(to_text(Literal(Duration{86'400'000'000})), "1d");
  EXPECT_EQ(to_text(Literal(Duration{5'400'000'000})), "90m");
  EXPECT_EQ(to_text(Literal(Duration{-1'500'000})), "-1500ms");
  EXPECT_EQ(to_text(Literal(Duration{0})), "0us");
}

TEST(DurationLiteral, IsoForm) {
  EXPECT_EQ(microseconds(read_iso_duration("PT24H")), 86'400'000'000);
  EXPECT_EQ(microseconds(read_iso_duration("P1DT1H1M1.5S")), 90'061'500'000);
  EXPECT_EQ(microseconds(read_iso_duration("P1W")), 604'800'000'000);
  EXPECT_EQ(microseconds(read_iso_duration("PT0.000001S")), 1);
  for (const char* text : {"", "P", "PT", "P1DT", "T1H", "1H", "P1M", "P1Y", "PT1M1H", "PT1.5H", "PT1", "P1H", "PT1D",
                           "PT0.0000001S", "PT9223372036854775807H", "PT1H "}) {
    EXPECT_FALSE(read_iso_duration(text)) << text;
  }
}

TEST(InstantLiteral, IsIso) {
  EXPECT_EQ(read_instant("1970-01-01"), (Instant{0}));
  EXPECT_EQ(read_instant("1970-01-02T00:00:00Z"), (Instant{86'400'000'000}));
  EXPECT_EQ(read_instant("1970-01-01T01:00:00.25+01:00"), (Instant{250'000}));
  EXPECT_EQ(read_instant("1969-12-31 23:59Z"), (Instant{-60'000'000}));
  for (const char* text : {"", "1970", "1970-1-1", "1970-02-30", "1970-01-01T24:00Z", "1970-01-01T10:00",
                           "1970-01-01T10:00:61Z", "1970-01-01T10:00:00.1234567Z", "1970-01-01T10:00:00+0100", "1970-01-01x"}) {
    EXPECT_FALSE(read_instant(text)) << text;
  }
  EXPECT_EQ(instant("2026-01-31T10:00:00.5Z"), "datetime('2026-01-31T10:00:00.500000Z')");
  EXPECT_EQ(instant("2026-01-31"), "datetime('2026-01-31T00:00:00Z')");
}

TEST(TextLiteral, IsEscaped) {
  EXPECT_EQ(to_text(Literal(std::string("it's \\ \n\t\""))), R"('it\'s \\ \n\t"')");
  EXPECT_EQ(to_text(Literal(true)), "TRUE");
  EXPECT_EQ(to_text(Literal()), "NULL");
}

}  // namespace
}  // namespace deltamatch::condition
