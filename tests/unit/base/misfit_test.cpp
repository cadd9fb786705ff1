// Declarations of attributes, and values that do not fit them.
#include "deltamatch/misfit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace deltamatch {
namespace {

using Kind = AttributeType::Kind;
using testing::HasSubstr;

const std::array<AttributeValue, 6> values{AttributeValue{},        AttributeValue{true},
                                           std::int64_t{1},         0.5,
                                           std::string_view("web"), std::numeric_limits<double>::quiet_NaN()};

TEST(Fits, OnlyItsTypeAndNull) {
  const auto fitting = [](Kind kind) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (fits({kind, 0}, values[i])) places.push_back(i);
    }
    return places;
  };
  using Places = std::vector<std::size_t>;
  EXPECT_EQ(fitting(Kind::boolean), (Places{0, 1}));
  EXPECT_EQ(fitting(Kind::integer), (Places{0, 2}));
  EXPECT_EQ(fitting(Kind::decimal), (Places{0, 2}));
  EXPECT_EQ(fitting(Kind::time), (Places{0, 2}));
  EXPECT_EQ(fitting(Kind::real), (Places{0, 3}));
  EXPECT_EQ(fitting(Kind::symbol), (Places{0, 4}));
  EXPECT_TRUE(fits({Kind::symbol, 0}, std::string_view(std::string(1024, 'x'))));
  EXPECT_FALSE(fits({Kind::symbol, 0}, std::string_view(std::string(1025, 'x'))));
  EXPECT_FALSE(fits({Kind::real, 0}, -std::numeric_limits<double>::infinity()));
}

Schema payments() {
  return {EdgeModel::keyed,
          {{"amount", {Kind::decimal, 2}}, {"channel", {Kind::symbol, 0}}, {"rate", {Kind::real, 0}}},
          {{"country", {Kind::symbol, 0}}}};
}

std::string message(UpdateKind kind, std::vector<AttributeValue> row) {
  const Properties properties{std::nullopt, row};
  Update update{.kind = kind};
  update.properties = &properties;
  const auto misfit = find_misfit(payments(), update);
  return misfit ? misfit->message : "";
}

TEST(FindMisfit, NamesAttributeAndValue) {
  const auto edge = [](std::vector<AttributeValue> row) { return message(UpdateKind::insert_edge, std::move(row)); };
  EXPECT_EQ(edge({}), "");
  EXPECT_EQ(edge({{}, {}, {}}), "");
  EXPECT_EQ(edge({std::int64_t{1}, "web", 0.5}), "");
  EXPECT_EQ(edge({0.5, "web", 0.5}), "the attribute `amount` is decimal(2), but has the real 0.500000");
  EXPECT_EQ(edge({std::int64_t{1}, false, 0.5}), "the attribute `channel` is symbol, but has the boolean false");
  EXPECT_EQ(edge({std::int64_t{1}, {}, std::int64_t{-7}}), "the attribute `rate` is float, but has the integer -7");
  EXPECT_EQ(edge({std::int64_t{1}, {}, values[5]}), "the attribute `rate` is float, but has NaN");
  EXPECT_EQ(edge({"12.50", {}, {}}), "the attribute `amount` is decimal(2), but has the text `12.50`");
  EXPECT_THAT(edge({{}, std::string_view(std::string(1025, 'x')), {}}), HasSubstr("a text of 1025 bytes, `xxxx"));
  EXPECT_EQ(edge({{}, {}}), "the record has 2 values, but edges have 3 attributes");
  EXPECT_EQ(edge({{}}), "the record has 1 value, but edges have 3 attributes");
  EXPECT_EQ(edge({{}, {}, {}, {}}), "the record has 4 values, but edges have 3 attributes");
  EXPECT_EQ(message(UpdateKind::insert_vertex, {true}), "the attribute `country` is symbol, but has the boolean true");
  EXPECT_EQ(message(UpdateKind::delete_vertex, {true}), "");
  EXPECT_EQ(message(UpdateKind::delete_edge, {true}), "");
}

TEST(SchemaText, SaysAll) {
  EXPECT_EQ(to_text(payments()),
            "edges keyed, attributes amount:decimal(2),channel:symbol,rate:float, vertex attributes country:symbol");
  EXPECT_EQ(to_text(Schema{}), "edges simple, attributes none, vertex attributes none");
}

}  // namespace
}  // namespace deltamatch
