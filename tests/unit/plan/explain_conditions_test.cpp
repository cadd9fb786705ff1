// What explain says of queries with conditions, as golden texts and in its corners. golden_test.cpp says how to write the files
// anew.
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <source_dir.hpp>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "plan/condition_report.hpp"

namespace deltamatch::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

void compare(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(DELTAMATCH_SOURCE_DIR) / "tests/unit/plan/golden" / (name + ".txt");
  if (std::getenv("DELTAMATCH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream in(path);
  ASSERT_TRUE(in) << path << " is missing: write it with DELTAMATCH_UPDATE_GOLDEN=1";
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text) << path;
}

Schema schema() {
  using Kind = AttributeType::Kind;
  return {EdgeModel::events, {{"amount", {Kind::decimal, 2}}, {"channel", {Kind::symbol}}}, {{"country", {Kind::symbol}}}};
}

/// Payments i = 0, 1, ... between ten accounts, one a minute. Amounts are i.00; every fourth has the channel atm and another
/// label.
Engine graph(int payments) {
  using namespace std::string_view_literals;
  Engine engine({.threads = 1, .schema = schema()});
  UpdateBatch batch;
  for (std::int64_t account = 0; account < 10; ++account) {
    const AttributeValue country = account < 3 ? AttributeValue("DE"sv) : AttributeValue();
    Properties properties;
    properties.attributes = {&country, 1};
    Update update{.kind = UpdateKind::insert_vertex, .source = Id(account)};
    update.source_label = account < 9 ? "Account" : "Atm";
    update.properties = &properties;
    batch.add(update);
  }
  for (std::int64_t i = 0; i < payments; ++i) {
    const bool cash = i % 4 == 0;
    const std::array<AttributeValue, 2> values{AttributeValue(i * 100),
                                               cash ? AttributeValue("atm"sv) : AttributeValue("web"sv)};
    Properties properties;
    properties.attributes = values;
    Update update{.source = Id(i % 9), .target = Id(cash ? 9 : (i * 7 + 1 + i % 9) % 9), .label = cash ? "CASH" : "T"};
    if (update.source == update.target) update.target = Id((i + 1) % 9);
    update.time = i * 60'000'000;
    update.properties = &properties;
    batch.add(update);
  }
  engine.load(batch);
  return engine;
}

constexpr const char* ring =
    "(a:Account)-[t1:T]->(b:Account)-[t2:T]->(c:Account)-[t3:T]->(a) WHERE t1.time < t2.time < t3.time AND t1.amount > 150 AND "
    "t1.amount >= t2.amount >= 0.8 * t1.amount WITHIN 24h";

TEST(ExplainConditions, GoldenTexts) {
  Engine engine = graph(200);
  const std::pair<const char*, const char*> patterns[] = {
      {"conditions_ring", ring},
      {"conditions_within", "(a)-[:T]->(b)-[:T]->(c)-[:CASH]->(d) WITHIN 90m"},
      {"conditions_parallel", "(a)-[t1:T]->(b), (a)-[t2:T]->(b)-->(c) WHERE t1.time < t2.time"},
      {"conditions_vertices",
       "(a WHERE a.country = 'DE')-[t:T {channel: 'web'}]->(b)--(c) WHERE id(a) < id(c) AND NOT t.amount IN "
       "[1, 2]"},
      {"conditions_instants",
       "(a)-[t1:T]->(b)-[t2:T]->(c) WHERE t1.time >= datetime('1970-01-01T01:00:00Z') AND t2.time - t1.time "
       "= 5m"},
  };
  for (const auto& [name, pattern] : patterns) {
    const Query query = parse_pattern(pattern, name);
    compare(name, engine.explain(query) + "\nstatic\n" + engine.explain(query, StaticOptions{}));
  }
}

TEST(ExplainConditions, StandingQueriesSayTheSame) {
  Engine engine = graph(200);
  const Query query = parse_pattern(ring, "ring");
  const QueryId id = engine.add_query(query);
  EXPECT_THAT(engine.explain(id), HasSubstr("test condition"));
  EXPECT_THAT(engine.explain(id), HasSubstr("sampled: TRUE for"));
}

TEST(ExplainConditions, AnEmptyGraphGivesNoSample) {
  Engine engine({.schema = schema()});
  const std::string text = engine.explain(parse_pattern(ring, "ring"));
  EXPECT_THAT(text, HasSubstr(": 150 < t1.amount\n"));
  EXPECT_THAT(text, Not(HasSubstr("sampled")));
}

TEST(ExplainConditions, AtMost10000EdgesAreSampled) {
  Engine engine = graph(30'000);
  const std::string text = engine.explain(
      parse_pattern("(a)-[t]->(b)-[u:CASH]->(c)-[v:NONE]->(d) WHERE t.amount < 15000 AND u.amount < 0 AND v.amount > "
                    "0 AND t.time < u.time AND t.amount < 20",
                    "q"));
  EXPECT_THAT(text, HasSubstr("t.amount < 15000; sampled: TRUE for 50 % of 10000 edges with its labels\n"));
  EXPECT_THAT(text, HasSubstr("t.amount < 20; sampled: TRUE for less than 0.1 % of 10000 edges with its labels\n"));
  EXPECT_THAT(text, HasSubstr("u.amount < 0; sampled: TRUE for none of 2500 edges with its labels\n"));
  EXPECT_THAT(text, HasSubstr("0 < v.amount; sampled: there are no edges with its labels\n"));
  EXPECT_THAT(text, HasSubstr("t.time < u.time\n"));  // reads two edges
}

TEST(ExplainConditions, VerticesOfASimpleGraphAreSampled) {
  Engine engine({.schema = {EdgeModel::simple, {}, {{"risk", {AttributeType::Kind::integer}}}}});
  UpdateBatch batch;
  for (std::int64_t v = 0; v < 20; ++v) {
    const AttributeValue risk = v;
    Properties properties;
    properties.attributes = {&risk, 1};
    Update update{.kind = UpdateKind::insert_vertex, .source = Id(v)};
    update.properties = &properties;
    batch.add(update);
    batch.add({.source = Id(v), .target = Id((v + 1) % 20)});
  }
  engine.load(batch);
  const std::string text = engine.explain(parse_pattern("(a)-->(b) WHERE a.risk < 5", "q"));
  EXPECT_THAT(text, HasSubstr("1: a.risk < 5; sampled: TRUE for 25 % of 20 vertices with its labels\n"));
}

TEST(ExplainConditions, QueriesWithoutThemHaveNoLines) {
  EXPECT_THAT(condition_lines(parse_pattern("(a)-[:T]->(b)", "q")), IsEmpty());
  EXPECT_THAT(condition_lines(parse_pattern("(a)-[t1:T]->(b), (a)-[t2:T]->(b)", "q")),
              ElementsAre("matched on CPU cores only, because two edges have the same ends and labels"));
}

}  // namespace
}  // namespace deltamatch::plan
