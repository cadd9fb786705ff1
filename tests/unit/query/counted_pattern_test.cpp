// COUNT { ... } and EXISTS { ... } in conditions: reading, writing, normal forms and symmetries.
#include <gtest/gtest.h>

#include "condition/counted.hpp"
#include "condition/normal.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/query.hpp"
#include "query/automorphism.hpp"
#include "query/fingerprint.hpp"

namespace deltamatch::query {
namespace {

Query parsed(std::string_view text) { return parse_pattern(text, "q"); }

Fingerprint of(std::string_view text) { return fingerprint(parsed(text), MatchMode::isomorphism, CountMode::subgraphs); }

Count symmetries(std::string_view text) { return Group(parsed(text)).order(); }

TEST(CountedPattern, NumbersItsOwnElementsBehindThoseOfTheQuery) {
  const Query query = parsed("(a:A)-[t]->(b) WHERE COUNT { DISTINCT s | (s:S)-[u:T]->(b)<--() WHERE u.time < t.time } >= 3");
  ASSERT_TRUE(query.where);
  ASSERT_EQ(query.where->kind, Expression::Kind::greater_equal);
  const CountedPattern& pattern = query.where->operands[0].pattern.at(0);
  EXPECT_EQ(pattern.first_vertex, 2U);
  EXPECT_EQ(pattern.first_edge, 1U);
  ASSERT_EQ(pattern.vertices.size(), 2U);
  EXPECT_EQ(pattern.vertices[0], (QueryVertex{"s", {"S"}}));
  EXPECT_EQ(pattern.vertices[1], (QueryVertex{"_1", {}}));
  ASSERT_EQ(pattern.edges.size(), 2U);
  EXPECT_EQ(pattern.edges[0], (QueryEdge{2, 1, {"T"}, true, "u"}));
  EXPECT_EQ(pattern.edges[1], (QueryEdge{3, 1, {}, true, ""}));
  EXPECT_EQ(pattern.distinct, std::vector<std::uint32_t>{2});
  ASSERT_EQ(pattern.where.size(), 1U);
  EXPECT_EQ(pattern.where[0].operands[0].element, (Element{Element::Kind::edge, 1}));
  EXPECT_EQ(pattern.where[0].operands[1].element, (Element{Element::Kind::edge, 0}));
}

TEST(CountedPattern, StandsBesideEachVariantOfAPath) {
  const Query query =
      parsed("(a)-[t]->{1,3}(b) WHERE COUNT { DISTINCT s | (s)-[u]->(b) WHERE u.time > last(t).time AND count(t) < 3 } >= 2");
  const std::vector<Query> all = variants(query);
  ASSERT_EQ(all.size(), 2U);  // nothing is counted beside three steps
  const CountedPattern& pattern = all[1].where.value().operands[0].pattern.at(0);
  EXPECT_EQ(pattern.first_vertex, 3U);
  EXPECT_EQ(pattern.first_edge, 2U);
  EXPECT_EQ(pattern.edges[0], (QueryEdge{3, 1, {}, true, "u"}));
  EXPECT_EQ(pattern.distinct, std::vector<std::uint32_t>{3});
  ASSERT_EQ(pattern.where.at(0).kind, Expression::Kind::greater);
  EXPECT_EQ(pattern.where[0].operands[0].element, (Element{Element::Kind::edge, 2}));
  EXPECT_EQ(pattern.where[0].operands[1].element, (Element{Element::Kind::edge, 1}));
}

TEST(CountedPattern, StandsBesideEachStepOfAPath) {
  const std::vector<Query> all =
      variants(parsed("(a)-[t WHERE NOT EXISTS { (a)-[u]->(t_v1) WHERE prev(t).time < u.time < t.time }]->{2}(b)"));
  const Query& two = all.at(0);
  EXPECT_EQ(two.vertices[2].name, "t_v1_");  // the count has that name
  ASSERT_EQ(two.where.value().kind, Expression::Kind::logical_and);
  const auto& steps = two.where->operands;
  ASSERT_EQ(steps.size(), 2U);
  const auto inner = [](const Expression& step) { return step.operands[0].operands[0].pattern.at(0).where.at(0); };
  ASSERT_EQ(inner(steps[0]).kind, Expression::Kind::less);  // prev() is not asked
  EXPECT_EQ(inner(steps[0]).operands[1].element, (Element{Element::Kind::edge, 0}));
  ASSERT_EQ(inner(steps[1]).kind, Expression::Kind::logical_and);
  EXPECT_EQ(inner(steps[1]).operands[0].operands[0].element, (Element{Element::Kind::edge, 0}));
}

TEST(CountedPattern, IsWrittenAsItIsRead) {
  for (const auto* text :
       {"(hub) WHERE COUNT { DISTINCT s | (s)-[t:TRANSFER]->(hub) } >= 10",
        "(hub:Account) WHERE COUNT { (s)-[t:TRANSFER]->(hub) WHERE t.amount > 100 } < 3",
        "(a)-[t]->(b) WHERE EXISTS { (b)-[u:T]->(c:C)-->(a) } AND NOT EXISTS { (b)--(a) } AND t.amount > 5",
        "(a) WHERE 3 <= COUNT { (a)<-[x {channel: 'web'}]-(y:`a b`|C WHERE y.risk > 0.5)--(z) } <= 7 OR id(a) = 5",
        "(a)-->(b) WHERE COUNT { (x)-->(a), (a)-->(y) } = 2 WITHIN 1h", "(a WHERE COUNT { (a)--() } > 1)-->(b)",
        "(a)-->(b) WHERE NOT (EXISTS { (b)-->(a) } OR id(a) = 1)", "(a) WHERE COUNT { (x)-->(y)-->(a) } <> 0",
        "(a)-->(b) WHERE COUNT { DISTINCT x, y | (x)-[`T`]->(a)<--(y) } > 4",
        "(a)-[t:T WHERE EXISTS { (a)-[u]->() WHERE u.time > prev(t).time }]->{2,3}(b)",
        "(a)-[t]->{1,2}(b) WHERE sum(t.x) > 5 AND COUNT { (b)-[u]->() WHERE u.x > max(t.x) } >= 2"}) {
    const Query query = parsed(text);
    EXPECT_EQ(parsed(to_pattern(query)), query) << to_pattern(query);
  }
}

TEST(CountedPattern, SpellingsThatSayTheSameHaveOneFingerprint) {
  const auto same = [](std::string_view a, std::string_view b) { EXPECT_EQ(of(a), of(b)) << a << "\n" << b; };
  const auto differ = [](std::string_view a, std::string_view b) { EXPECT_NE(of(a), of(b)) << a << "\n" << b; };
  same("(a) WHERE EXISTS { (s)-->(a) }", "(hub) WHERE 0 < COUNT { (x)-->(hub) }");
  same("(a) WHERE NOT EXISTS { (s)-->(a) }", "(a) WHERE COUNT { (a)<--(s) } = 0");
  same("(a) WHERE NOT EXISTS { (s)-->(a) }", "(a) WHERE NOT 1 <= COUNT { (s)-->(a) }");
  same("(a) WHERE COUNT { (s)-->(a) } <> 0", "(a) WHERE EXISTS { (s)-->(a) }");
  same("(a) WHERE COUNT { (s)-->(a) } > 2", "(a) WHERE COUNT { (s)-->(a) } >= 3");
  same("(a) WHERE COUNT { (s)-->(a) } <= 2", "(a) WHERE 3 > COUNT { (s)-->(a) }");
  same("(a) WHERE COUNT { (s)-[t:T]->(a)-[u:U]->(r) WHERE t.x < u.y } = 3",
       "(b) WHERE 3 = COUNT { (b)-[p:U]->(q), (b)<-[o:T]-(n) WHERE p.y > o.x }");
  same("(a) WHERE COUNT { (s)--(a) } = 3", "(a) WHERE COUNT { (a)--(s) } = 3");
  differ("(a) WHERE COUNT { (s)-->(a) } = 3", "(a) WHERE COUNT { (s)<--(a) } = 3");
  differ("(a) WHERE COUNT { (s)-->(a) } = 3", "(a) WHERE COUNT { (s)-->(a) } = 4");
  differ("(a) WHERE COUNT { (s)-->(a) } = 3", "(a) WHERE COUNT { (s)-->(a) } >= 3");
  differ("(a) WHERE COUNT { (s)-->(a) } = 3", "(a) WHERE COUNT { DISTINCT s | (s)-->(a) } = 3");
  differ("(a) WHERE COUNT { (s)-->(a) } = 3", "(a) WHERE COUNT { (s:S)-->(a) } = 3");
  differ("(a) WHERE COUNT { (s)-->(a) } = 3", "(a) WHERE COUNT { (s)-[:T]->(a) } = 3");
  differ("(a) WHERE COUNT { (s)-[t]->(a) WHERE t.x > 1 } = 3", "(a) WHERE COUNT { (s)-[t]->(a) WHERE t.x > 2 } = 3");
  differ("(a)-->(b) WHERE EXISTS { (s)-->(a) }", "(a)-->(b) WHERE EXISTS { (s)-->(b) }");
}

TEST(CountedPattern, CountsThatAlwaysHoldAreTrue) {
  EXPECT_EQ(of("(a)-->(b) WHERE COUNT { (a)-->() } >= 0 AND id(a) = 1"), of("(a)-->(b) WHERE id(a) = 1"));
  EXPECT_EQ(of("(a)-->(b) WHERE COUNT { (a)-->() } < 0 OR id(a) = 1"), of("(a)-->(b) WHERE id(a) = 1"));
}

TEST(CountedPattern, SymmetriesKeepWhatIsCounted) {
  EXPECT_EQ(symmetries("(a)--(b)"), Count{2});
  EXPECT_EQ(symmetries("(a)--(b) WHERE EXISTS { (a)-->(c) }"), Count{1});
  EXPECT_EQ(symmetries("(a)--(b) WHERE EXISTS { (a)-->(c) } AND EXISTS { (b)-->(d) }"), Count{2});
  EXPECT_EQ(symmetries("(a)--(b) WHERE COUNT { (a)-->(c) } > 2 AND COUNT { (b)-->(d) } > 3"), Count{1});
  EXPECT_EQ(symmetries("(a)--(b) WHERE EXISTS { (a)-[t]->(c)<-[u]-(b) WHERE t.x = u.x }"), Count{2});
  EXPECT_EQ(symmetries("(a)--(b) WHERE EXISTS { (a)-[t]->(c)<-[u]-(b) WHERE t.x < u.x }"), Count{1});
  EXPECT_EQ(
      symmetries(
          "(a)-->(b)-->(c)-->(a) WHERE NOT EXISTS { (a)-->(c) } AND NOT EXISTS { (b)-->(a) } AND NOT EXISTS { (c)-->(b) }"),
      Count{3});
}

TEST(CountedPattern, AProgramIsHeldToTheSameRules) {
  Query query = parsed("(a) WHERE COUNT { (s)-->(a) } > 2");
  validate(query, "q");
  CountedPattern& pattern = query.where->operands[0].pattern[0];
  pattern.first_vertex = 2;
  EXPECT_THROW(validate(query, "q"), Error);
  pattern.first_vertex = 1;
  pattern.edges[0].source = 0;  // a self-loop, and an own vertex without an edge
  EXPECT_THROW(validate(query, "q"), Error);
  pattern.edges[0].source = 1;
  query.where->operands[1].literal = Decimal{5, 1};
  EXPECT_THROW(validate(query, "q"), Error);
  query.where->operands[1].literal = Decimal{50, 1};
  validate(query, "q");
  const Expression count = query.where->operands[0];
  query.where = count;
  EXPECT_THROW(validate(query, "q"), Error);
}

}  // namespace
}  // namespace deltamatch::query
