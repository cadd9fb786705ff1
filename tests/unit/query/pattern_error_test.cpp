// Every refusal of a pattern, with its whole text. It names line and column and shows the place.
#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

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

TEST(PatternError, AsksWhatIsMeant) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"MATHC (a)-->(b)", "1:1: expected MATCH or a vertex, but found 'MATHC'; did you mean MATCH?"},
      {"(a)-[t]->(b) WERE t.x > 1", "but found 'WERE'; did you mean WHERE?"},
      {"(a)-->(b) witihn 1d", "but found 'witihn'; did you mean WITHIN?"},
      {"(a)-[t]->(b) WHERE t.x > 1 WITIHN 1d", "but found 'WITIHN'; did you mean WITHIN?"},
      {"(a)-->(b) WITHIN 1d ALRT ONCE PER (a) EVERY 1h", "but found 'ALRT'; did you mean ALERT?"},
      {"(a)-->(b) ALERT ONCE PER (a) EVRY 1h", "but found 'EVRY'; did you mean EVERY?"},
      {"(a)-->(b) WITHIN 24hours", "1:18: unknown unit 'hours'; write 24h; the units are us, ms, s, m, h, d and w"},
      {"(a)-->(b) WITHIN 24H", "1:18: unknown unit 'H'; write 24h; "},
      {"(a)-->(b) WITHIN 2months", "1:18: unknown unit 'months'; write 60d; "},
      {"(a)-->(b) WITHIN 30min", "1:18: unknown unit 'min'; write 30m; "},
      {"(a)-->(b) WITHIN 3blinks", "1:18: unknown unit 'blinks'; durations are written 24h (us, ms, s, m, h, d, w)"},
      {"(a)-->(b) WITHIN 24 h", "1:18: a blank before the unit of a duration; write 24h"},
      {"(a)-[t]->(b) WHERE t.time > datetime('2026-02-31')", "'2026-02-31' cannot be read: there is no such day; "},
      {"(a)-[t]->(b) WHERE t.time > datetime('31.02.2026')", "'31.02.2026' cannot be read: there is no such day; "},
      {"(a)-[t]->(b) WHERE t.time > datetime('28.02.2026')", "'28.02.2026' cannot be read; write datetime("}};
  for (const auto& [text, says] : cases) EXPECT_THAT(refusal(text), HasSubstr(says));
}

TEST(PatternError, ShowsLineColumnAndCaret) {
  EXPECT_EQ(
      refusal("(a)-->(b),\n(b)-[:T}->(c)"),
      "ring.pattern:2:8: expected ']', but found '}'; write an edge as -[:LABEL]->, <-[:LABEL]-, -[:LABEL]-, -->, <-- or --\n"
      "  (b)-[:T}->(c)\n"
      "         ^");
}

TEST(PatternError, CountsColumnsInCharacters) {
  EXPECT_EQ(refusal("(ä:Ü)-->(ö:ß-x)"),
            "ring.pattern:1:13: expected ')', but found '-'; write a vertex as (name:Label), and other characters "
            "than letters, digits and _ in backquotes\n"
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
        Case{"", "1:1: the pattern is empty; write paths such as "},
        Case{" // only a comment\n ", "2:2: the pattern is empty; "}, Case{"MATCH", "1:6: the pattern is empty; "},
        Case{"a-->b", "1:1: expected a vertex, but found 'a'; write a vertex as (name:Label), (name), (:Label) or ()"},
        Case{"-->", "1:1: expected a vertex, but found '-'; "},
        Case{"(a)-->(b),", "1:11: expected a vertex, but the text ends; "},
        Case{"(a", "1:3: expected ')', but the text ends; "}, Case{"(a b)", "1:4: expected ')', but found 'b'; "},
        Case{"(a `b`)", "1:4: expected ')', but found `b`; "}, Case{"(``)-->(b)", "1:2: the name is empty; leave it out"},
        Case{"(a:)-->(b)",
             "1:4: expected a label, but found ')'; write labels as :A, :A|B, :A&B or :!A, with parentheses, and the empty "
             "label as "
             "two backquotes"},
        Case{"(a:A|)-->(b)", "1:6: expected a label, but found ')'; "},
        Case{"(a:A|:B)-->(b)", "1:6: expected a label, but found ':'; "},
        Case{"(a:A|B:C)-->(b)", "1:7: a ':' beside other operators; write & for labels that must all be there"},
        Case{"(a:A:B&C)-->(b)", "1:9: a ':' beside other operators; write & for labels that must all be there"},
        Case{"(a:A&)-->(b)", "1:6: expected a label, but found ')'; "},
        Case{"(a:!)-->(b)", "1:5: expected a label, but found ')'; "},
        Case{"(a:(A|B)-->(b)", "1:9: expected ')', but found '-'; "},
        Case{"(a:A!B)-->(b)", "1:5: expected ')', but found '!'; "},
        Case{"(a:A&!A)-->(b)", "1:3: no vertex has these labels; leave one of those that exclude each other out"},
        Case{"(a:``&A)-->(b)", "1:3: no vertex has these labels; "},
        Case{"(a:%&``)-->(b)", "1:3: no vertex has these labels; "},
        Case{"(a)-[:A&B]->(b)", "1:6: no edge has these labels; an edge has one label: write alternatives as :A|B"},
        Case{"(a:`A\037B`)-->(b)", "1:4: a label with the byte 0x1f, or 0x1e at its beginning; write several labels as :A&B"},
        Case{"(a)-[:A:B]->(b)", "1:8: a second ':' is not possible; write alternatives as :A|B"},
        Case{"(a)-[:]->(b)", "1:7: expected a label, but found ']'; "},
        Case{"(a)-[T]->(b)",
             "1:4: no condition uses the name of the edge 'T'; write [:T] for an edge with this label, leave the name"},
        Case{"(a)-[pays]->(b)", "1:4: no condition uses the name of the edge 'pays'; write [:pays]"},
        Case{"(a)-[t1x]->(b)", "1:4: no condition uses the name of the edge 't1x'; write [:t1x]"},
        Case{"(a)-[t:T u]->(b)", "1:10: expected ']', but found 'u'; write an edge as -[:LABEL]->"},
        Case{"(a)-[:T->(b)", "1:8: expected ']', but found '-'; write an edge as -[:LABEL]->"},
        Case{"(a)-[:T](b)", "1:9: expected '-', but found '('; write an edge as -[:LABEL]->"},
        Case{"(a)->(b)", "1:5: expected '-', but found '>'; "}, Case{"(a)<(b)", "1:5: expected '-', but found '('; "},
        Case{"(a)-(b)", "1:5: expected '-', but found '('; "},
        Case{"(a)<-->(b)", "1:7: the edge has two arrow heads; write an edge of either direction as -[:LABEL]- or --"},
        Case{"(a)<-[:T]->(b)", "1:11: the edge has two arrow heads; "},
        Case{"(a)--", "1:6: expected '>' or a vertex, but the text ends; "},
        Case{"(a)---(b)", "1:6: expected '>' or a vertex, but found '-'; "},
        Case{"(a)-->", "1:7: expected a vertex, but the text ends; "},
        Case{"(a)-->>(b)", "1:7: expected a vertex, but found '>'; "},
        Case{"(a)<--b", "1:7: expected a vertex, but found 'b'; "},
        Case{"(a)(b)",
             "1:4: expected ',', WHERE, WITHIN, ALERT, EMIT or the end of the pattern, but found '('; join paths by commas; "},
        Case{"(a)-->(b) WHEN a.x = 1",
             "1:11: expected ',', WHERE, WITHIN, ALERT, EMIT or the end of the pattern, but found 'WHEN'; "},
        Case{"(a)-->(b) )", "1:11: expected ',', WHERE, WITHIN, ALERT, EMIT or the end of the pattern, but found ')'; "}));

INSTANTIATE_TEST_SUITE_P(
    Characters, PatternErrors,
    testing::Values(
        Case{"(a {x: 1%})-->(b)", "1:9: unexpected '%'; "},
        Case{"(a)-[PAYS]->{1,3}(b)",
             "1:4: no condition uses the name of the edge 'PAYS'; write [:PAYS] for an edge with this label"},
        Case{"(a)-[:*]->(b)", "1:7: expected a label, but found '*'; write labels as :A, :A|B, :A&B or :!A"},
        Case{"(a)-->+(b)", "1:7: unexpected '+'; write the bounds of a path: -[:TRANSFER]->{1,4}"},
        Case{"(a:\"A\")-->(b)", "1:4: unexpected \"; quote names and labels with backquotes"},
        Case{"(a:'A')-->(b)", "1:4: unexpected '; quote names and labels with backquotes"},
        Case{"(a)-->(b);", "1:10: unexpected ';'; leave it out, and join the paths"},
        Case{"(a!A)-->(b)", "1:3: unexpected '!'; write labels that must be absent as :!A"},
        Case{"(a&A)-->(b)", "1:3: unexpected '&'; write labels that must all be there as :A&B"},
        Case{"(a)\xe2\x80\x94>(b)", "1:4: unexpected character U+2014; write - in place of this dash"},
        Case{"(a:\xe2\x80\x9c"
             "A)",
             "1:4: unexpected character U+201C; quote names and labels with backquotes"},
        Case{"(a)-->(b) % x", "1:11: unexpected '%'; begin comments with // or #"},
        Case{"(a:`A)-->(b)", "1:4: this backquote is not closed; close it with another; within backquotes, write ` as ``"},
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
    OtherLanguages, PatternErrors,
    testing::Values(Case{"(a)-->(b) WHERE NOT (b)-->(a)", "1:21: a path in a condition; write NOT EXISTS { (b)-->(a) }"},
                    Case{"(a)-->(b) WHERE (b:B)<-[:T]-(a)", "1:17: a path in a condition; write EXISTS { (b)-->(a) }"},
                    Case{"(a)-->(b) WHERE id(a) = 1 AND (b)--(a)", "1:31: a path in a condition; write EXISTS { (b)-->(a) }"},
                    Case{"(a)-->(b) WHERE EXISTS((b)-->(a))", "1:17: unknown function 'EXISTS'; write EXISTS { (b)-->(a) }"},
                    Case{"(a) WHERE COUNT((s)-->(a)) > 2",
                         "1:17: a pattern that is counted in parentheses; write COUNT { (s)-->(a) } >= 3"},
                    Case{"(a) WHERE size((a)-->()) > 2", "1:11: unknown function 'size'; write count(t), the number of steps"},
                    Case{"(a) WHERE degree(a) > 2", "1:11: unknown function 'degree'; write COUNT { (s)-->(a) } >= 3"},
                    Case{"(a)-[t]->{1,3}(b) WHERE length(t) > 2",
                         "1:25: unknown function 'length'; write count(t), the number of steps"},
                    Case{"(a) WHERE COUNT { MATCH (s)-->(a) } > 2", "1:19: MATCH in a counted pattern; leave it out"},
                    Case{"(a) WHERE COUNT { (s)-->(a) RETURN s } > 2", "1:29: RETURN in a counted pattern; leave it out"},
                    Case{"(a) WHERE COUNT { (s)-->(a) EMIT FINAL } > 2",
                         "1:29: EMIT in a counted pattern; write it at the end of the whole"},
                    Case{"(a) WHERE COUNT { (s)-->(a) WHERE id(s) = 1 ALERT ONCE PER (a) EVERY 1h } > 2",
                         "1:45: ALERT in a counted pattern; write it at the end of the whole"},
                    Case{"(a)-->(b) WITHIN 1h30m", "1:18: the duration '1h30m' is not one whole number and a unit; write 90m"},
                    Case{"(a)-->(b) WITHIN 1.5h", "1:18: the duration '1.5h' is not one whole number and a unit; write 90m"},
                    Case{"(a)-->(b) WITHIN 1h 30m", "1:18: a duration in two parts; write 90m"},
                    Case{"(a)-->(b) ALERT ONCE PER (a) EVERY 1h30m",
                         "1:36: the duration '1h30m' is not one whole number and a unit; write 90m"},
                    Case{"((a)-->(b)){2,3}", "1:2: a path in parentheses; write the bounds behind one edge: (a)-[t]->{2,3}(b)"},
                    Case{"MATCH SHORTEST (a)-->(b)", "1:7: unexpected 'SHORTEST'; write the bounds behind one edge"},
                    Case{"MATCH any (a)-->(b)", "1:7: unexpected 'any'; write the bounds behind one edge"},
                    Case{"MATCH p=(a)-->(b)", "1:7: expected a vertex, but found 'p'; leave 'p =' out"},
                    Case{"(a:NOT A)-->(b)", "1:4: unexpected 'NOT'; write a label that must be absent as :!A"},
                    Case{"(a:A;B)-->(b)", "1:5: unexpected ';'; write labels that must all be there as :A&B"}));

TEST(PatternError, WordsOfOtherLanguagesAreNamesToo) {
  for (const char* pattern : {"(a:NOT)-->(b)", "(a:NOT WHERE id(a) = 1)-->(b)", "(any)-->(all)", "(a)-->(b) WHERE (5) > -3",
                              "(a)-[t:T]->(b) WHERE (t.x) - (t.y) > 0"})
    EXPECT_THAT(refusal(pattern), StartsWith("accepted")) << pattern;
}

INSTANTIATE_TEST_SUITE_P(
    Graph, PatternErrors,
    testing::Values(
        Case{"(a)", "1:1: the query has 1 vertex; write a query of 2 to 32 vertices, or let its condition count"},
        Case{" (a), (a)", "1:2: the query has 1 vertex; "},
        Case{"(a:A)-->(b), (a:B)-->(b)",
             "1:16: vertex 'a' had other labels before; give its labels once, or the same each time"},
        Case{"(a:A|B)-->(b)-->(a:A)", "1:19: vertex 'a' had other labels before; "},
        Case{"(a)-->(a), (a)--(a)", "1:15: the undirected edge between 'a' and 'a' occurs twice, with the same labels; "},
        Case{"(a)-->(b),\n(a)-->(b)",
             "2:4: the edge from 'a' to 'b' occurs twice, with the same labels; leave one of the two out"},
        Case{"(a)-[:T|U]->(b)<-[:U|T]-(a)", "1:16: the edge from 'a' to 'b' occurs twice, with the same labels; "},
        Case{"(a)-[:T]-(b)-[:T]-(a)", "1:13: the undirected edge between 'b' and 'a' occurs twice, with the same labels; "},
        Case{"(a)-->(b), (c)",
             "1:12: the query is disconnected: no edge joins the vertices {a,b} and {c}; join them by an edge"},
        Case{"(a), (b)", "1:6: the query is disconnected: no edge joins the vertices {a} and {b}; "},
        Case{"(a)--(d), (b)--(e), (c), (e)--(`f\n`)",
             "1:11: the query is disconnected: no edge joins the vertices {a,d}, {b,e,f.} and {c}; "},
        Case{"()-->(), ()-->()", "1:10: the query is disconnected: no edge joins the vertices {_1,_2} and {_3,_4}; "}));

TEST(PatternError, OneVertexAnd33VerticesAreRefused) {
  std::string text = "(v0)";
  for (int v = 1; v < 32; ++v) text += "-->(v" + std::to_string(v) + ")";
  EXPECT_THAT(refusal(text), StartsWith("accepted"));
  const std::string column = std::to_string(text.size() + 1 + 3);
  EXPECT_THAT(refusal(text + "-->(v31)"), HasSubstr("the query has 32 vertices, of which 1 have self-loops and count twice"));
  EXPECT_THAT(refusal(text + "-->(v32)"),
              StartsWith("ring.pattern:1:" + column + ": the query has 33 vertices; write a query of 2 to 32 vertices"));
}

TEST(PatternError, LongNamesAreShortened) {
  const std::string name(500, 'n');
  EXPECT_THAT(refusal("(" + name + ")-->(b), (c)"), HasSubstr("vertices {" + std::string(40, 'n') + "...,b} and {c}"));
}

}  // namespace
}  // namespace deltamatch
