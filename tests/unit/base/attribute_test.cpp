// Which values fit an attribute's type, and which declarations are refused.
#include "deltamatch/attribute.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "deltamatch/error.hpp"

namespace deltamatch {
namespace {

using Kind = AttributeType::Kind;
using testing::HasSubstr;

const std::array<AttributeValue, 5> one_of_each{AttributeValue{}, AttributeValue{true}, AttributeValue{std::int64_t{7}},
                                                AttributeValue{0.5}, AttributeValue{std::string_view("web")}};

/// Which of the values fit, as a text of + and -.
std::string fitting(AttributeType type) {
  std::string result;
  for (const AttributeValue& value : one_of_each) result += fits(type, value) ? '+' : '-';
  return result;
}

TEST(AttributeValue, FitsItsTypeAndNullFitsAll) {
  EXPECT_EQ(fitting({Kind::boolean}), "++---");
  EXPECT_EQ(fitting({Kind::integer}), "+-+--");
  EXPECT_EQ(fitting({Kind::decimal, 2}), "+-+--");
  EXPECT_EQ(fitting({Kind::time}), "+-+--");
  EXPECT_EQ(fitting({Kind::real}), "+--+-");
  EXPECT_EQ(fitting({Kind::symbol}), "+---+");
}

TEST(AttributeValue, RealsAreFinite) {
  const AttributeType real{Kind::real};
  EXPECT_TRUE(fits(real, -0.0));
  EXPECT_TRUE(fits(real, std::numeric_limits<double>::max()));
  EXPECT_FALSE(fits(real, std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(fits(real, -std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(fits(real, std::nan("")));
}

TEST(AttributeValue, SymbolsHaveAtMost1024Bytes) {
  const std::string longest(1024, 'x');
  const std::string longer(1025, 'x');
  EXPECT_TRUE(fits({Kind::symbol}, std::string_view()));
  EXPECT_TRUE(fits({Kind::symbol}, std::string_view(longest)));
  EXPECT_FALSE(fits({Kind::symbol}, std::string_view(longer)));
}

TEST(AttributeValue, TheFirstMisfitIsFound) {
  const std::array<Attribute, 2> attributes{Attribute{"amount", {Kind::decimal, 2}}, Attribute{"channel", {Kind::symbol}}};
  const auto misfit = [&](std::initializer_list<AttributeValue> values) {
    return find_misfit(attributes, {values.begin(), values.end()});
  };
  const AttributeValue amount = std::int64_t{5};
  const AttributeValue channel = std::string_view("web");
  EXPECT_EQ(misfit({}), std::nullopt);
  EXPECT_EQ(misfit({amount, channel}), std::nullopt);
  EXPECT_EQ(misfit({{}, {}}), std::nullopt);
  EXPECT_EQ(misfit({channel, amount}), 0U);
  EXPECT_EQ(misfit({amount, amount}), 1U);
  EXPECT_EQ(misfit({amount}), 1U);                   // one is missing
  EXPECT_EQ(misfit({amount, channel, amount}), 2U);  // one too many
  EXPECT_EQ(find_misfit({}, std::span(&amount, 1)), 0U);
}

std::string refusal(const Schema& schema) {
  try {
    validate(schema);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::configuration);
    return error.what();
  }
  return "";
}

TEST(Schema, NamesAreDistinctAndNotEmpty) {
  const Attribute amount{"amount", {Kind::decimal, 2}};
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({EdgeModel::keyed, {amount}, {amount}}), "");  // edges and vertices have names of their own
  EXPECT_THAT(refusal({EdgeModel::events, {amount, {"amount", {}}}, {}}), HasSubstr("edges: 'amount' is declared twice"));
  EXPECT_THAT(refusal({EdgeModel::events, {}, {amount, amount}}), HasSubstr("vertices: 'amount' is declared twice"));
  EXPECT_THAT(refusal({EdgeModel::events, {{"", {}}}, {}}), HasSubstr("edges: a name is empty"));
}

TEST(Schema, TheTimeOfAnEdgeIsNoAttribute) {
  EXPECT_THAT(refusal({EdgeModel::events, {{"time", {Kind::time}}}, {}}), HasSubstr("'time' is the event time"));
  EXPECT_EQ(refusal({EdgeModel::events, {}, {{"time", {Kind::time}}}}), "");
}

TEST(Schema, DecimalsHaveAtMost18Places) {
  EXPECT_EQ(refusal({EdgeModel::events, {{"x", {Kind::decimal, 18}}}, {}}), "");
  EXPECT_THAT(refusal({EdgeModel::events, {{"x", {Kind::decimal, 19}}}, {}}), HasSubstr("more than 18 decimal places"));
}

TEST(Schema, SimpleEdgesHaveNoAttributesButVerticesMay) {
  EXPECT_EQ(refusal({EdgeModel::simple, {}, {{"x", {}}}}), "");
  EXPECT_THAT(refusal({EdgeModel::simple, {{"x", {}}}, {}}), HasSubstr("choose the model keyed or events"));
}

}  // namespace
}  // namespace deltamatch
