#include "query/recognise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deltamatch/error.hpp"

namespace deltamatch::query {
namespace {

TEST(Recognise, ByTheFirstLineThatSaysSomething) {
  for (const char* text :
       {"(a)-->(b)", "\xef\xbb\xbf(a)", "\r\n  // note\n(a)", "MATCH (a)", "match\n(a)", "Match(a)", "# x\n(a)"}) {
    EXPECT_EQ(recognise_query(text), QueryForm::pattern) << text;
  }
  for (const char* text : {"t 2 1\n", "t # 0\n", "v 0 A", "\n% c\n# c\n\te 0 1", "v x", "\xef\xbb\xbft 2 1"}) {
    EXPECT_EQ(recognise_query(text), QueryForm::graph) << text;
  }
  for (const char* text : {"", "\n\n", "# only\n", "0 1\n", "v", "v\n0", "vertex 1", "matching (a)", "a-->(b)", "{}", "-v 1"}) {
    EXPECT_EQ(recognise_query(text), QueryForm::neither) << text;
  }
}

TEST(Recognise, WhatIsParsedIsWhatIsRecognised) {
  EXPECT_EQ(parse_query_text("v 0 A\nv 1 B\ne 0 1\n", "q", true, "q.txt"),
            parse_query_graph("v 0 A\nv 1 B\ne 0 1\n", "q", true));
  EXPECT_EQ(parse_query_text("(a)-->(b)", "q", true, "q.graph"), parse_pattern("(a)-->(b)", "q"));
  try {
    (void)parse_query_text("# c\n 1 2\n", "q", true, "q.graph");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("q.graph:2:2: the query is neither a pattern nor a t/v/e graph"));
    EXPECT_EQ(error.kind(), ErrorKind::configuration);
  }
}

}  // namespace
}  // namespace deltamatch::query
