#include <gmock/gmock.h>

#include "deltamatch/error.hpp"
#include "deltamatch/labels.hpp"
#include "unit/query/graphs.hpp"

namespace deltamatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names(const Query& query) {
  std::vector<std::string> result;
  for (const QueryVertex& vertex : query.vertices) result.push_back(vertex.name);
  return result;
}

QueryEdge directed(std::uint32_t source, std::uint32_t target, LabelSet labels = {}) {
  return {source, target, std::move(labels), true};
}
QueryEdge either(std::uint32_t source, std::uint32_t target, LabelSet labels = {}) {
  return {source, target, std::move(labels), false};
}

TEST(Pattern, LabelledTriangle) {
  const Query query = parse_pattern("(a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(c:Account)-[:TRANSFER]->(a)", "ring");
  EXPECT_EQ(query.name, "ring");
  EXPECT_THAT(query.vertices,
              ElementsAre(QueryVertex{"a", {"Account"}}, QueryVertex{"b", {"Account"}}, QueryVertex{"c", {"Account"}}));
  EXPECT_THAT(query.edges,
              ElementsAre(directed(0, 1, {"TRANSFER"}), directed(1, 2, {"TRANSFER"}), directed(2, 0, {"TRANSFER"})));
}

TEST(Pattern, EveryEdgeForm) {
  EXPECT_THAT(parse_pattern("(a)-->(b)", "q").edges, ElementsAre(directed(0, 1)));
  EXPECT_THAT(parse_pattern("(a)<--(b)", "q").edges, ElementsAre(directed(1, 0)));
  EXPECT_THAT(parse_pattern("(a)--(b)", "q").edges, ElementsAre(either(0, 1)));
  EXPECT_THAT(parse_pattern("(a)-[]->(b)", "q").edges, ElementsAre(directed(0, 1)));
  EXPECT_THAT(parse_pattern("(a)<-[]-(b)", "q").edges, ElementsAre(directed(1, 0)));
  EXPECT_THAT(parse_pattern("(a)-[]-(b)", "q").edges, ElementsAre(either(0, 1)));
  EXPECT_THAT(parse_pattern("(a)-[:T]->(b)", "q").edges, ElementsAre(directed(0, 1, {"T"})));
  EXPECT_THAT(parse_pattern("(a)<-[:T]-(b)", "q").edges, ElementsAre(directed(1, 0, {"T"})));
  EXPECT_THAT(parse_pattern("(a)-[:B|A]-(b)", "q").edges, ElementsAre(either(0, 1, {"A", "B"})));
}

TEST(Pattern, PathsShareVertices) {
  const Query query = parse_pattern("(a)-->(b), (b)-->(c), (c)-->(a:A), (a:A)-->(d)", "q");
  EXPECT_THAT(names(query), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(query.vertices[0].labels, ElementsAre("A"));  // given at a later mention
  EXPECT_THAT(query.edges, ElementsAre(directed(0, 1), directed(1, 2), directed(2, 0), directed(0, 3)));
}

TEST(Pattern, LabelsAreSetsInAnyOrder) {
  EXPECT_THAT(parse_pattern("(a:B|A|B)-->(b), (a:A|B)-->(c)", "q").vertices[0].labels, ElementsAre("A", "B"));
  EXPECT_THAT(parse_pattern("(a)-->(b)", "q").vertices[0].labels, IsEmpty());
  EXPECT_THAT(parse_pattern("(a:``)-->(b:X|``)", "q").vertices[0].labels, ElementsAre(""));
  EXPECT_THAT(parse_pattern("(a:``)-->(b:X|``)", "q").vertices[1].labels, ElementsAre("", "X"));
}

TEST(Pattern, BackquotesHoldAnyText) {
  const Query query = parse_pattern("(`the payer`:`a-b`)-[:`x``y`|`// no comment\n)`|`\xff\x01`]->(b:42|Überweisung|`A`)", "q");
  EXPECT_EQ(query.vertices[0].name, "the payer");
  EXPECT_THAT(query.vertices[0].labels, ElementsAre("a-b"));
  EXPECT_THAT(query.edges[0].labels, ElementsAre("// no comment\n)", "x`y", "\xff\x01"));
  EXPECT_THAT(query.vertices[1].labels, ElementsAre("42", "A", "Überweisung"));
}

TEST(Pattern, AnonymousVerticesAreAllDifferentAndNamedByNumber) {
  const Query query = parse_pattern("()-->(:A)-->(_2)-->()", "q");
  EXPECT_THAT(names(query), ElementsAre("_1", "_3", "_2", "_4"));
  EXPECT_THAT(query.vertices[1].labels, ElementsAre("A"));
}

TEST(Pattern, BlanksLineEndsAndCommentsAreFree) {
  const std::string text =
      "\xef\xbb\xbf// a ring\r\nMATCH ( a : A | B ) // payer\r\n\t- [ : T ] - > ( b )\r\n\f,\v( b ) < - - (c)//end";
  EXPECT_EQ(parse_pattern(text, "q"), parse_pattern("(a:A|B)-[:T]->(b)<--(c)", "q"));
}

TEST(Pattern, MatchIsAKeywordOnlyBeforeTheFirstPath) {
  EXPECT_EQ(parse_pattern("match (a)-->(b)", "q"), parse_pattern("(a)-->(b)", "q"));
  EXPECT_THAT(names(parse_pattern("Match (match)-->(MATCH:match)", "q")), ElementsAre("match", "MATCH"));
  EXPECT_THROW(static_cast<void>(parse_pattern("`match` (a)-->(b)", "q")), Error);
  EXPECT_THROW(static_cast<void>(parse_pattern("MATCH MATCH (a)-->(b)", "q")), Error);
}

TEST(Pattern, ParallelEdgesThatDifferAreLegal) {
  EXPECT_EQ(parse_pattern("(a)-->(b), (a)<--(b), (a)--(b), (a)-[:T]->(b), (a)-[:``]->(b), (a)-[:T|U]->(b)", "q").edges.size(),
            6U);
}

TEST(Pattern, A31LeafStarIsLegal) {
  std::string text = "(hub)--(l1)";
  for (int leaf = 2; leaf <= 31; ++leaf) text += ", (hub)--(l" + std::to_string(leaf) + ")";
  EXPECT_EQ(parse_pattern(text, "q").vertices.size(), 32U);
}

TEST(PatternText, ChainsEdgesIntoPaths) {
  const auto same = [](std::string_view text) { EXPECT_EQ(to_pattern(parse_pattern(text, "q")), text); };
  same("(a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(a)");
  same("(a)-->(b)<--(c)--(d)-[:A|B]-(a)");
  same("(a:`x``y`|z)-->(`b c`), (a)-->(d:``)");
  same("(a), (b), (c)-->(b)-->(a)");
  EXPECT_EQ(to_pattern(parse_pattern("()<-[:`T`]-( :`A` )", "q")), "(_1)<-[:T]-(_2:A)");
}

TEST(PatternText, OfAnInvalidQueryIsRefused) {
  Query query;
  query.vertices = {{"a", {}}};
  EXPECT_THROW(static_cast<void>(to_pattern(query)), Error);
}

RC_GTEST_PROP(PatternTextProperty, ParsesBackToTheQuery, ()) {
  Query query = *query::any_query(9);
  query.name = "the name";
  // Names and labels may have any bytes.
  for (std::size_t v = 0; v < query.vertices.size(); ++v)
    query.vertices[v].name = *rc::gen::arbitrary<std::string>() + query.vertices[v].name;
  const auto any_labels = rc::gen::map(rc::gen::arbitrary<std::set<std::string>>(), [](const std::set<std::string>& set) {
    std::set<std::string> labels;  // without the bytes of terms
    for (std::string label : set) {
      std::ranges::replace_if(label, [](char c) { return c == label_separator || c == label_negation; }, 'x');
      labels.insert(label);
    }
    return LabelSet(labels.begin(), labels.end());
  });
  query.vertices[0].labels = *any_labels;
  query.edges[0].labels = *any_labels;
  try {
    validate(query, "test");
  } catch (const Error&) {
    RC_DISCARD("the edge is there already");
  }
  RC_ASSERT(parse_pattern(to_pattern(query), query.name) == query);
}

// For any text, the parser returns a valid query or throws an Error.
RC_GTEST_PROP(PatternProperty, AnyTextIsAValidQueryOrAnError, ()) {
  static const std::vector<std::string> pieces = {
      "(", ")",  "[",   "]", "-",  "<",   ">",   ":",   "|",  "&",       "!",  "%", ":A", ":!",       ",",    "a",
      "b", "``", "`x`", " ", "\n", "(a)", "(b)", "-->", "--", "-[:T]->", "//", "`", "{",  "\xc2\xa0", "\xff", "MATCH"};
  std::string text;
  for (const auto& piece : *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))) text += piece;
  try {
    const Query query = parse_pattern(text, "q");
    validate(query, "test");
    RC_TAG("query");
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::configuration);
    RC_ASSERT(std::string_view(error.what()).starts_with("query q:"));
    RC_ASSERT(std::string_view(error.what()).ends_with("^"));
  }
}

}  // namespace
}  // namespace deltamatch
