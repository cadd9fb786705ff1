// What a pattern says of its alerts.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "deltamatch/error.hpp"
#include "deltamatch/query.hpp"
#include "deltamatch/query_options.hpp"

namespace deltamatch {
namespace {

std::string fault(std::string_view pattern) {
  try {
    (void)parse_pattern(pattern, "q");
  } catch (const Error& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "none";
}

TEST(AlertClause, NamesVerticesAndAPeriod) {
  for (const std::string_view text :
       {"(a)-->(b)-->(c) ALERT ONCE PER (c, a) EVERY 1h", "(a)-->(b)-->(c) alert once per c, a every 60m",
        "MATCH (a)-->(b)-->(c) ALERT ONCE PER (a, c) EVERY duration('PT1H')"}) {
    const Query query = parse_pattern(text, "q");
    ASSERT_TRUE(query.once) << text;
    EXPECT_EQ(query.once->vertices, (std::vector<std::uint32_t>{0, 2})) << text;
    EXPECT_EQ(query.once->every.microseconds, 3'600'000'000) << text;
  }
}

TEST(AlertClause, StandsBehindAllConditions) {
  const std::string text = "(a)-[t:T]->(b) WHERE t.amount > 5 WITHIN 1d ALERT ONCE PER (a) EVERY 1h";
  const Query query = parse_pattern(text, "q");
  EXPECT_TRUE(query.where);
  EXPECT_TRUE(query.within);
  EXPECT_EQ(parse_pattern(to_pattern(query), "q"), query);
  EXPECT_NE(to_pattern(query).find(" ALERT ONCE PER (a) EVERY 1h"), std::string::npos);
}

TEST(AlertClause, IsAPartOfTheIdentity) {
  const auto identity = [](std::string_view text) { return query_fingerprint(parse_pattern(text, "q"), {}); };
  const std::string plain = identity("(a)-->(b)-->(c)");
  const std::string once = identity("(a)-->(b)-->(c) ALERT ONCE PER (a) EVERY 1h");
  EXPECT_NE(plain, once);
  EXPECT_NE(once, identity("(a)-->(b)-->(c) ALERT ONCE PER (b) EVERY 1h"));
  EXPECT_NE(once, identity("(a)-->(b)-->(c) ALERT ONCE PER (a) EVERY 2h"));
  EXPECT_NE(once, identity("(a)-->(b)-->(c) ALERT ONCE PER (a, b) EVERY 1h"));
  EXPECT_EQ(once, identity("(x)-->(y)-->(z) ALERT ONCE PER x EVERY 60m"));
}

TEST(AlertClause, IsRefusedAtItsPlace) {
  EXPECT_EQ(fault("(a)-->(b) ALERT (a)").substr(0, 40), "query q:1:17: expected ONCE, but found '");
  EXPECT_EQ(fault("(a)-->(b) ALERT ONCE EVERY 1h").substr(0, 39), "query q:1:22: expected PER, but found '");
  EXPECT_EQ(fault("(a)-->(b) ALERT ONCE PER EVERY 1h").substr(0, 53), "query q:1:26: expected the name of a vertex, but foun");
  EXPECT_EQ(fault("(a)-->(b) ALERT ONCE PER (a)").substr(0, 50), "query q:1:29: expected EVERY, but the text ends; w");
  EXPECT_EQ(fault("(a)-->(b) ALERT ONCE PER (a) EVERY 0s").substr(0, 47), "query q:1:36: EVERY needs a positive duration; ");
  EXPECT_EQ(fault("(a)-->(b) ALERT ONCE PER (a) EVERY hour").substr(0, 30), "query q:1:36: expected a durat");
  EXPECT_EQ(fault("(a)-->(b) ALERT ONCE PER (x) EVERY 1h").substr(0, 43), "query q:1:27: no vertex is named 'x'; name ");
  EXPECT_EQ(fault("(a)-[t:T]->(b) ALERT ONCE PER (t) EVERY 1h").substr(0, 33), "query q:1:32: 't' is an edge; nam");
  EXPECT_EQ(fault("(a)-->(b) ALERT ONCE PER (a, a) EVERY 1h").substr(0, 47), "query q:1:30: the vertex 'a' is named twice; na");
  EXPECT_EQ(fault("(a)-->(b) ALERT ONCE PER (a) EVERY 1h WITHIN 1h").substr(0, 41),
            "query q:1:39: WITHIN after ALERT or EMIT;");
  EXPECT_EQ(fault("(a)-->(b) ALERT ONCE PER (a) EVERY 1h ALERT ONCE PER (b) EVERY 1h").substr(0, 30),
            "query q:1:39: a second ALERT; ");
  EXPECT_EQ(fault("(a)-->(b) ALERT ONCE PER (a) EVERY 1h (c)").substr(0, 35), "query q:1:39: expected ALERT, EMIT ");
}

constexpr std::string_view unconfirmed =
    "(a)-[t:PAY]->(b) WHERE NOT EXISTS { (b)-[u:CONFIRM]->(a) WHERE u.time >= t.time AND u.time <= t.time + 5m }";

TEST(AlertClause, EmitFinalStandsBeforeOrBehindAlertOnce) {
  const Query query = parse_pattern(std::string(unconfirmed) + " EMIT FINAL ALERT ONCE PER a EVERY 1h", "q");
  EXPECT_TRUE(query.emit_final);
  EXPECT_EQ(query, parse_pattern(std::string(unconfirmed) + " alert once per (a) every 1h emit final", "q"));
  EXPECT_EQ(query, parse_pattern(to_pattern(query), "q"));
  EXPECT_NE(query_fingerprint(parse_pattern(std::string(unconfirmed) + " EMIT FINAL", "q"), {}),
            query_fingerprint(parse_pattern(unconfirmed, "q"), {}));
}

TEST(AlertClause, EmitFinalNeedsALatestTimeOfAllThatIsCounted) {
  EXPECT_EQ(fault("(a)-[t:T]->(b) EMIT LAST").substr(0, 39), "query q:1:21: expected FINAL, but found");
  EXPECT_EQ(fault("(a)-[t:T]->(b) EMIT FINAL").substr(0, 48), "query q:1:16: EMIT FINAL without COUNT or EXISTS");
  const auto refused = [](std::string_view counted) {
    return fault("(a)-[t:T]->(b) WHERE NOT EXISTS { " + std::string(counted) + " } EMIT FINAL")
               .find("EMIT FINAL has to know") != std::string::npos;
  };
  EXPECT_TRUE(refused("(b)-[u:U]->(c)"));
  EXPECT_TRUE(refused("(b)-[u:U]->(c) WHERE u.time > t.time"));
  EXPECT_TRUE(refused("(b)-[u:U]->(c) WHERE u.time < datetime('2026-01-01')"));
  EXPECT_TRUE(refused("(b)-[u:U]->(c)-[v:U]->(d) WHERE u.time < t.time + 1h"));
  EXPECT_TRUE(refused("(b)-[u:U]->(c) WHERE u.time < t.time + 1h OR u.amount > 5"));
  EXPECT_FALSE(refused("(b)-[u:U]->(c) WHERE u.time - t.time < 1h"));
  EXPECT_FALSE(refused("(b)-[u:U]->(c)-[v:U]->(d) WHERE u.time < v.time < t.time + 1h"));
}

TEST(AlertClause, AQueryMadeByHandIsChecked) {
  Query query = parse_pattern("(a)-->(b) ALERT ONCE PER (a) EVERY 1h", "q");
  query.once->vertices = {2};
  EXPECT_THROW(validate(query, "q"), Error);
  query.once->vertices = {1, 0};
  EXPECT_THROW(validate(query, "q"), Error);
  query.once->vertices = {};
  EXPECT_THROW(validate(query, "q"), Error);
  query.once = AlertOnce{{0}, {0}};
  EXPECT_THROW(validate(query, "q"), Error);
}

}  // namespace
}  // namespace deltamatch
