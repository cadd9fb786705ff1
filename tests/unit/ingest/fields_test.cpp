#include "ingest/codec/fields.hpp"

#include <array>
#include <ctime>
#include <random>

#include "ingest/codec/time_guess.hpp"
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

TEST(TimeReader, NumbersOfJsonMayHaveAnExponent) {
  const auto json = [](std::string_view text, TimeUnit unit = TimeUnit::seconds) {
    const auto time = TimeReader(unit, {}).read(text, true);
    return time ? std::to_string(*time) : "none";
  };
  EXPECT_EQ(json("1.7e9"), "1700000000000000");
  EXPECT_EQ(json("1.7E+09"), "1700000000000000");
  EXPECT_EQ(json("1700000000123456e-6"), "1700000000123456");
  EXPECT_EQ(json("-15e-1"), "-1500000");
  EXPECT_EQ(json("-1.25e1", TimeUnit::milliseconds), "-12500");
  EXPECT_EQ(json("5e-3"), "5000");
  EXPECT_EQ(json("12"), "12000000");
  EXPECT_EQ(json("1e30"), "none");
  EXPECT_EQ(json("1e99999999999999999999"), "none");
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
            "time format: `%Y-%q` has an unknown field; use %Y %y %m %b %d %H %I %p %M %S and %%");
  EXPECT_NE(error_of([] { TimeReader(TimeUnit::seconds, "%Y%"); }), "");
}

TEST(TimeReader, FormatsAsOtherProgramsWriteTimes) {
  const auto at = [](std::string_view text, std::string format) { return time_of(text, TimeUnit::seconds, std::move(format)); };
  const std::string in_2023 = "1700000000000000";  // 2023-11-14T22:13:20Z
  EXPECT_EQ(at("11/14/2023 10:13:20 PM", "%m/%d/%Y %I:%M:%S %p"), in_2023);
  EXPECT_EQ(at("11/14/23 10:13:20pm", "%m/%d/%y %I:%M:%S%p"), in_2023);
  EXPECT_EQ(at("14 Nov 2023 22:13:20", "%d %b %Y %H:%M:%S"), in_2023);
  EXPECT_EQ(at("november 14, 2023 22:13:20", "%b %d, %Y %H:%M:%S"), in_2023);
  EXPECT_EQ(at("1/2/1970 12:00 AM", "%m/%d/%Y %I:%M %p"), "86400000000");
  EXPECT_EQ(at("1/1/1970 12:00 PM", "%m/%d/%Y %I:%M %p"), "43200000000");
  EXPECT_EQ(at("1.1.69", "%d.%m.%y"), at("1.1.1969", "%d.%m.%Y"));
  EXPECT_EQ(at("1.1.68", "%d.%m.%y"), at("1.1.2068", "%d.%m.%Y"));
  for (const auto& [text, format] : std::vector<std::pair<const char*, const char*>>{{"2023115", "%Y%m%d"},
                                                                                     {"1/2/2023 13:00 PM", "%m/%d/%Y %I:%M %p"},
                                                                                     {"1/2/2023 0:00 AM", "%m/%d/%Y %I:%M %p"},
                                                                                     {"1/2/2023 1:00 XM", "%m/%d/%Y %I:%M %p"},
                                                                                     {"1/2/2023 1:0", "%m/%d/%Y %H:%M"},
                                                                                     {"//2023", "%m/%d/%Y"},
                                                                                     {"14 Nox 2023", "%d %b %Y"},
                                                                                     {"1/123/2023", "%m/%d/%Y"},
                                                                                     {"20235", "%Y%m"}})
    EXPECT_EQ(at(text, format), "none") << text;
}

TEST(TimeReader, ReadsWhatStrftimeWrites) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto seconds = static_cast<std::time_t>(random() % 3'000'000'000);  // up to 2065
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    for (const char* format :
         {"%m/%d/%Y %I:%M:%S %p", "%d.%m.%y %H:%M:%S", "%b %d, %Y %H:%M:%S", "%Y%m%d%H%M%S", "%d-%b-%YT%I.%M.%S%p"}) {
      std::array<char, 64> text{};
      const std::size_t size = std::strftime(text.data(), text.size(), format, &parts);
      EXPECT_EQ(time_of({text.data(), size}, TimeUnit::seconds, format),
                std::to_string(seconds) + (seconds == 0 ? "" : "000000"))
          << text.data();
    }
  }
}

TEST(TimeFormatAdvice, NamesTheFormatThatReadsATime) {
  const auto advice = [](std::string_view text) { return time_format_advice({}, text); };
  EXPECT_EQ(advice("31/12/2023"), "--time-format %d/%m/%Y (the day first) reads it");
  EXPECT_EQ(advice("12/31/2023 4:05 PM"), "--time-format '%m/%d/%Y %I:%M %p' (the month first) reads it");
  EXPECT_EQ(advice("1/2/2023"), "--time-format %m/%d/%Y (the month first) or --time-format %d/%m/%Y (the day first) reads it");
  EXPECT_EQ(advice("2023/01/02 03:04:05"), "--time-format '%Y/%m/%d %H:%M:%S' reads it");
  EXPECT_EQ(time_format_advice({.prefix = {}, .in_configuration = true}, "31.12.2023 10:00"),
            "time_format: '%d.%m.%Y %H:%M' reads it");
  for (const char* text : {"", "soon", "1/2", "2023-W01", "10:00"}) EXPECT_EQ(advice(text), "") << text;
}

TEST(InTicks, IsPrintableAndShort) {
  EXPECT_EQ(in_ticks("a\tb\xff"), "`a\\x09b\\xff`");
  EXPECT_LT(in_ticks(std::string(1000, 'x')).size(), 60u);
}

TEST(InTicks, ShowsLettersOfUtf8AndNothingThatNobodySees) {
  EXPECT_EQ(in_ticks("Empf\xc3\xa4nger (\xe2\x82\xac)"), "`Empf\xc3\xa4nger (\xe2\x82\xac)`");
  EXPECT_EQ(in_ticks("a\xc2\xa0\xe2\x80\x8b\xef\xbb\xbf"), "`a\\xc2\\xa0\\xe2\\x80\\x8b\\xef\\xbb\\xbf`");
  EXPECT_EQ(in_ticks("x\xc3\xa4", 2), "`x\xc3\xa4`");  // no letter is cut
}

}  // namespace
}  // namespace deltamatch::ingest
