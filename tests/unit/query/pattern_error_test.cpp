// Every refusal of a pattern, with its whole text. It names line and column and shows the place.
#include <gmock/gmock.h>

#include "deltamatch/error.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(std::string_view text) {
  try {
    return "accepted: " + to_pattern(parse_pattern(text, "q", "ring.pattern"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::configuration);
    return error.what();
  }
}

TEST(PatternError, ShowsLineColumnAndCaret) {
  EXPECT_EQ(
      refusal("(a)-->(b),\n(b)-[:T}->(c)"),
      "ring.pattern:2:8: unexpected '}'; put names and labels with other characters than letters, digits and _ in backquotes\n"
      "  (b)-[:T}->(c)\n"
      "         ^");
}

TEST(PatternError, CountsColumnsInCharacters) {
  EXPECT_EQ(refusal("(ä:Ü)-->(ö:ß-x)"),
            "ring.pattern:1:13: expected ')', but found '-'; a vertex is written (name:Label); names and labels with other "
            "characters than "
            "letters, digits and _ stand in backquotes\n"
            "  (ä:Ü)-->(ö:ß-x)\n"
            "              ^");
}

TEST(PatternError, ShowsLongLinesInPartAndControlCharactersAsDots) {
  const std::string text = "(a)-->(b)" + std::string(1000, ' ') + "\t;\x1b[31m" + std::string(1000, 'x');
  const std::string shown = refusal(text);
  EXPECT_THAT(shown, StartsWith("ring.pattern:1:1011: unexpected ';'"));
  EXPECT_THAT(shown, HasSubstr("\n  ..." + std::string(79, ' ') + ".;.[31m" + std::string(34, 'x') + "...\n  " +
                               std::string(83, ' ') + "^"));
  EXPECT_THAT(refusal("(a)-->(b)" + std::string(200, '(')),
              HasSubstr("\n  (a)-->(b)" + std::string(40, '(') + "...\n           ^"));
}

struct Case {
  const char* text;
  const char* refusal;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.text; }

class PatternErrors : public testing::TestWithParam<Case> {};

TEST_P(PatternErrors, AreClear) {
  EXPECT_THAT(refusal(GetParam().text), StartsWith(std::string("ring.pattern:") + GetParam().refusal));
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, PatternErrors,
    testing::Values(
        Case{"", "1:1: an empty pattern; write paths such as "}, Case{" // only a comment\n ", "2:2: an empty pattern; "},
        Case{"MATCH", "1:6: an empty pattern; "},
        Case{"a-->b", "1:1: expected a vertex, but found 'a'; a vertex is written (name:Label), (name), (:Label) or ()"},
        Case{"-->", "1:1: expected a vertex, but found '-'; "},
        Case{"(a)-->(b),", "1:11: expected a vertex, but the text ends; "},
        Case{"(a", "1:3: expected ')', but the text ends; "}, Case{"(a b)", "1:4: expected ')', but found 'b'; "},
        Case{"(a `b`)", "1:4: expected ')', but found `b`; "}, Case{"(``)-->(b)", "1:2: an empty name; leave the name out"},
        Case{"(a:)-->(b)",
             "1:4: expected a label, but found ')'; labels are written :A or :A|B, the empty label as two backquotes"},
        Case{"(a:A|)-->(b)", "1:6: expected a label, but found ')'; "},
        Case{"(a:A|:B)-->(b)", "1:6: expected a label, but found ':'; "},
        Case{"(a:A:B)-->(b)", "1:5: a second ':'; a vertex bears one label; alternatives are written :A|B"},
        Case{"(a)-[:A:B]->(b)", "1:8: a second ':'; an edge bears one label; alternatives are written :A|B"},
        Case{"(a)-[:]->(b)", "1:7: expected a label, but found ']'; "},
        Case{"(a)-[t:T]->(b)", "1:6: an edge with a name; edges have no names: labels are written [:LABEL]"},
        Case{"(a)-[T]->(b)", "1:6: an edge with a name; "},
        Case{"(a)-[:T->(b)", "1:8: expected ']', but found '-'; an edge is written -[:LABEL]->"},
        Case{"(a)-[:T](b)", "1:9: expected '-', but found '('; an edge is written -[:LABEL]->"},
        Case{"(a)->(b)", "1:5: expected '-', but found '>'; "}, Case{"(a)<(b)", "1:5: expected '-', but found '('; "},
        Case{"(a)-(b)", "1:5: expected '-', but found '('; "},
        Case{"(a)<-->(b)", "1:7: an edge with two arrow heads; an edge of either direction is written -[:LABEL]- or --"},
        Case{"(a)<-[:T]->(b)", "1:11: an edge with two arrow heads; "},
        Case{"(a)--", "1:6: expected '>' or a vertex, but the text ends; "},
        Case{"(a)---(b)", "1:6: expected '>' or a vertex, but found '-'; "},
        Case{"(a)-->", "1:7: expected a vertex, but the text ends; "},
        Case{"(a)-->>(b)", "1:7: expected a vertex, but found '>'; "},
        Case{"(a)<--b", "1:7: expected a vertex, but found 'b'; "},
        Case{"(a)(b)", "1:4: expected ',' or the end of the pattern, but found '('; join paths by commas; "},
        Case{"(a)-->(b) WHERE a.x = 1",
             "1:11: expected ',' or the end of the pattern, but found 'WHERE'; a pattern holds paths only"},
        Case{"(a)-->(b) )", "1:11: expected ',' or the end of the pattern, but found ')'; "}));

INSTANTIATE_TEST_SUITE_P(
    Characters, PatternErrors,
    testing::Values(
        Case{"(a {x: 1})-->(b)", "1:4: unexpected '{'; a pattern has no properties"},
        Case{"(a)-[:T*1..3]->(b)",
             "1:8: unexpected '*'; a pattern has no paths of variable length; for any label, leave the label out"},
        Case{"(a:\"A\")-->(b)", "1:4: unexpected \"; names and labels are quoted with backquotes"},
        Case{"(a:'A')-->(b)", "1:4: unexpected '; names and labels are quoted with backquotes"},
        Case{"(a)-->(b);", "1:10: unexpected ';'; leave it out: a text holds one pattern"},
        Case{"(a:!A)-->(b)", "1:4: unexpected '!'; a pattern has no negation: write the labels that may stand"},
        Case{"(a)\xe2\x80\x94>(b)", "1:4: unexpected character U+2014; write - in place of this dash"},
        Case{"(a:\xe2\x80\x9c"
             "A)",
             "1:4: unexpected character U+201C; names and labels are quoted with backquotes"},
        Case{"(a)-->(b) % x", "1:11: unexpected '%'; begin comments with // or #"},
        Case{"(a:`A)-->(b)", "1:4: a backquote that is not closed; close it with another; within backquotes, write ` as ``"},
        Case{"(a:A/B)-->(b)", "1:5: unexpected '/'; "}, Case{"(a:\x01)", "1:4: unexpected character U+0001; "},
        Case{"(a\xc2\xa0:A)-->(b)", "1:3: unexpected character U+00A0; "},                   // no-break space
        Case{"(a)\xe2\x80\x93->(b)", "1:4: unexpected character U+2013; write - in place"},  // en dash
        Case{"(a)-\xe2\x86\x92(b)", "1:5: unexpected character U+2192; write --> or"},       // arrow
        Case{"(a\xe2\x80\x8b)-->(b)", "1:3: unexpected character U+200B; "},                 // zero-width space
        Case{"(a)-->\xef\xbb\xbf(b)", "1:7: unexpected character U+FEFF; "},                 // byte order mark inside
        Case{"(a:\xff)-->(b)", "1:4: unexpected byte 0xff, which is not UTF-8; put labels with such bytes in backquotes"},
        Case{"(a:A\xc3", "1:5: unexpected byte 0xc3, which is not UTF-8; "},
        Case{"(a:\xc0\x80)", "1:4: unexpected byte 0xc0, which is not UTF-8; "}));

INSTANTIATE_TEST_SUITE_P(
    Graph, PatternErrors,
    testing::Values(
        Case{"(a)", "1:1: a query of 1 vertex; a query has 2 to 32 vertices"}, Case{" (a), (a)", "1:2: a query of 1 vertex; "},
        Case{"(a:A)-->(b), (a:B)-->(b)",
             "1:16: vertex 'a' was mentioned with other labels before; give its labels once, or the same each time"},
        Case{"(a:A|B)-->(b)-->(a:A)", "1:19: vertex 'a' was mentioned with other labels before; "},
        Case{"(a)-->(b)-->(b)", "1:10: a self-loop at vertex 'b'; data graphs have none: leave the edge out"},
        Case{"(a)--(a)", "1:1: a query of 1 vertex; "},
        Case{"(a)-->(b),\n(a)-->(b)",
             "2:4: the edge from 'a' to 'b' is there already, with the same labels; leave one of the two out"},
        Case{"(a)-[:T|U]->(b)<-[:U|T]-(a)", "1:16: the edge from 'a' to 'b' is there already, with the same labels; "},
        Case{"(a)-[:T]-(b)-[:T]-(a)", "1:13: the undirected edge between 'b' and 'a' is there already, with the same labels; "},
        Case{"(a)-->(b), (c)", "1:12: disconnected: vertices {a,b} and {c} are not joined by any edge; join them by an edge"},
        Case{"(a), (b)", "1:6: disconnected: vertices {a} and {b} are not joined by any edge; "},
        Case{"(a)--(d), (b)--(e), (c), (e)--(`f\n`)",
             "1:11: disconnected: vertices {a,d}, {b,e,f.} and {c} are not joined by any edge; "},
        Case{"()-->(), ()-->()", "1:10: disconnected: vertices {_1,_2} and {_3,_4} are not joined by any edge; "}));

TEST(PatternError, OneVertexAnd33VerticesAreRefused) {
  std::string text = "(v0)";
  for (int v = 1; v < 32; ++v) text += "-->(v" + std::to_string(v) + ")";
  EXPECT_THAT(refusal(text), StartsWith("accepted"));
  const std::string column = std::to_string(text.size() + 1 + 3);
  EXPECT_THAT(refusal(text + "-->(v32)"),
              StartsWith("ring.pattern:1:" + column + ": a query of 33 vertices; a query has 2 to 32 vertices"));
}

TEST(PatternError, LongNamesAreShortened) {
  const std::string name(500, 'n');
  EXPECT_THAT(refusal("(" + name + ")-->(b)-->(c)--(c), (" + name + ")"), HasSubstr("self-loop at vertex 'c'"));
  EXPECT_THAT(refusal("(" + name + ")-->(b), (c)"), HasSubstr("vertices {" + std::string(40, 'n') + "...,b} and {c}"));
}

}  // namespace
}  // namespace deltamatch
