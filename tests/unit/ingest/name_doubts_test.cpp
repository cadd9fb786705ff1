// Texts that are probably no names, names of columns, and graphs of METIS.
#include "ingest/codec/name_doubts.hpp"

#include "ingest/codec/fields.hpp"
#include "ingest/codec/header_words.hpp"
#include "ingest/codec/metis.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::HasSubstr;

TEST(NameDoubts, CharactersThatNobodySees) {
  for (const char* text : {"a\xc2\xa0", "\xc2\xa0",
                           "a\xe2\x80\x8b"
                           "b",
                           "\xef\xbb\xbf"
                           "a",
                           "a\xe2\x80\x8d", "\xe3\x80\x80x", "x\xc2\xady"})
    EXPECT_NE(invisible_in(text), "") << text;
  for (const char* text : {"", "a b", "Z\xc3\xbcrich", "\xe6\x9d\xb1\xe4\xba\xac",
                           "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",  // joined into one picture
                           "\xc2", "\xe2\x80", "a\xef\xbb"})
    EXPECT_EQ(invisible_in(text), "") << text;
}

TEST(NameDoubts, PartsOfPrintedTables) {
  for (const char* text : {"...", "..", "\xe2\x80\xa6", "---", "--------", "===", "___", "---+---", "|---|"}) {
    EXPECT_TRUE(is_rule(text)) << text;
    EXPECT_TRUE(may_be_of_table(text)) << text;
  }
  for (const char* text : {".", "-", "--", "a", "-5", "..a", "=x", "+", "12", "-+-"}) EXPECT_FALSE(is_rule(text)) << text;
  for (const char* text : {"Total", "TOTALS", "total:", "Grand Total", "Sum", "subtotal", "Sub-total", "Summe", "Gesamt"}) {
    EXPECT_TRUE(is_total(text)) << text;
    EXPECT_TRUE(may_be_of_table(text)) << text;
  }
  for (const char* text : {"", "Totally", "Tot", "Summer", "Grand", "a total"}) EXPECT_FALSE(is_total(text)) << text;
}

TEST(NameDoubts, WordsForAMissingLabel) {
  for (const char* text : {"NULL", "null", "NaN", "none", "\\N", "(null)", "<NA>", "(none)"}) {
    EXPECT_TRUE(is_missing_label(text)) << text;
    EXPECT_TRUE(may_be_odd_label(text)) << text;
  }
  for (const char* text : {"", "NA", "nil", "-", "?", "N", "Nun", "nullable", "(x)", "<a>"})
    EXPECT_FALSE(is_missing_label(text)) << text;
}

TEST(NameDoubts, ErrorsOfASpreadsheet) {
  for (const char* text : {"#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#N/A", "#NUM!"})
    EXPECT_TRUE(may_stand_for_none(text)) << text;
  for (const char* text : {"#ref", "#1", "#value"}) EXPECT_FALSE(may_stand_for_none(text)) << text;
}

TEST(ByteKinds, AreFoundAnywhere) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string plain(size, 'a');
    EXPECT_FALSE(byte_kinds(plain).control || byte_kinds(plain).other);
    for (std::size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text = plain;
        text[at] = static_cast<char>(byte);
        const ByteKinds kinds = byte_kinds(text);
        ASSERT_EQ(kinds.control, byte < 0x20 || byte == 0x7f) << size << ' ' << at << ' ' << byte;
        ASSERT_EQ(kinds.other, byte >= 0x80) << size << ' ' << at << ' ' << byte;
      }
    }
  }
}

TEST(HeaderWords, NameColumns) {
  for (const char* text : {"user_id", "SourceName", "TARGET_SUBREDDIT", "from node", "person", "payeeID", "Follower"})
    EXPECT_TRUE(is_header_word(text)) << text;
  for (const char* text : {"", "ann", "New York", "id7", "paid", "Identity", "totem"})
    EXPECT_FALSE(is_header_word(text)) << text;
  const auto ends = [](std::vector<std::string_view> names) {
    const auto found = columns_of_ends(names);
    return found ? found->first + ">" + found->second : std::string();
  };
  EXPECT_EQ(ends({"id", "payer_id", "payee_id", "when"}), "payer_id>payee_id");
  EXPECT_EQ(ends({"TARGET", "SOURCE"}), "SOURCE>TARGET");
  EXPECT_EQ(ends({"source_a", "source_b", "target"}), "");
  EXPECT_EQ(ends({"user", "friend"}), "");
  EXPECT_EQ(ends({"from_to", "x"}), "");
}

TEST(HeaderWords, PositionsWithoutAHeader) {
  const auto positions = [](std::vector<std::string_view> fields) { return columns_by_position(fields); };
  EXPECT_EQ(positions({"a", "b"}), "source,target");
  EXPECT_EQ(positions({"1", "2", "x", "y"}), "source,target,-,-");
  EXPECT_EQ(positions({"a", "b", "c"}), "source,target,-");
  EXPECT_EQ(positions({"add", "b", "c"}), "op,source,target");
  EXPECT_EQ(positions({"D", "1", "2", "T"}), "op,source,target,-");
  EXPECT_EQ(positions({"I", "2024-01-01 00:00:00.000", "1", "2"}), "op,time,source,target");
}

TEST(Metis, IsKnownByNeighboursThatAgree) {
  for (const char* text : {"3 3\n2 3\n1 3\n1 2\n", "2 1\n2\n1\n", "% c\n3 2\n2 3\n1\n1\n", "4 3\r\n2 3\r\n1 3\r\n1 2\r\n\r\n",
                           "3 3 0\n2 3\n1 3\n1 2\n", "3 3 1\n2 7 3 7\n1 7 3 7\n1 7 2 7\n"})
    EXPECT_THAT(metis_command(text).value_or(""), HasSubstr("awk")) << text;
  for (const char* text :
       {"", "3 3\n2 3\n1 3\n1 3\n", "3 4\n2 3\n1 3\n1 2\n", "3 3\n2 3\n1 3\n", "3 3\n2 3\n1 3\n1 2\n1 2\n", "1 2\n2 3\n3 1\n",
        "3 3\n1 2\n2 3\n3 1\n", "3 3\n2 a\n1 3\n1 2\n", "5 4\n1 2\n2 3\n3 4\n4 5\n", "3 3 11\n2 3\n1 3\n1 2\n"})
    EXPECT_EQ(metis_command(text), std::nullopt) << text;
}

}  // namespace
}  // namespace deltamatch::ingest
