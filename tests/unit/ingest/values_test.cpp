// Values of attributes: what each type takes, and what it refuses with which remedy.
#include "ingest/codec/values.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <string>

#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using Kind = AttributeType::Kind;
using ::testing::HasSubstr;
using testing::text_of;

constexpr AttributeType integer{Kind::integer, 0};
constexpr AttributeType money{Kind::decimal, 2};
constexpr AttributeType real{Kind::real, 0};
constexpr AttributeType boolean{Kind::boolean, 0};
constexpr AttributeType symbol{Kind::symbol, 0};
constexpr AttributeType time{Kind::time, 0};

std::string read(AttributeType type, const Scalar& scalar, bool base64 = false) {
  const ValueReader reader(type, base64, TimeReader(TimeUnit::seconds, ""));
  AttributeValue value;
  if (const auto fault = reader.read(scalar, value)) return fmt::format("! {}; {}", fault->what, fault->remedy);
  return text_of(value);
}
std::string text(AttributeType type, std::string_view value) { return read(type, {Scalar::Kind::text, value, 0}); }
std::string number(AttributeType type, std::string_view value) { return read(type, {Scalar::Kind::number, value, 0}); }
std::string string(AttributeType type, std::string_view value, bool base64 = false) {
  return read(type, {Scalar::Kind::string, value, 0}, base64);
}

TEST(Values, DecimalsAreExact) {
  EXPECT_EQ(text(money, "1.20"), "120");
  EXPECT_EQ(text(money, "-0.5"), "-50");
  EXPECT_EQ(text(money, "+7"), "700");
  EXPECT_EQ(text(money, ".5"), "50");
  EXPECT_EQ(text(money, "5."), "500");
  EXPECT_EQ(text(money, "007.10"), "710");
  EXPECT_EQ(text(money, "1.2000000000000000000000000000"), "120");
  EXPECT_EQ(number(money, "0.29"), "29");
  EXPECT_EQ(text(money, "92233720368547758.07"), "9223372036854775807");
  EXPECT_EQ(text(money, "-92233720368547758.08"), "-9223372036854775808");
  EXPECT_EQ(text({Kind::decimal, 18}, "9.223372036854775807"), "9223372036854775807");
  EXPECT_EQ(text({Kind::decimal, 0}, "12.0"), "12");
}

TEST(Values, WhatDoesNotFitIsRefused) {
  EXPECT_THAT(text(money, "1.205"), HasSubstr("more than 2 digits"));
  EXPECT_THAT(text(money, "92233720368547758.08"), HasSubstr("does not fit in 64 bits as a decimal(2)"));
  EXPECT_THAT(text(integer, "9223372036854775808"), HasSubstr("does not fit in 64 bits"));
  EXPECT_EQ(text(integer, "-9223372036854775808"), "-9223372036854775808");
  EXPECT_THAT(text(integer, "1.5"), HasSubstr("has a fraction"));
  EXPECT_EQ(text(integer, "1.0"), "1");
  EXPECT_THAT(text(real, "1e999"), HasSubstr("range"));
  for (const AttributeType& type : {integer, money, real}) {
    for (const char* none : {"NaN", "inf", "-Infinity", "1.#INF"}) EXPECT_THAT(text(type, none), HasSubstr("finite")) << none;
    EXPECT_THAT(string(type, "NaN"), HasSubstr("finite"));
  }
}

std::string written(Decimal decimal, AttributeType type, std::string_view value, Scalar::Kind kind = Scalar::Kind::text) {
  const ValueReader reader(type, false, TimeReader(TimeUnit::seconds, ""), decimal);
  AttributeValue read;
  if (const auto fault = reader.read({kind, value, 0}, read)) return fmt::format("! {}; {}", fault->what, fault->remedy);
  return text_of(read);
}

TEST(Values, NumbersAreReadWithADecimalComma) {
  const auto comma = [](std::string_view value) { return written(Decimal::comma, money, value); };
  EXPECT_EQ(comma("36,74"), "3674");
  EXPECT_EQ(comma("-1.234,5"), "-123450");
  EXPECT_EQ(comma("1.234.567,89"), "123456789");
  EXPECT_EQ(comma("1.234"), "123400");
  EXPECT_EQ(comma("1 234,50"), "123450");
  EXPECT_EQ(comma("1'234,50"), "123450");
  EXPECT_EQ(comma("+,5"), "50");
  EXPECT_EQ(comma("12"), "1200");
  EXPECT_EQ(comma(""), "null");
  EXPECT_EQ(written(Decimal::comma, integer, "1.234.567"), "1234567");
  EXPECT_EQ(written(Decimal::comma, real, "0,5e1"), "5r");
  EXPECT_EQ(written(Decimal::comma, money, "0,5", Scalar::Kind::string), "50");
  EXPECT_EQ(written(Decimal::comma, money, "0.5", Scalar::Kind::number), "50");
  for (const char* wrong : {"36.74", "1.23,4", "1234.567", "1,2,3", "1,234.56", ".234", "1.2345,0"})
    EXPECT_THAT(comma(wrong), HasSubstr("is no number with a decimal comma; write it as 1.200,50")) << wrong;
  for (const char* currency : {"5 EUR", "5,00EUR", "1.234,56 EUR"}) EXPECT_THAT(comma(currency), HasSubstr("currency"));
}

TEST(Values, NumbersAreReadWithCommasBetweenThousands) {
  const auto point = [](std::string_view value) { return written(Decimal::point, money, value); };
  EXPECT_EQ(point("1,234.56"), "123456");
  EXPECT_EQ(point("1,234"), "123400");
  EXPECT_EQ(point("36.74"), "3674");
  EXPECT_THAT(point("36,74"), HasSubstr("is no number with a decimal point; write it as 1,200.50"));
  EXPECT_THAT(point("1.234,56"), HasSubstr("--decimal comma"));
}

TEST(Values, DoubtfulNumbersAreRefusedWithARemedy) {
  EXPECT_THAT(text(money, "36,74"), HasSubstr("--decimal comma reads 1.200,50, --decimal point reads 1,200.50"));
  EXPECT_THAT(text(money, "1,20"), HasSubstr("write a point"));
  EXPECT_THAT(text(money, "1,200.00"), HasSubstr("nothing between thousands"));
  EXPECT_THAT(text(money, "1.200,00"), HasSubstr("has a comma"));
  EXPECT_THAT(text(money, "1 200"), HasSubstr("between its digits"));
  EXPECT_THAT(text(money, "1'200"), HasSubstr("between its digits"));
  EXPECT_THAT(text(money, "1_000"), HasSubstr("between its digits"));
  EXPECT_THAT(text(money, "$5.00"), HasSubstr("currency"));
  EXPECT_THAT(text(money, "5EUR"), HasSubstr("currency"));
  EXPECT_THAT(text(money,
                   "\xe2\x82\xac"
                   "5"),
              HasSubstr("currency"));
  EXPECT_THAT(text(money, "12%"), HasSubstr("percentage"));
  EXPECT_THAT(text(money, "(5.00)"), HasSubstr("accountants"));
  EXPECT_THAT(text(money, "5.00-"), HasSubstr("accountants"));
  EXPECT_THAT(text(money, "N/A"), HasSubstr("missing"));
  EXPECT_THAT(text(money, "web"), HasSubstr("is not a decimal(2)"));
  EXPECT_THAT(text(integer, "1.2.3"), HasSubstr("is not an int"));
}

TEST(Values, ExponentsAreExactInJsonAndDoubtfulElsewhere) {
  EXPECT_EQ(number(money, "1e3"), "100000");
  EXPECT_EQ(number(money, "1.25E+1"), "1250");
  EXPECT_EQ(number(integer, "12000e-3"), "12");
  EXPECT_EQ(string(money, "1E+2"), "10000");
  EXPECT_THAT(text(money, "4.1E+15"), HasSubstr("export the column in full"));
  EXPECT_THAT(number(money, "1e99999999999999999999"), HasSubstr("does not fit"));
  EXPECT_EQ(number(money, "0e99999999999999999999"), "0");
  EXPECT_THAT(number(money, "1e-99999999999999999999"), HasSubstr("digits after the point"));
  EXPECT_EQ(text(real, "4.1E+15"), "4100000000000000r");
}

TEST(Values, FloatsTruthsSymbolsAndTimes) {
  EXPECT_EQ(text(real, "-0.5"), "-0.5r");
  EXPECT_EQ(text(real, "+.5"), "0.5r");
  for (const char* yes : {"true", "T", "Yes", "y", "1"}) EXPECT_EQ(text(boolean, yes), "yes");
  for (const char* no : {"FALSE", "f", "no", "N", "0"}) EXPECT_EQ(text(boolean, no), "no");
  EXPECT_THAT(text(boolean, "2"), HasSubstr("is not a bool"));
  EXPECT_EQ(text(symbol, "1,20"), "'1,20'");
  EXPECT_EQ(number(symbol, "7"), "'7'");
  EXPECT_EQ(text(time, "1.5"), "1500000");
  EXPECT_EQ(text(time, "1970-01-01T00:00:02Z"), "2000000");
  EXPECT_THAT(text(time, "soon"), HasSubstr("is not a time"));
  EXPECT_EQ(read(boolean, {Scalar::Kind::boolean, "true", 0}), "yes");
  EXPECT_THAT(read(integer, {Scalar::Kind::boolean, "true", 0}), HasSubstr("declare it as bool"));
  EXPECT_EQ(read(time, {Scalar::Kind::instant, {}, 5}), "5");
  EXPECT_THAT(read(integer, {Scalar::Kind::instant, {}, 5}), HasSubstr("declare it as time"));
  EXPECT_THAT(read(money, {Scalar::Kind::composed, {}, 0}), HasSubstr("name the field in it"));
}

TEST(Values, AbsentOnesAreNull) {
  for (const AttributeType& type : {integer, money, real, boolean, symbol, time}) {
    EXPECT_EQ(read(type, {}), "null");
    EXPECT_EQ(read(type, {Scalar::Kind::null, {}, 0}), "null");
    EXPECT_EQ(text(type, ""), "null");
    EXPECT_EQ(string(type, ""), "null");
    EXPECT_EQ(text(type, "\\N"), "null");
  }
  EXPECT_EQ(text(money, "NULL"), "null");
  EXPECT_EQ(text(symbol, "NULL"), "'NULL'");
  EXPECT_EQ(string(symbol, "\\N"), "'\\N'");
  AttributeValue value = std::string_view("NULL");
  EXPECT_TRUE(ValueReader::may_be_missing({Scalar::Kind::text, "NULL", 0}, value));
  EXPECT_FALSE(ValueReader::may_be_missing({Scalar::Kind::string, "NULL", 0}, value));
}

TEST(Values, DecimalsInBase64) {
  const auto scaled = [](std::string_view base64, std::int64_t scale) {
    return read(money, {Scalar::Kind::scaled, base64, scale});
  };
  EXPECT_EQ(scaled("eA==", 2), "120");
  EXPECT_EQ(scaled("/w==", 2), "-1");
  EXPECT_EQ(scaled("AP8=", 2), "255");
  EXPECT_EQ(scaled("eA==", 1), "1200");
  EXPECT_EQ(scaled("eA==", 3), "12");
  EXPECT_THAT(scaled("eQ==", 3), HasSubstr("more than 2 digits"));
  EXPECT_EQ(scaled("eA==", -2), "1200000");
  EXPECT_EQ(scaled("f/////////8=", 2), "9223372036854775807");
  EXPECT_EQ(scaled("AAAAAH//////////", 2), "9223372036854775807");
  EXPECT_THAT(scaled("AIAAAAAAAAAA", 2), HasSubstr("does not fit"));
  EXPECT_THAT(scaled("", 2), HasSubstr("base64"));
  EXPECT_THAT(scaled("e", 2), HasSubstr("base64"));
  EXPECT_EQ(string(money, "1200", true), "-2659020");
}

TEST(Values, TextsInBase64MustBeDeclared) {
  EXPECT_EQ(string(money, "AeI=", true), "482");
  EXPECT_EQ(number(money, "4.82"), "482");
  EXPECT_THAT(string(money, "AeI="), HasSubstr("declare it as decimal(2,base64)"));
  EXPECT_THAT(string(money, "4.82", true), HasSubstr("declare it as decimal(2)"));
  EXPECT_EQ(string(money, "1200"), "120000");
}

}  // namespace
}  // namespace deltamatch::ingest
