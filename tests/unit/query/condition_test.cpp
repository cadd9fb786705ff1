// Conditions of patterns: what is read, how it is written back, and what is refused.
#include <gmock/gmock.h>

#include <string>

#include "condition/text.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch {
namespace {

using testing::HasSubstr;

constexpr std::string_view ring = "(a)-[t1:T]->(b)-[t2:T]->(c)-[t3:T]->(a) ";

Query parse(std::string_view text) { return parse_pattern(text, "q"); }

/// The condition of a ring, read and written.
std::string condition(std::string_view where) {
  const Query query = parse(std::string(ring) + "WHERE " + std::string(where));
  return condition::to_text(*query.where, query);
}

std::string fault(std::string_view text) {
  try {
    static_cast<void>(parse(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string condition_fault(std::string_view where) { return fault(std::string(ring) + "WHERE " + std::string(where)); }

TEST(Condition, NamesEdges) {
  const Query query = parse(ring);
  EXPECT_EQ(query.edges[0].name, "t1");
  EXPECT_EQ(query.edges[2].name, "t3");
  EXPECT_FALSE(query.where);
  EXPECT_EQ(to_pattern(query), "(a)-[t1:T]->(b)-[t2:T]->(c)-[t3:T]->(a)");
  EXPECT_EQ(parse("(a)-[t]->(b) WHERE t.x = 1").edges[0].name, "t");
  EXPECT_EQ(parse("(a)<-[`a b`:T]-(b)").edges[0].name, "a b");
  EXPECT_EQ(parse("(a)-[`pays`]->(b)").edges[0].name, "pays");  // backquotes say that no colon is missing
  EXPECT_EQ(parse("(a)-[t12]->(b)").edges[0].name, "t12");      // no label looks like that
  EXPECT_EQ(to_pattern(parse("(a)-[`t`]->(b)-[`u`]->(c) WHERE u.x = 1")), "(a)-[`t`]->(b)-[u]->(c) WHERE u.x = 1");
}

TEST(Condition, ComparisonsChain) {
  EXPECT_EQ(condition("t1.time < t2.time < t3.time"), "t1.time < t2.time AND t2.time < t3.time");
  EXPECT_EQ(condition("t1.amount >= t2.amount >= 0.8 * t1.amount"), "t1.amount >= t2.amount AND t2.amount >= 0.8 * t1.amount");
  EXPECT_EQ(condition("t1.amount = 1000.00"), "t1.amount = 1000");
  EXPECT_EQ(condition("a.x<>b.x"), "a.x <> b.x");
}

TEST(Condition, OperatorsBindAsInCypher) {
  EXPECT_EQ(condition("a.x OR b.x AND NOT c.x"), "a.x OR b.x AND NOT c.x");
  EXPECT_EQ(condition("(a.x OR b.x) AND c.x"), "(a.x OR b.x) AND c.x");
  EXPECT_EQ(condition("NOT (a.x = 1 AND b.x = 2)"), "NOT (a.x = 1 AND b.x = 2)");
  EXPECT_EQ(condition("NOT a.x = 1"), "NOT a.x = 1");
  EXPECT_EQ(condition("a.x + b.x * 2 - 3 > -4"), "a.x + b.x * 2 - 3 > -4");
  EXPECT_EQ(condition("a.x - (b.x - 3) = 0"), "a.x - (b.x - 3) = 0");
  EXPECT_EQ(condition("(a.x + b.x) * 2 = -a.x"), "(a.x + b.x) * 2 = -a.x");
  EXPECT_EQ(condition("a.x - -5 < -(-7)"), "a.x - -5 < 7");
  EXPECT_EQ(condition("a.x <> -9223372036854775808"), "a.x <> -9223372036854775808");  // the least integer
  EXPECT_EQ(condition("a.x IN [-9223372036854775808]"), "a.x IN [-9223372036854775808]");
  EXPECT_EQ(condition("a.x < -(-9223372036854775808)"), "a.x < -(-9223372036854775808)");
}

TEST(Condition, ListsAndNulls) {
  EXPECT_EQ(condition("a.x IN ['web', \"it's\", -5]"), "a.x IN ['web', 'it\\'s', -5]");
  EXPECT_EQ(condition("a.x is not null and b.x IS NULL"), "NOT a.x IS NULL AND b.x IS NULL");
  EXPECT_EQ(condition("a.x = TRUE or b.x = false"), "a.x = TRUE OR b.x = FALSE");
}

TEST(Condition, TimesAndIds) {
  EXPECT_EQ(condition("t2.time - t1.time < 90m"), "t2.time - t1.time < 90m");
  EXPECT_EQ(condition("t2.time - t1.time < duration('PT24H')"), "t2.time - t1.time < 1d");
  EXPECT_EQ(condition("t1.time >= datetime('2026-01-31')"), "t1.time >= datetime('2026-01-31T00:00:00Z')");
  EXPECT_EQ(condition("ID(a) <> id(b) AND id(c) = 'acct-1'"), "id(a) <> id(b) AND id(c) = 'acct-1'");
}

TEST(Condition, StandsInsideElements) {
  const Query query = parse("(a:A WHERE a.x > b.x)-[t:T {channel: 'web', amount: -5} WHERE t.time IS NULL]->(b) WHERE b.x = 1");
  EXPECT_EQ(condition::to_text(*query.where, query),
            "t.channel = 'web' AND t.amount = -5 AND a.x > b.x AND t.time IS NULL AND b.x = 1");
}

TEST(Condition, NamesAnonymousEdgesThatItSpeaksOf) {
  const Query query = parse("(a)-[:T {x: 1}]->(_2)-->(), (a)-[]->(_2)");
  EXPECT_EQ(query.vertices[2].name, "_1");
  EXPECT_EQ(query.edges[0].name, "_3");
  EXPECT_EQ(query.edges[1].name, "");
}

TEST(Condition, Within) {
  const Query query = parse(std::string(ring) + "WHERE a.x = 1 WITHIN 24h");
  EXPECT_EQ(query.within, (Duration{86'400'000'000}));
  EXPECT_EQ(to_pattern(query), "(a)-[t1:T]->(b)-[t2:T]->(c)-[t3:T]->(a) WHERE a.x = 1 WITHIN 1d");
  EXPECT_EQ(parse(std::string(ring) + "within duration('P1D')").within, (Duration{86'400'000'000}));
}

TEST(Condition, KeywordsAsNamesStandInBackquotes) {
  const Query query = parse("(`where`)-[`and`]->(`24h`) WHERE `and`.`is` = `24h`.`null`");
  EXPECT_EQ(parse_pattern(to_pattern(query), "q"), query);
  EXPECT_EQ(query.vertices[0].name, "where");
}

TEST(Condition, ParallelEdgesNeedNames) {
  const Query query = parse("(a)-[t1:T]->(b), (a)-[t2:T]->(b)");
  EXPECT_EQ(query.edges.size(), 2U);
  EXPECT_EQ(parse_pattern(to_pattern(query), "q"), query);
  EXPECT_THAT(fault("(a)-[t1:T]->(b), (a)-[:T]->(b)"), HasSubstr("give both a name"));
}

TEST(ConditionFault, NamesThePlaceAndTheRemedy) {
  EXPECT_THAT(condition_fault("t1.amount > t9.amount"),
              HasSubstr("1:59: no vertex or edge is named 't9'; name it in the path"));
  EXPECT_THAT(condition_fault("id(t1) = 5"), HasSubstr("id() takes a vertex"));
  EXPECT_THAT(condition_fault("t1 > 5"), HasSubstr("expected '.' after 't1', but found '>'"));
  EXPECT_THAT(condition_fault("t1.amount == 5"), HasSubstr("write ="));
  EXPECT_THAT(condition_fault("t1.amount != 5"), HasSubstr("write <>"));
  EXPECT_THAT(condition_fault("t1.amount / 2 > 5"), HasSubstr("+, - and * only"));
  EXPECT_THAT(condition_fault("abs(t1.amount) > 5"), HasSubstr("unknown function 'abs'; conditions know id(a)"));
  EXPECT_THAT(condition_fault("t1.channel STARTS WITH 'w'"), HasSubstr("unexpected 'STARTS'; text is compared with"));
  EXPECT_THAT(condition_fault("t1.channel NOT IN ['w']"), HasSubstr("NOT stands before a condition"));
  EXPECT_THAT(condition_fault("a:Account"), HasSubstr("a label in a condition"));
  EXPECT_THAT(condition_fault("a.x = 1 RETURN a"), HasSubstr("a match reports all of its vertices and edges"));
  EXPECT_THAT(condition_fault("a.x = 1, (a)-->(c)"), HasSubstr("write all paths before WHERE"));
  EXPECT_THAT(condition_fault("a.x = 1 WHERE b.x = 1"), HasSubstr("one WHERE"));
  EXPECT_THAT(condition_fault("a.x = $limit"), HasSubstr("no parameters"));
  EXPECT_THAT(condition_fault("a.x IN [b.x]"), HasSubstr("expected a value"));
  EXPECT_THAT(condition_fault("a.x IN []"), HasSubstr("expected a value"));
  EXPECT_THAT(condition_fault("a.x = 12345678901234567890"), HasSubstr("below 2^63"));
  EXPECT_THAT(condition_fault("a.x = 5 b.x"), HasSubstr("join conditions by AND or OR"));
  EXPECT_THAT(condition_fault("a.x = 'open"), HasSubstr("a quote that is not closed"));
  EXPECT_THAT(condition_fault("a.x.y = 5"), HasSubstr("a path into an attribute"));
  EXPECT_THAT(condition_fault("t1.time < duration('P1M')"), HasSubstr("'P1M' cannot be read"));
  EXPECT_THAT(condition_fault(""), HasSubstr("expected a value, but the text ends"));
  EXPECT_THAT(fault(std::string(ring) + "WITHIN 24h WHERE a.x = 1"), HasSubstr("write WHERE before WITHIN"));
  EXPECT_THAT(fault(std::string(ring) + "WITHIN 0s"), HasSubstr("a positive duration"));
  EXPECT_THAT(fault(std::string(ring) + "WITHIN 106751992d"),
              HasSubstr("the duration '106751992d' is too long; write at most 106751991d"));
  EXPECT_THAT(condition_fault("t2.time - t1.time < 99999999999999999999us"), HasSubstr("is too long"));
  EXPECT_THAT(condition_fault("t2.time - t1.time < 99999999999y"), HasSubstr("unknown unit 'y'; durations are written 24h"));
  EXPECT_THAT(fault(std::string(ring) + "WITHIN 5"), HasSubstr("a positive duration"));
  EXPECT_THAT(fault("(a)-[a:T]->(b)"), HasSubstr("'a' names another element already"));
  EXPECT_THAT(fault("(a)-[t:T]->(b)-[t:T]->(c)"), HasSubstr("'t' names another element already"));
  EXPECT_THAT(fault("(a {x: NULL})-->(b)"), HasSubstr("IS NULL"));
}

TEST(ConditionFault, LongConditionsAreRefused) {
  EXPECT_THAT(condition_fault(std::string(200, '(') + "a.x = 1" + std::string(200, ')')), HasSubstr("nested too deeply"));
  std::string many = "a.x = 1";
  for (int i = 0; i < 600; ++i) many += " AND a.x = 1";
  EXPECT_THAT(condition_fault(many), HasSubstr("too long"));
  std::string sum = "a.x";
  for (int i = 0; i < 150; ++i) sum += " + a.x";
  EXPECT_THAT(condition_fault(sum + " > 5"), HasSubstr("too many terms"));
}

}  // namespace
}  // namespace deltamatch
