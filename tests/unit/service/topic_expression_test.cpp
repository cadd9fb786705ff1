// Expressions that name input topics. They match whole names, in time linear in the names' length.
#include "ingest/service/kafka/topic_expression.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest::kafka {
namespace {

TEST(TopicExpression, MatchesWholeNames) {
  const TopicExpression expression("^pay-[a-z]+(\\.v\\d)?");
  EXPECT_TRUE(expression.matches("pay-cards"));
  EXPECT_TRUE(expression.matches("pay-cards.v2"));
  EXPECT_FALSE(expression.matches("pay-cards.v22"));
  EXPECT_FALSE(expression.matches("all-pay-cards"));
  EXPECT_TRUE(TopicExpression("^a|b").matches("b"));
}

// A matcher that backtracks would try 2^200 ways. One that calls itself for each character would need a stack for them.
TEST(TopicExpression, NoExpressionTakesLong) {
  const std::string name(200, 'a');
  for (const char* const text : {"^(a+)+b", "^(a|aa)+b", "^(a*)*b", "^(.*.*.*)*b", "^([a-z]|a)*b"}) {
    EXPECT_FALSE(TopicExpression(text).matches(name)) << text;
    EXPECT_TRUE(TopicExpression(text).matches(name + 'b')) << text;
  }
  EXPECT_TRUE(TopicExpression("^(a|b)*").matches(std::string(1'000'000, 'a')));
}

TEST(TopicExpression, WhatIsNoneIsRefusedWithTheRemedy) {
  for (const auto& [text, what, remedy] :
       {std::tuple("^pay(", "missing )", "correct it"), std::tuple("^pay[", "missing ]", "correct it"),
        std::tuple("^(?!test).*", "invalid perl operator", "without back references, look-around"),
        std::tuple("^(a)\\1", "invalid escape sequence", "without back references, look-around"),
        std::tuple("^a**", "bad repetition operator", "without back references, look-around"),
        std::tuple("^((((a{100}){100}){100}){100})", "", "correct it")}) {
    const auto fault = TopicExpression::fault_of(text);
    ASSERT_TRUE(fault) << text;
    EXPECT_NE(fault->what.find("RE2 does not accept this regular expression: "), std::string::npos) << fault->what;
    EXPECT_NE(fault->what.find(what), std::string::npos) << fault->what;
    EXPECT_NE(fault->remedy.find(remedy), std::string::npos) << fault->remedy;
    EXPECT_THROW(TopicExpression{text}, Error);
  }
  EXPECT_FALSE(TopicExpression::fault_of("^pay.*"));
}

}  // namespace
}  // namespace deltamatch::ingest::kafka
