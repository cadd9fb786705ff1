// Conditions that count, in an engine: vertices as anchors, budgets, and what is reported of a query that only counts.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch {
namespace {

Update edge(std::int64_t source, std::int64_t target, UpdateKind kind = UpdateKind::insert_edge) {
  return {.kind = kind, .source = Id(source), .target = Id(target)};
}

/// Collects the signs and first vertices of matches, such as "+1".
class Signs final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& match) override {
    signs.insert((match.added ? "+" : "-") + std::to_string(match.vertices[0].number()));
  }
  void commit() override {}
  void abort() noexcept override {}

  [[nodiscard]] std::string text() const {
    std::string result;
    for (const std::string& sign : signs) result += (result.empty() ? "" : " ") + sign;
    return result;
  }
  std::multiset<std::string> signs;
};

class Counts : public testing::Test {
 protected:
  explicit Counts(const Schema& schema = {}) : engine_({.threads = 1, .schema = schema}) {}

  std::string signs(const std::vector<Update>& updates) {
    UpdateBatch batch;
    for (const Update& update : updates) batch.add(update);
    Signs sink;
    result_ = engine_.process(batch, OnReject::stop, &sink);
    EXPECT_TRUE(result_.rejects.empty());
    return sink.text();
  }
  void ask(std::string_view pattern) { id_ = engine_.add_query(parse_pattern(pattern, "q"), {.list = true}); }

  Engine engine_;
  QueryId id_{};
  BatchResult result_;
};

TEST_F(Counts, CountsTurnAtEachLengthOfAPath) {
  ask("(a)-->{1,2}(b) WHERE NOT EXISTS { (b)-->(c) } AND COUNT { (s)-->(a) } = 0");
  EXPECT_EQ(signs({edge(1, 2)}), "+1");
  EXPECT_EQ(signs({edge(2, 3)}), "+1 -1");  // a path of two in place of one
  EXPECT_EQ(signs({edge(3, 4)}), "-1");
  EXPECT_EQ(signs({edge(1, 2, UpdateKind::delete_edge)}), "+2");
}

TEST_F(Counts, CountsStandBesideEachStep) {
  ask("(a)-[WHERE COUNT { (a)-->() } >= 2]->{2}(b)");
  EXPECT_EQ(signs({edge(1, 2), edge(2, 3)}), "");
  EXPECT_EQ(signs({edge(1, 4)}), "+1");
  EXPECT_EQ(signs({edge(1, 4, UpdateKind::delete_edge)}), "-1");
}

TEST_F(Counts, AVertexIsAMatchWhileItExistsAndTheConditionHolds) {
  ask("(a:A) WHERE NOT EXISTS { (a)--(b) }");
  Update vertex{.kind = UpdateKind::insert_vertex, .source = Id(std::int64_t{1})};
  EXPECT_EQ(signs({vertex}), "");
  vertex.source_label = "A";
  EXPECT_EQ(signs({vertex}), "+1");  // its label is new
  EXPECT_EQ(signs({edge(1, 2)}), "-1");
  EXPECT_EQ(signs({edge(1, 2, UpdateKind::delete_edge)}), "+1");
  EXPECT_EQ(signs({edge(1, 2), edge(1, 2, UpdateKind::delete_edge)}), "");
  vertex.kind = UpdateKind::delete_vertex;
  EXPECT_EQ(signs({vertex}), "-1");
}

TEST_F(Counts, AMatchAppearsOnceAtItsThreshold) {
  ask("(hub) WHERE COUNT { (s)-->(hub) } >= 3");
  EXPECT_EQ(signs({edge(1, 9), edge(2, 9)}), "");
  EXPECT_EQ(signs({edge(3, 9), edge(4, 9)}), "+9");
  EXPECT_EQ(signs({edge(5, 9)}), "");
  EXPECT_EQ(signs({edge(5, 9, UpdateKind::delete_edge), edge(4, 9, UpdateKind::delete_edge)}), "");
  EXPECT_EQ(signs({edge(3, 9, UpdateKind::delete_edge), edge(6, 9)}), "");
  EXPECT_EQ(signs({edge(2, 9, UpdateKind::delete_edge), edge(7, 9), edge(6, 9, UpdateKind::delete_edge)}), "-9");
}

TEST_F(Counts, AStableMatchTurnsOnceForAllThatIsCounted) {
  ask("(a)-->(b) WHERE COUNT { (b)-->(c) } = 2 OR EXISTS { (c)-->(a) }");
  EXPECT_EQ(signs({edge(1, 2)}), "");
  EXPECT_EQ(signs({edge(2, 3), edge(2, 4), edge(5, 1)}), "+1 +2 +2");
}

TEST_F(Counts, ABudgetHoldsForMatchesThatAreReported) {
  ask("(a)-->(b) WHERE EXISTS { (b)-->(c) }");
  engine_.budget(id_, {.time = {}, .matches = 1});
  std::vector<Update> updates;
  for (std::int64_t i = 0; i < 5000; ++i) updates.push_back(edge(10'000 + i, 1));
  EXPECT_EQ(signs(updates), "");
  EXPECT_TRUE(result_.queries[0].complete());
  EXPECT_EQ(signs({edge(3, 4), edge(4, 5)}), "+3");
  EXPECT_TRUE(result_.queries[0].complete());
  EXPECT_EQ(signs({edge(1, 2)}).size(), 6U);  // one of 5000, such as +10000
  EXPECT_EQ(result_.queries[0].shortfall, Shortfall::limit);
}

class CountsOfAttributes : public Counts {
 protected:
  static Schema schema() {
    Schema schema;
    schema.vertices = {{"risk", {AttributeType::Kind::integer}}};
    return schema;
  }
  CountsOfAttributes() : Counts(schema()) {}

  std::string at_risk(std::int64_t risk) {
    const std::vector<AttributeValue> values{risk};
    const Properties properties{std::nullopt, values};
    Update vertex{.kind = UpdateKind::insert_vertex, .source = Id(std::int64_t{1})};
    vertex.properties = &properties;
    return signs({vertex});
  }
};

TEST_F(CountsOfAttributes, AVertexThatChangesIsAnAnchor) {
  ask("(a WHERE a.risk > 5 AND COUNT { (a)-->(b) } < 2)");
  EXPECT_EQ(at_risk(3), "");
  EXPECT_EQ(at_risk(7), "+1");
  EXPECT_EQ(at_risk(8), "");
  EXPECT_EQ(at_risk(2), "-1");
  EXPECT_EQ(signs({edge(1, 2)}), "");
  EXPECT_EQ(at_risk(9), "+1");
  EXPECT_EQ(at_risk(10), "");
  EXPECT_EQ(signs({edge(1, 3)}), "-1");
  EXPECT_EQ(signs({edge(1, 3, UpdateKind::delete_edge)}), "+1");
  EXPECT_EQ(at_risk(1), "-1");
}

TEST_F(Counts, AQueryOfOneVertexIsExplained) {
  ask("(hub) WHERE COUNT { DISTINCT s | (s)-->(hub) } >= 3");
  static_cast<void>(signs({edge(1, 9), edge(2, 9), edge(3, 9)}));
  const std::string text = engine_.explain(id_);
  EXPECT_NE(text.find("3 <= COUNT { DISTINCT s | (s)-->(hub) }"), std::string::npos) << text;
  EXPECT_NE(text.find("counted anew at hub"), std::string::npos) << text;
  const Query query = parse_pattern("(hub) WHERE COUNT { DISTINCT s | (s)-->(hub) } >= 3", "q");
  EXPECT_FALSE(engine_.explain(query, StaticOptions()).empty());
  EXPECT_THROW(static_cast<void>(engine_.sample(query)), Error);
}

}  // namespace
}  // namespace deltamatch
