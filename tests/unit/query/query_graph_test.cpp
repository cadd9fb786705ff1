#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "deltamatch/error.hpp"
#include "unit/query/graphs.hpp"

namespace deltamatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

Query undirected(std::string_view text) { return parse_query_graph(text, "q", false); }

TEST(QueryGraph, VerticesAndEdgesAsListed) {
  const Query query = parse_query_graph("t 3 3\nv 0 A 2\nv 1 B 2\nv 2 A 2\ne 0 1 x\ne 1 2 y\ne 2 0\n", "triangle", true);
  EXPECT_EQ(query.name, "triangle");
  EXPECT_THAT(query.vertices, ElementsAre(QueryVertex{"0", {"A"}}, QueryVertex{"1", {"B"}}, QueryVertex{"2", {"A"}}));
  EXPECT_THAT(query.edges, ElementsAre(QueryEdge{0, 1, {"x"}, true}, QueryEdge{1, 2, {"y"}, true}, QueryEdge{2, 0, {}, true}));
}

TEST(QueryGraph, EdgesAreUndirectedUnlessAsked) {
  EXPECT_THAT(undirected("v 0 A\nv 1 B\ne 1 0\n").edges, ElementsAre(QueryEdge{1, 0, {}, false}));
}

TEST(QueryGraph, StarOrNoLabelIsAnyLabel) {
  const Query query = undirected("v 0 *\nv 1\nv 2 A\ne 0 1 *\ne 1 2\n");
  EXPECT_THAT(query.vertices[0].labels, IsEmpty());
  EXPECT_THAT(query.vertices[1].labels, IsEmpty());
  EXPECT_THAT(query.edges[0].labels, IsEmpty());
  EXPECT_THAT(query.edges[1].labels, IsEmpty());
}

TEST(QueryGraph, EdgeLabelZeroIsNoLabelToo) {
  const Query query = undirected("v 0 0\nv 1 0\ne 0 1 0\n");
  EXPECT_THAT(query.edges[0].labels, ElementsAre("", "0"));
  EXPECT_THAT(query.vertices[0].labels, ElementsAre("0"));
}

TEST(QueryGraph, IdsNeedNotBeContiguousNorInOrder) {
  const Query query =
      undirected("v 7 A\nv 18446744073709551615 B\nv 007000 C\nv 3 D\ne 7 3\ne 18446744073709551615 3\ne 3 7000\n");
  EXPECT_EQ(query.vertices[1].name, "18446744073709551615");
  EXPECT_EQ(query.vertices[2].name, "7000");
  EXPECT_THAT(query.edges, ElementsAre(QueryEdge{0, 3, {}, false}, QueryEdge{1, 3, {}, false}, QueryEdge{3, 2, {}, false}));
}

TEST(QueryGraph, EdgesMayStandBetweenVertices) {
  EXPECT_EQ(undirected("v 0 A\nv 1 A\ne 0 1\nv 2 A\ne 0 2").vertices.size(), 3U);
}

TEST(QueryGraph, LineEndsMarksAndCommentsDoNotMatter) {
  const Query expected = undirected("v 0 A\nv 1 B\ne 0 1");
  EXPECT_EQ(
      undirected("\xef\xbb\xbf# text\r\n%text\r\n\r\n \t \r\nt 2 1\r\n  v\t0  A\r\nv 1 B \r\n  # text\r\ne 0 1\t\r\n\r\n"),
      expected);
}

TEST(QueryGraph, EitherSpellingOfTheHeader) {
  EXPECT_EQ(undirected("t 2 1\nv 0 A\nv 1 B\ne 0 1"), undirected("v 0 A\nv 1 B\ne 0 1"));
  EXPECT_EQ(undirected("t 0 2\nv 0 A\nv 1 B\ne 0 1"), undirected("v 0 A\nv 1 B\ne 0 1"));
}

std::string refusal(std::string_view text) {
  try {
    return "accepted: " + to_pattern(parse_query_graph(text, "q", false, "q.graph"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::configuration);
    return error.what();
  }
}

TEST(QueryGraphError, ShowsTheLine) {
  EXPECT_EQ(refusal("v 0 A\nv 1 A\ne 0 2 x\n"),
            "q.graph:3:5: vertex 2 is not listed before this edge; list it as 'v ID LABEL' before its edges\n"
            "  e 0 2 x\n"
            "      ^");
}

struct Case {
  const char* text;
  const char* refusal;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.text; }

class QueryGraphErrors : public testing::TestWithParam<Case> {};

TEST_P(QueryGraphErrors, AreClear) {
  EXPECT_THAT(refusal(GetParam().text), StartsWith(std::string("q.graph:") + GetParam().refusal));
}

INSTANTIATE_TEST_SUITE_P(
    Records, QueryGraphErrors,
    testing::Values(
        Case{"", "1:1: the query graph has no vertices; list vertices as 'v ID LABEL'"},
        Case{"# nothing\n\n", "3:1: the query graph has no vertices; "},
        Case{"t 0 0\n", "2:1: the query graph has no vertices; "},
        Case{"x 1 2\n",
             "1:1: the kind of record 'x' is unknown; write records as 't VERTICES EDGES', 'v ID LABEL' or 'e ID ID [LABEL]'"},
        Case{"v 0 A\n-e 0 1\n", "2:1: the kind of record '-e' is unknown; "},
        Case{"v\n", "1:1: the record has 1 fields; write it as 'v ID [LABEL [DEGREE]]'"},
        Case{"v 0 A 1 2\n", "1:9: the record has 5 fields; write it as 'v ID [LABEL [DEGREE]]'"},
        Case{"v 0 A\nv 1 A\ne 0\n", "3:1: the record has 2 fields; write it as 'e ID ID [LABEL]'"},
        Case{"v 0 A\nv 1 A\ne 0 1 x y\n", "3:9: the record has 5 fields; write it as 'e ID ID [LABEL]'"},
        Case{"v x A\n", "1:3: the vertex id 'x' is not a number; write an integer from 0 to 18446744073709551615"},
        Case{"v -1 A\n", "1:3: the vertex id '-1' is not a number; "},
        Case{"v +1 A\n", "1:3: the vertex id '+1' is not a number; "},
        Case{"v 1.5 A\n", "1:3: the vertex id '1.5' is not a number; "},
        Case{"v NaN A\n", "1:3: the vertex id 'NaN' is not a number; "},
        Case{"v 18446744073709551616 A\n", "1:3: the vertex id '18446744073709551616' is not a number; "},
        Case{"v 0 A two\n", "1:7: the degree 'two' is not a number; "},
        Case{"v 0 A\nv 0 B\n", "2:3: vertex 0 occurs twice; list each vertex once"},
        Case{"v 0 A\nv 00 B\n", "2:3: vertex 0 occurs twice; "},
        Case{"e 0 1\nv 0 A\nv 1 A\n", "1:3: vertex 0 is not listed before this edge; list it as 'v ID LABEL' before its edges"},
        Case{"v 0 A\nv 1 A\ne 0 -2\n", "3:5: the vertex id '-2' is not a number; "},
        Case{"v 0 A\x1b[31m\nv\x01 1 A\n", "2:1: the kind of record 'v.' is unknown; "}));

INSTANTIATE_TEST_SUITE_P(
    Headers, QueryGraphErrors,
    testing::Values(Case{"# x\nt 3 1\nv 0 A\nv 1 A\ne 0 1\n",
                         "2:1: 't 3 1' does not match 2 vertices and 1 edges; check whether the file is truncated"},
                    Case{"t 2 2\nv 0 A\nv 1 A\ne 0 1\n", "1:1: 't 2 2' does not match 2 vertices and 1 edges; "},
                    Case{"t 0 3\nv 0 A\nv 1 A\ne 0 1\n", "1:1: 't 0 3' does not match 2 vertices and 1 edges; "},
                    Case{"t 1 2\nv 0 A\nv 1 A\ne 0 1\n", "1:1: 't 1 2' does not match 2 vertices and 1 edges; "},
                    Case{"t 2\n", "1:1: the record has 2 fields; write it as 't VERTICES EDGES'"},
                    Case{"t 2 1 0\n", "1:7: the record has 4 fields; write it as 't VERTICES EDGES'"},
                    Case{"t # x\n", "1:5: the graph's number 'x' is not a number; "},
                    Case{"v 0 A\nv 1 A\ne 0 1\nt # 1\n", "4:1: a second query graph begins at this 't' record; "},
                    Case{"t # -1\nv 0 A\n", "2:1: this record stands behind 't # -1', which ends the file; "},
                    Case{"t 2 x\n", "1:5: the second count 'x' is not a number; "},
                    Case{"v 0 A\nt 1 0\n",
                         "2:1: a second query graph begins at this 't' record; split the file: it holds one query graph"},
                    Case{"t 2 1\nt 2 1\n", "2:1: a second query graph begins at this 't' record; "}));

INSTANTIATE_TEST_SUITE_P(
    Graph, QueryGraphErrors,
    testing::Values(Case{"v 5 A\n", "1:1: the query has 1 vertex; write a query of 2 to 32 vertices"},
                    Case{"v 0 A\nv 1 A\ne 0 1\ne 1 0\n",
                         "4:1: the undirected edge between '1' and '0' occurs twice, with the same labels; "},
                    Case{"v 0 A\nv 1 A\ne 0 1 0\ne 0 1 0\n",
                         "4:1: the undirected edge between '0' and '1' occurs twice, with the same labels; "},
                    Case{"v 0 A\nv 1 A\nv 2 A\ne 0 2\n",
                         "2:1: the query is disconnected: no edge joins the vertices {0,2} and {1}; "}));

TEST(QueryGraphError, ThirtyThreeVerticesAreRefused) {
  std::string text;
  for (int v = 0; v < 33; ++v) text += "v " + std::to_string(v) + " A\n";
  for (int v = 1; v < 33; ++v) text += "e 0 " + std::to_string(v) + "\n";
  EXPECT_THAT(refusal(text), StartsWith("q.graph:33:1: the query has 33 vertices; write a query of 2 to 32 vertices"));
}

TEST(QueryGraphError, BinaryJunkAndEndlessLinesAreRefused) {
  EXPECT_THAT(refusal(std::string("\0\0\0\x7f\xff", 5)), StartsWith("q.graph:1:1: the kind of record '"));
  EXPECT_THAT(refusal(std::string(1 << 20, 'v')),
              StartsWith("q.graph:1:1: the kind of record 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv...' is unknown"));
  EXPECT_THAT(refusal("v 0 " + std::string(1 << 20, '9') + "\n"), StartsWith("q.graph:1:1: the query has 1 vertex"));
}

RC_GTEST_PROP(QueryGraphProperty, AnyTextIsAValidQueryOrAnError, ()) {
  static const std::vector<std::string> pieces = {"t 2 1\n",   "v 0 A\n", "v 1 A\n", "v 2\n", "e 0 1\n", "e 1 2 x\n",
                                                  "e 0 2 0\n", "v ",      "e ",      "0 ",    "1 ",      "\n",
                                                  "\r\n",      "#",       "*",       "\xff",  "-1 "};
  std::string text;
  for (const auto& piece : *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))) text += piece;
  try {
    validate(parse_query_graph(text, "q", *rc::gen::arbitrary<bool>()), "test");
    RC_TAG("query");
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::configuration);
    RC_ASSERT(std::string_view(error.what()).starts_with("query graph:"));
  }
}

}  // namespace
}  // namespace deltamatch
