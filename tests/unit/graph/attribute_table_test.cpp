// Columns of attributes, and the numbers of their texts.
#include "graph/attribute_table.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

namespace deltamatch::graph {
namespace {

using Kind = AttributeType::Kind;
using namespace std::string_view_literals;
using testing::ElementsAre;

TEST(SymbolTable, GivesOutTheLeastFreeNumber) {
  SymbolTable symbols;
  EXPECT_EQ(symbols.use("a"), 1U);
  EXPECT_EQ(symbols.use("b"), 2U);
  EXPECT_EQ(symbols.use("c"), 3U);
  EXPECT_EQ(symbols.use("b"), 2U);
  symbols.release(3);
  symbols.release(1);
  EXPECT_EQ(symbols.use("d"), 1U);
  EXPECT_EQ(symbols.use("e"), 3U);
  EXPECT_EQ(symbols.use("f"), 4U);
  EXPECT_EQ(symbols.text(1), "d");
  EXPECT_EQ(symbols.find("a"), std::nullopt);
  EXPECT_EQ(symbols.find("b"), 2U);
}

TEST(SymbolTable, ATextStaysAsLongAsItIsUsed) {
  SymbolTable symbols;
  const std::uint32_t web = symbols.use("web");
  symbols.use_again(web);
  symbols.release(web);
  EXPECT_TRUE(symbols.in_use(web));
  const std::uint64_t edition = symbols.edition();
  symbols.release(web);
  EXPECT_FALSE(symbols.in_use(web));
  EXPECT_NE(symbols.edition(), edition);
  EXPECT_EQ(symbols.find("web"), std::nullopt);
  EXPECT_EQ(symbols.count(), 0U);
}

TEST(SymbolTable, TheEmptyTextIsNumber0AndCountsIfItIsUsed) {
  SymbolTable symbols;
  EXPECT_EQ(symbols.count(), 0U);
  EXPECT_FALSE(symbols.in_use(0));
  EXPECT_EQ(symbols.use(""), 0U);
  EXPECT_EQ(symbols.count(), 1U);
  EXPECT_TRUE(symbols.in_use(0));
  symbols.release(0);
  EXPECT_EQ(symbols.count(), 0U);
  EXPECT_EQ(symbols.use(""), 0U);
}

TEST(SymbolTable, RestoredTextsKeepTheirNumbers) {
  SymbolTable symbols;
  symbols.restore(3, "c");
  symbols.restore(1, "a");
  EXPECT_EQ(symbols.size(), 4U);
  EXPECT_FALSE(symbols.in_use(3));  // no row uses it yet
  symbols.use_again(3);
  EXPECT_EQ(symbols.use("a"), 1U);
  EXPECT_TRUE(symbols.in_use(3));
  EXPECT_TRUE(symbols.in_use(1));
  EXPECT_EQ(symbols.use("b"), 2U);  // the number between them is free
  EXPECT_EQ(symbols.use("d"), 4U);
  symbols.release(3);
  EXPECT_EQ(symbols.use("e"), 3U);
}

class AttributeTableTest : public testing::Test {
 protected:
  /// The row of these values.
  void put(std::size_t row, std::vector<AttributeValue> values) {
    table_.expect(row + 1);
    std::vector<Word> words;
    table_.read(values, words);
    table_.set(row, words);
  }
  std::vector<AttributeValue> row(std::size_t row) const {
    std::vector<AttributeValue> values(table_.width());
    table_.values(row, values);
    return values;
  }

  const std::array<Attribute, 6> attributes_{Attribute{"count", {Kind::integer}},  Attribute{"amount", {Kind::decimal, 2}},
                                             Attribute{"rate", {Kind::real}},      Attribute{"flag", {Kind::boolean}},
                                             Attribute{"channel", {Kind::symbol}}, Attribute{"due", {Kind::time}}};
  const std::vector<AttributeValue> values_{std::int64_t{-3}, std::int64_t{12345}, -0.5, true, "web"sv, std::int64_t{9}};
  const std::vector<AttributeValue> nulls_ = std::vector<AttributeValue>(6);
  SymbolTable symbols_;
  AttributeTable table_{attributes_, symbols_};
};

TEST_F(AttributeTableTest, RowsHoldTheirValues) {
  put(2, values_);
  put(0, {{}, std::int64_t{0}, 0.0, false, ""sv, {}});
  EXPECT_EQ(row(2), values_);
  EXPECT_EQ(row(0), (std::vector<AttributeValue>{{}, std::int64_t{0}, 0.0, false, ""sv, {}}));
  EXPECT_EQ(row(1), nulls_);
  EXPECT_EQ(table_.rows(), 3U);
  EXPECT_EQ(table_.word(7, 1), std::nullopt);  // beyond the rows
  EXPECT_EQ(table_.word(2, 1), 12345);
}

TEST_F(AttributeTableTest, ARecordWithoutValuesIsNull) {
  put(0, {});
  EXPECT_EQ(row(0), nulls_);
}

TEST_F(AttributeTableTest, ClearingGivesTextsBack) {
  put(0, values_);
  put(1, values_);
  table_.clear(0);
  EXPECT_EQ(row(0), nulls_);
  EXPECT_EQ(row(1), values_);
  EXPECT_TRUE(symbols_.find("web"));
  table_.clear(1);
  table_.clear(1);    // nothing is left
  table_.clear(100);  // no such row
  EXPECT_EQ(symbols_.find("web"), std::nullopt);
}

TEST_F(AttributeTableTest, WordsHoldTheirTextsUntilTheyAreDropped) {
  std::vector<Word> words;
  table_.read(values_, words);
  table_.hold(words);
  table_.drop(words);
  EXPECT_EQ(symbols_.count(), 1U);
  table_.drop(words);
  EXPECT_EQ(symbols_.count(), 0U);
}

TEST_F(AttributeTableTest, SharedRowsUseTheirTextsTwice) {
  put(0, values_);
  table_.expect(2);
  table_.share(0, 1);
  EXPECT_EQ(row(1), values_);
  table_.clear(0);
  EXPECT_EQ(row(1), values_);
  table_.clear(1);
  EXPECT_EQ(symbols_.count(), 0U);
}

TEST_F(AttributeTableTest, RowsAreEqualIfTheirWordsAre) {
  put(0, values_);
  put(1, values_);
  put(2, {std::int64_t{-3}, std::int64_t{12345}, -0.5, true, "atm"sv, std::int64_t{9}});
  put(3, {{}, {}, 0.0});
  put(4, {{}, {}, -0.0});
  EXPECT_TRUE(table_.equal(0, 1));
  EXPECT_FALSE(table_.equal(0, 2));
  EXPECT_FALSE(table_.equal(3, 4));  // by bits
  EXPECT_FALSE(table_.equal(3, 5));
  EXPECT_TRUE(table_.equal(5, 6));  // both NULL
  std::vector<Word> words;
  table_.copy(0, words);
  EXPECT_TRUE(table_.equal(1, words));
  EXPECT_FALSE(table_.equal(2, words));
}

TEST_F(AttributeTableTest, RowsMoveWithTheirNumbers) {
  for (std::int64_t i = 0; i < 4; ++i) put(static_cast<std::size_t>(i), {i, i, 0.5 * static_cast<double>(i)});
  put(3, values_);
  const std::array<VertexId, 4> to{2, 0, 1, 3};
  std::vector<bool> done(4);
  table_.renumber(to, done);
  std::vector<Word> counts;
  for (std::size_t i = 0; i < 3; ++i) counts.push_back(table_.word(i, 0));
  EXPECT_THAT(counts, ElementsAre(1, 2, 0));
  EXPECT_EQ(row(3), values_);
  EXPECT_EQ(symbols_.count(), 1U);
}

}  // namespace
}  // namespace deltamatch::graph
