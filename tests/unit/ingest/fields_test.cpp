#include "ingest/codec/fields.hpp"

#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::error_of;
using testing::text_of;

std::string id_of(std::string_view text, IdKind kind) {
  Id id;
  const IdFault fault = parse_id(text, kind, id);
  return fault == IdFault::none ? text_of(id) : fmt::format("! {}", fault_text(fault));
}

TEST(ParseId, AutomaticTakesCanonicalIntegersAsIntegersAndKeepsEverythingElseApart) {
  const auto id = [](std::string_view text) { return id_of(text, IdKind::automatic); };
  EXPECT_EQ(id("7"), "7");
  EXPECT_EQ(id("0"), "0");
  EXPECT_EQ(id("-3"), "-3");
  EXPECT_EQ(id("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(id("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(id("acct-1"), "'acct-1'");
  EXPECT_EQ(id("007"), "'007'");
  EXPECT_EQ(id("-0"), "'-0'");
  EXPECT_EQ(id("+7"), "'+7'");
  EXPECT_EQ(id("1.5"), "'1.5'");
  EXPECT_EQ(id("-"), "'-'");
  EXPECT_EQ(id("172.016.112.020"), "'172.016.112.020'");
  EXPECT_EQ(id("M\xc3\xbcller"), "'M\xc3\xbcller'");
}

TEST(ParseId, OverflowIsRefusedRatherThanTakenForAString) {
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "99999999999999999999999999"}) {
    EXPECT_EQ(id_of(text, IdKind::automatic), "! exceeds 64 bits") << text;
    EXPECT_EQ(id_of(text, IdKind::integer), "! exceeds 64 bits") << text;
    EXPECT_EQ(id_of(text, IdKind::string), fmt::format("'{}'", text));
  }
}

TEST(ParseId, IntegerTakesNothingElse) {
  const auto id = [](std::string_view text) { return id_of(text, IdKind::integer); };
  EXPECT_EQ(id("007"), "7");
  EXPECT_EQ(id("+7"), "7");
  for (const char* text : {"NaN", "nan", "inf", "1.0", "1e3", "0x10", "7 ", "-", "+", "--1"}) {
    EXPECT_EQ(id(text), "! is not an integer") << text;
  }
  EXPECT_EQ(id(""), "! is empty");
}

TEST(ParseId, StringsHoldNoControlCharacters) {
  EXPECT_EQ(id_of("7", IdKind::string), "'7'");
  EXPECT_EQ(id_of("", IdKind::string), "! is empty");
  EXPECT_EQ(id_of(std::string_view("a\0b", 3), IdKind::automatic), "! holds a control character");
  EXPECT_EQ(id_of("a\x7f", IdKind::string), "! holds a control character");
}

std::string time_of(std::string_view text, TimeUnit unit = TimeUnit::seconds, const std::string& format = {}) {
  const auto time = TimeReader(unit, format).read(text);
  return time ? std::to_string(*time) : "none";
}

TEST(TimeReader, NumbersInEveryUnit) {
  EXPECT_EQ(time_of("12"), "12000000");
  EXPECT_EQ(time_of("12", TimeUnit::milliseconds), "12000");
  EXPECT_EQ(time_of("12", TimeUnit::microseconds), "12");
  EXPECT_EQ(time_of("1289241911.72836"), "1289241911728360");
  EXPECT_EQ(time_of("1.23456789"), "1234567");
  EXPECT_EQ(time_of("0.0"), "0");
  EXPECT_EQ(time_of("-1.5"), "-1500000");
  EXPECT_EQ(time_of("-0.5"), "-500000");
  EXPECT_EQ(time_of("1.9", TimeUnit::microseconds), "1");
}

TEST(TimeReader, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "NaN", "inf", "1e9", "1.", ".5", "12 ", "12s", "0x1", "2023-13-01", "2023-02-30", "2023-01-01T25:00",
        "2023-01-01T10", "2023-01-01T10:00:61", "2023-01-01X10:00", "2023-01-01T10:00:00+25:00", "2023-1-1"}) {
    EXPECT_EQ(time_of(text), "none") << text;
  }
}

TEST(TimeReader, RefusesWhatIsBeyond64Bits) {
  EXPECT_EQ(time_of("9223372036854"), "9223372036854000000");
  EXPECT_EQ(time_of("9223372036855"), "none");
  EXPECT_EQ(time_of("9223372036854.775808"), "none");
  EXPECT_EQ(time_of("-9223372036855"), "none");
  EXPECT_EQ(time_of("9223372036854775807", TimeUnit::microseconds), "9223372036854775807");
  EXPECT_EQ(time_of("9223372036854775808", TimeUnit::microseconds), "none");
}

TEST(TimeReader, Iso8601) {
  EXPECT_EQ(time_of("1970-01-01"), "0");
  EXPECT_EQ(time_of("2023-11-14T22:13:20Z"), "1700000000000000");
  EXPECT_EQ(time_of("2023-11-14 22:13:20.25"), "1700000000250000");
  EXPECT_EQ(time_of("2023-11-14T23:13:20+01:00"), "1700000000000000");
  EXPECT_EQ(time_of("2023-11-14T16:43:20-0530"), "1700000000000000");
  EXPECT_EQ(time_of("2023-11-14T23:13+01"), "1699999980000000");
  EXPECT_EQ(time_of("1969-12-31T23:59:59Z"), "-1000000");
}

TEST(TimeReader, FormatsOfTheUsersOwn) {
  EXPECT_EQ(time_of("06/01/1998-07:55", TimeUnit::seconds, "%m/%d/%Y-%H:%M"), "896687700000000");
  EXPECT_EQ(time_of("07/32/1998-05:31", TimeUnit::seconds, "%m/%d/%Y-%H:%M"), "none");
  EXPECT_EQ(time_of("06/01/1998", TimeUnit::seconds, "%m/%d/%Y-%H:%M"), "none");
  EXPECT_EQ(time_of("100% 19700101 000001.5", TimeUnit::seconds, "100%% %Y%m%d %H%M%S"), "1500000");
  EXPECT_EQ(error_of([] { TimeReader(TimeUnit::seconds, "%Y-%q"); }),
            "time format: `%Y-%q` has an unknown field; use %Y %m %d %H %M %S and %%");
  EXPECT_NE(error_of([] { TimeReader(TimeUnit::seconds, "%Y%"); }), "");
}

TEST(InTicks, IsPrintableAndShort) {
  EXPECT_EQ(in_ticks("a\tb\xff"), "`a\\x09b\\xff`");
  EXPECT_LT(in_ticks(std::string(1000, 'x')).size(), 60u);
}

}  // namespace
}  // namespace deltamatch::ingest
