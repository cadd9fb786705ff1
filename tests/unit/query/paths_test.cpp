// Paths: their syntax, what is refused, and the variants that they make.
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "deltamatch/query_options.hpp"
#include "query/fingerprint.hpp"
#include "query/paths.hpp"

namespace deltamatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_pattern(text, "q"));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> texts(const std::string& pattern) {
  std::vector<std::string> result;
  for (const Query& variant : variants(parse_pattern(pattern, "q"))) result.push_back(to_pattern(variant));
  return result;
}

std::string conditions(const std::string& pattern) {
  const std::string text = texts(pattern).back();
  const std::size_t where = text.find(" WHERE ");
  return where == std::string::npos ? "" : text.substr(where + 7);
}

TEST(PathSyntax, BracesAndStarsMeanTheSame) {
  const Query braces = parse_pattern("(a)-[t:T]->{1,4}(b)", "q");
  ASSERT_TRUE(braces.edges[0].quantifier);
  EXPECT_EQ(*braces.edges[0].quantifier, (Quantifier{1, 4}));
  EXPECT_EQ(parse_pattern("(a)-[t:T*1..4]->(b)", "q"), braces);
  EXPECT_EQ(parse_pattern("(a)-[t:T*..4]->(b)", "q"), braces);
  EXPECT_EQ(parse_pattern("(a)-[t:T * 1 .. 4 ]->(b)", "q"), braces);
  EXPECT_EQ(parse_pattern("(b), (a), (b)<-[t:T]-{1,4}(a)", "q").edges[0].quantifier, (Quantifier{1, 4}));
  EXPECT_EQ(parse_pattern("(a)-[t:T]->{3}(b)", "q"), parse_pattern("(a)-[t:T*3]->(b)", "q"));
  EXPECT_EQ(parse_pattern("(a)-[:T]-{2,3}(b)", "q"), parse_pattern("(a)-[:T*2..3]-(b)", "q"));
  EXPECT_EQ(parse_pattern("(a)-->{2}(b)", "q"), parse_pattern("(a)-[*2]->(b)", "q"));
  EXPECT_EQ(parse_pattern("(a)-[t:T*1..4 {x: 1} WHERE t.y > 2]->(b)", "q"),
            parse_pattern("(a)-[t:T {x: 1} WHERE t.y > 2]->{1,4}(b)", "q"));
}

TEST(PathSyntax, ConditionsInTheElementBelongToTheSteps) {
  const Query query = parse_pattern("(a WHERE a.r > 1)-[t:T {x: 1} WHERE t.y > prev(t).y]->{1,4}(b) WHERE sum(t.y) > 5", "q");
  EXPECT_TRUE(query.edges[0].each);
  EXPECT_EQ(to_pattern(query), "(a)-[t:T WHERE t.x = 1 AND t.y > prev(t).y]->{1,4}(b) WHERE a.r > 1 AND sum(t.y) > 5");
}

TEST(PathSyntax, PathsAreReadAgain) {
  for (const char* text : {"(a)-[t:T]->{1,4}(b)", "(a)-[t:T]->{3}(a)", "(a)<-[t:T|U]-{1,2}(b)", "(a)-[`t`]-{2,3}(b)",
                           "(a)-[t WHERE t.x >= 0.8 * prev(t).x AND t.time > first(t).time]->{2,8}(b) WHERE count(t) <> 4 AND "
                           "max(t.x) < 3 WITHIN 1d",
                           "(a)-[t:T]->{1,2}(b)-[u]->(c) WHERE least(last(t).x, u.x, min(t.x)) > greatest(u.x, 2)"}) {
    const Query query = parse_pattern(text, "q");
    EXPECT_EQ(parse_pattern(to_pattern(query), "q"), query) << text;
    EXPECT_EQ(to_pattern(parse_pattern(to_pattern(query), "q")), to_pattern(query)) << text;
  }
}

TEST(PathSyntax, FunctionsTakeTheAttributeInsideToo) {
  EXPECT_EQ(parse_pattern("(a)-[t WHERE t.x > PREV(t.x)]->{1,4}(b) WHERE FIRST(t.x) < Last(t.x)", "q"),
            parse_pattern("(a)-[t WHERE t.x > prev(t).x]->{1,4}(b) WHERE first(t).x < last(t).x", "q"));
}

TEST(PathSyntax, WhatIsWrongIsRefusedWithARemedy) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"(a)-->{0,2}(b)",
       "1:7: a path of length 0; begin at 1, as in {1,4}; for the case without the path, write a second query"},
      {"(a)-->{,2}(b)", "1:7: a path of length 0; begin at 1"},
      {"(a)-[*0..2]->(b)", "1:6: a path of length 0; begin at 1"},
      {"(a)-->{2,}(b)", "1:7: a path without an upper bound; give one of at most 8: {1,8} behind the edge, or *1..8 inside it"},
      {"(a)-[*]->(b)", "1:6: a path without an upper bound; give one"},
      {"(a)-[*2..]->(b)", "1:6: a path without an upper bound; give one"},
      {"(a)-->*(b)", "1:7: a path without an upper bound; write ->{1,8}"},
      {"(a)-->{1,9}(b)", "1:7: a path of more than 8 edges; give an upper bound of at most 8"},
      {"(a)-->{99999999999}(b)", "1:7: a path of more than 8 edges; "},
      {"(a)-->{4,2}(b)", "1:7: the lower bound of a path is above the upper bound; exchange them"},
      {"(a)-->{}(b)", "1:8: expected the length of a path, but found '}'; write a path of 1 to 4 edges as -[:TRANSFER]->{1,4}"},
      {"(a)-->{x: 1}(b)", "1:8: expected the length of a path, but found 'x'; "},
      {"(a)-->{1,2(b)", "1:11: expected '}', but found '('; "},
      {"(a)-[*1.2]->(b)", "1:6: a path without an upper bound; "},
      {"(a)-[*1..2]->{1,2}(b)", "1:14: the edge has two quantifiers; write either *1..4 inside it or {1,4} behind it"},
      {"(a)-->{1,2}(a)", "1:4: a path of one edge from vertex 'a' to itself; begin at 2 edges, as in {2,3}"},
      {"(a)-->{1,8}(b)-->{1,8}(c)-->{1,2}(d)",
       "1:26: the paths have 128 or more choices of lengths; narrow their bounds to at most 64"},
      {"(a)-->{8}(b)-->{8}(c)-->{8}(d)-->{8}(e)-->(f)",
       "1:1: 8 edges for '_1' and 8 edges for '_2' and 8 edges for '_3' and 8 edges for '_4': the query has 34 vertices; "
       "write"},
      {"(a)-[t:T]->{1,2}(b), (a)-[u:T]->(b), (a)-[:T]->(b)", "1:41: the edge from 'a' to 'b' occurs twice"},
      {"(a)-[t]->{1,2}(b) WHERE t.x > 1",
       "1:25: 't' is a path, so it has no single value; write first(t).amount, last(t).amount, sum(t.amount), min(t.amount) or "
       "max(t.amount), or put the condition on each step into the element: -[t WHERE t.amount > 5]->{1,4}"},
      {"(a)-[t]->{1,2}(b)-[u WHERE u.x > t.x]->{1,2}(c)", "1:34: 't' is a path, so it has no single value; "},
      {"(a)-[t]->{1,2}(b) WHERE prev(t).x > 1",
       "1:30: prev() outside of the path 't'; put the condition into the element: -[t WHERE t.time > prev(t).time]->{1,4}"},
      {"(a)-[t]->(b) WHERE sum(t.x) > 1",
       "1:24: 't' is one edge, not a path; write t.amount, or give the edge a quantifier: -[t:TRANSFER]->{1,4}"},
      {"(a)-[t WHERE t.x > prev(t).x]->(b)", "1:25: 't' is one edge, not a path; "},
      {"(a)-->{1,2}(b) WHERE count(a) > 1", "1:28: 'a' is a vertex, not a path; name a path: -[t:TRANSFER]->{1,4}"},
      {"(a)-[t]->{1,2}(b) WHERE count(t.x) > 1",
       "1:32: expected ')', but found '.'; write count(t), the number of steps of the path t"},
      {"(a)-[t]->{1,2}(b) WHERE sum(t) > 1", "1:30: expected '.' after 't', but found ')'; "},
      {"(a)-[t]->{1,2}(b) WHERE sum(t).x > 1", "1:30: expected '.' after 't', but found ')'; "},
      {"(a)-[t]->{1,2}(b) WHERE avg(t.x) > 1",
       "1:25: unknown function 'avg'; compare the sum: sum(t.amount) >= 100 * count(t)"},
      {"(a)-[t]->{1,2}(b) WHERE length(t) > 1",
       "1:25: unknown function 'length'; write count(t), the number of steps of the path t"},
      {"(a)-[t]->{1,2}(b) WHERE least(first(t).x) > 1", "1:41: expected ',', but found ')'; write least(t.amount, u.amount)"},
      {"(a)-[t]->{1,2}(b) WHERE count(t) > 2", "1:1: no length of the paths can satisfy the conditions; look for"},
      {"(a)-[t WHERE t.time < prev(t).time AND t.time > prev(t).time]->{2}(b)",
       "1:1: no length of the paths can satisfy the conditions; "},
  };
  for (const auto& [text, expected] : cases) EXPECT_THAT(refusal(text), StartsWith("query q:" + expected)) << text;
}

TEST(Variants, HaveTheStepsInPlaceOfThePath) {
  EXPECT_THAT(texts("(a:A)-[t:T]->{1,3}(b)"),
              ElementsAre("(a:A)-[t_1:T]->(b)", "(a:A), (b), (t_v1)<-[t_1:T]-(a), (b)<-[t_2:T]-(t_v1)",
                          "(a:A), (b), (t_v1), (t_v2), (a)-[t_1:T]->(t_v1)-[t_2:T]->(t_v2)-[t_3:T]->(b)"));
  EXPECT_THAT(texts("(a)-->(b)"), ElementsAre("(a)-->(b)"));
  EXPECT_THAT(texts("(a)-[`t`]->{3}(a)"), ElementsAre("(a)-[`t_1`]->(t_v1)-[`t_2`]->(t_v2)-[`t_3`]->(a)"));
  EXPECT_THAT(texts("(a)<-[t:T]-{2}(b)"), ElementsAre("(a), (b), (t_v1)<-[t_1:T]-(b), (a)<-[t_2:T]-(t_v1)"));
}

TEST(Variants, AreOrderedByLength) {
  std::vector<std::size_t> edges;
  for (const Query& variant : variants(parse_pattern("(a)-->{1,3}(b)-->{1,2}(c)", "q"))) edges.push_back(variant.edges.size());
  EXPECT_THAT(edges, ElementsAre(2, 3, 3, 4, 4, 5));
}

TEST(Variants, GeneratedNamesAreNew) {
  const Query query = variants(parse_pattern("(t_v1)-[t:T]->{2}(b)-[t_1:U]->(c)", "q")).at(0);
  EXPECT_EQ(query.vertices[3].name, "t_v1_");
  EXPECT_EQ(query.edges[0].name, "t_1_");
}

TEST(Variants, AskEachStep) {
  EXPECT_EQ(conditions("(a)-[t:T WHERE t.x > 5]->{1,3}(b)"), "t_1.x > 5 AND t_2.x > 5 AND t_3.x > 5");
  EXPECT_EQ(conditions("(a)-[t:T WHERE t.x > prev(t).x AND t.x > b.x]->{2}(b)"),
            "t_1.x > b.x AND t_2.x > t_1.x AND t_2.x > b.x");
  EXPECT_EQ(conditions("(a)-[t:T WHERE t.x >= first(t).x]->{2}(b)"), "t_1.x >= t_1.x AND t_2.x >= t_1.x");
}

TEST(Variants, DoNotAskTheFirstStepForTheOneBefore) {
  EXPECT_EQ(conditions("(a)-[t:T WHERE NOT t.x < prev(t).x]->{2}(b)"), "NOT t_2.x < t_1.x");
  EXPECT_EQ(conditions("(a)-[t:T WHERE t.x > 5 OR t.x < prev(t).x]->{2}(b)"), "t_2.x > 5 OR t_2.x < t_1.x");
  EXPECT_EQ(conditions("(a)-[t:T WHERE NOT (t.x > 5 OR t.x < prev(t).x)]->{2}(b)"),
            "NOT t_1.x > 5 AND NOT (t_2.x > 5 OR t_2.x < t_1.x)");
  EXPECT_EQ(conditions("(a)-[t:T WHERE prev(t).x IS NULL]->{2}(b)"), "t_1.x IS NULL");
  EXPECT_EQ(conditions("(a)-[t:T WHERE prev(t).b]->{2}(b)"), "t_1.b");
  EXPECT_EQ(conditions("(a)-[t:T WHERE t.x > prev(t).x]->{1}(b)"), "");
}

TEST(Variants, CalculateOverTheSteps) {
  EXPECT_EQ(conditions("(a)-[t:T]->{3}(b) WHERE sum(t.x) > 5"), "t_1.x + t_2.x + t_3.x > 5");
  EXPECT_EQ(conditions("(a)-[t:T]->{1}(b) WHERE sum(t.x) > min(t.y)"), "t_1.x > t_1.y");
  EXPECT_EQ(conditions("(a)-[t:T]->{2}(b) WHERE min(t.x) < max(t.x)"), "least(t_1.x, t_2.x) < greatest(t_1.x, t_2.x)");
  EXPECT_EQ(conditions("(a)-[t:T]->{3}(b) WHERE sum(t.x) >= 2 * count(t)"), "t_1.x + t_2.x + t_3.x >= 2 * 3");
  EXPECT_EQ(conditions("(a)-[t:T]->{3}(b)-[u:T]->(c) WHERE last(t).time < u.time"), "t_3.time < u.time");
}

TEST(Variants, LengthsThatCannotBeAreLeftOut) {
  EXPECT_EQ(texts("(a)-[t:T]->{1,8}(b) WHERE count(t) IN [2, 5]").size(), 2U);
  EXPECT_EQ(texts("(a)-[t:T]->{1,8}(b) WHERE count(t) > 6 AND first(t).x > 5").size(), 2U);
}

TEST(Variants, PartsThatLengthsDecideGo) {
  EXPECT_THAT(texts("(a)-[t:T]->{1,2}(b) WHERE count(t) = 1 OR first(t).x > 5"),
              ElementsAre("(a)-[t_1:T]->(b)", HasSubstr("WHERE t_1.x > 5")));
  EXPECT_EQ(texts("(a)-[t:T WHERE t.time > prev(t).time + 1h]->{1,4}(b) WITHIN 3h").size(), 3U);
}

TEST(Variants, HaveFingerprintsOfTheirOwn) {
  const auto fingerprints = [](const std::string& pattern) {
    std::vector<query::Fingerprint> all;
    for (const query::Variant& variant : query::expand(parse_pattern(pattern, "q")))
      all.push_back(query::fingerprint(variant.query, MatchMode::isomorphism, CountMode::subgraphs, variant.paths));
    return all;
  };
  // As queries of their own, the variants of lengths 1 and 2 are alike to those of lengths 2 and 1.
  const auto all = fingerprints("(a)-->{1,2}(b)-->{1,2}(c)");
  EXPECT_EQ(std::set<query::Fingerprint>(all.begin(), all.end()).size(), all.size());
  const auto of = [](const std::string& pattern) { return query_fingerprint(parse_pattern(pattern, "q"), {}); };
  EXPECT_NE(of("(a)-->{2}(b)"), of("(a)-->(c)-->(b)"));
  EXPECT_NE(of("(a)-->{1,2}(b)"), of("(a)-->{1,3}(b)"));
  EXPECT_EQ(of("(a)-[t:T]->{1,2}(b)"), of("(x)-[:T*1..2]->(y)"));
}

TEST(PathValidation, RefusesWhatAParserCannotMake) {
  const auto what = [](const auto& change) {
    Query query = parse_pattern("(a)-[t:T]->{1,2}(b)-[u:T]->(c)", "q");
    change(query);
    try {
      validate(query, "test");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const Expression read{
      Expression::Kind::is_null, {}, {}, {}, {{Expression::Kind::attribute, {}, {Element::Kind::edge, 0}, "x", {}}}};
  EXPECT_EQ(what([](Query&) {}), "no error");
  EXPECT_THAT(what([](Query& q) { q.edges[0].name.clear(); }), HasSubstr("a path without a name"));
  EXPECT_THAT(what([](Query& q) { q.edges[0].quantifier = {0, 2}; }), HasSubstr("a path of 0 to 2 edges"));
  EXPECT_THAT(what([](Query& q) { q.edges[0].quantifier = {1, 9}; }), HasSubstr("a path has 1 to 8 edges"));
  EXPECT_THAT(what([&](Query& q) { q.edges[1].each = read; }),
              HasSubstr("a condition on each step of an edge that is no path"));
  EXPECT_THAT(what([&](Query& q) { q.where = read; }), HasSubstr("speaks of a path as of one edge"));
  EXPECT_THAT(what([&](Query& q) {
                q.edges[0].each = read;
                q.edges[0].each->operands[0].name.clear();
              }),
              HasSubstr("an attribute without a name"));
  EXPECT_THAT(what([&](Query& q) {
                q.where = read;
                q.where->operands[0].kind = Expression::Kind::sum;
                q.where->operands[0].element.index = 1;
              }),
              HasSubstr("or of one edge as of a path"));
}

}  // namespace
}  // namespace deltamatch
