// Definitions of queries that come over HTTP.
#include "cli/config/query_definition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "ingest/service/http/query_routes.hpp"
#include "ingest/service/state/query_definition.hpp"
#include "unit/config/support.hpp"

namespace deltamatch::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DefinitionTest : public ::testing::Test {
 protected:
  DefinitionTest() {
    folder_.write("service.yaml", test::completed("sinks: {a: {type: file, path: a.jsonl}, b: {type: file, path: b.jsonl}}\n"
                                                  "budget: {matches: 9}\n"
                                                  "graph: {edges: keyed, attributes: {amount: decimal(2)}}\n"));
    config_ = read_service_config("service.yaml", test::variables({}));
  }
  ingest::ServiceQuery read(std::string_view json, const std::optional<std::string>& name = std::nullopt) const {
    return read_definition(json, name, config_);
  }
  ingest::QueryRefusal refusal(std::string_view json, const std::optional<std::string>& name = std::nullopt) const {
    try {
      static_cast<void>(read(json, name));
    } catch (const ingest::QueryRefusal& refused) {
      return refused;
    }
    return {0, "not refused", ""};
  }
  test::Folder folder_;
  ServiceConfig config_;
};

TEST_F(DefinitionTest, HasTheKeysOfTheConfiguration) {
  const ingest::ServiceQuery query =
      read(R"j({"name": "hub", "pattern": "(a)-[t]->(b) WHERE t.amount > 5", "mode": "homomorphism", "sinks": ["b"],
                "report_existing": true, "budget": {"time": "90s", "then": "stop"}})j");
  EXPECT_EQ(query.query.name, "hub");
  EXPECT_EQ(query.text, "(a)-[t]->(b) WHERE t.amount > 5");
  EXPECT_EQ(query.options.mode, MatchMode::homomorphism);
  EXPECT_EQ(query.options.count, CountMode::embeddings);
  EXPECT_THAT(query.sinks, ElementsAre("b"));
  EXPECT_TRUE(query.report_existing);
  EXPECT_TRUE(query.over_http);
  EXPECT_EQ(query.budget.limits.matches, 9u) << "of the top level";
  EXPECT_EQ(query.budget.then, ingest::OverBudget::stop);
  EXPECT_EQ(read(R"j({"pattern": "(a)-->(b)"})j", "of-the-path").query.name, "of-the-path");
}

TEST_F(DefinitionTest, WhatIsKeptMeansTheSameUnderAnotherConfiguration) {
  const ingest::ServiceQuery query = read(R"j({"name": "ä \"x\"", "pattern": "(a)-->(b)"})j");
  EXPECT_THAT(query.sinks, ElementsAre("a", "b"));
  folder_.write("service.yaml",
                test::completed("sinks: {a: {type: kafka, topic: a}, b: {type: kafka, topic: b}, c: {type: stdout}}\n"));
  config_ = read_service_config("service.yaml", test::variables({}));
  const ingest::ServiceQuery again = read(ingest::definition_of(query));
  EXPECT_EQ(again, query);
  EXPECT_EQ(ingest::entity_tag(again), ingest::entity_tag(query));
}

TEST_F(DefinitionTest, TemplatesOfItsSinksAreTried) {
  folder_.write(
      "service.yaml",
      test::completed("sinks:\n"
                      "  a: {type: webhook, url: 'http://127.0.0.1/', each: alert, body: '{\"x\": \"{{bindings.a}}\"}'}\n"
                      "  b: {type: file, path: b.jsonl}\n"
                      "queries: [{name: ring, pattern: (a)-->(b)-->(a)}]\n"));
  config_ = read_service_config("service.yaml", test::variables({}));
  EXPECT_EQ(read(R"j({"name": "fan", "pattern": "(a)-->(b)"})j").query.name, "fan");
  const ingest::QueryRefusal refused = refusal(R"j({"name": "fan", "pattern": "(x)-->(y)"})j");
  EXPECT_THAT(refused.what(), HasSubstr("the template of sink 'a' cannot show its alerts"));
  EXPECT_THAT(refused.what(), HasSubstr("the alerts of query 'fan' have no 'bindings.a'"));
  EXPECT_EQ(read(R"j({"name": "fan", "pattern": "(x)-->(y)", "sinks": ["b"]})j").query.name, "fan");
}

TEST_F(DefinitionTest, RefusalsNameKeyPlaceAndRemedy) {
  const ingest::QueryRefusal syntax = refusal(R"j({"name": "x", "pattern": "(a)-->(b)\n-->("})j");
  EXPECT_EQ(syntax.status, 422u);
  ASSERT_EQ(syntax.problems.size(), 1u);
  EXPECT_EQ(syntax.problems[0].key, "pattern");
  EXPECT_EQ(syntax.problems[0].what, "expected ')', but the text ends");
  EXPECT_THAT(syntax.problems[0].remedy, HasSubstr("write a vertex as (name:Label)"));
  EXPECT_EQ(syntax.problems[0].line, 2u);
  EXPECT_EQ(syntax.problems[0].column, 5u);
  const ingest::QueryRefusal several = refusal(
      R"j({"name": "x", "pattern": "(a)-[t]->(b) WHERE t.amuont > 3", "modus": 1, "budget": {"time": 5}, "sinks": ["c"]})j");
  EXPECT_EQ(several.status, 422u);
  ASSERT_GE(several.problems.size(), 3u);
  for (const ingest::QueryProblem& problem : several.problems) {
    EXPECT_FALSE(problem.key.empty()) << problem.what;
    EXPECT_FALSE(problem.remedy.empty()) << problem.what;
    EXPECT_THAT(several.what(), HasSubstr(problem.what));
  }
}

TEST_F(DefinitionTest, HostileBodiesAreRefused) {
  struct Case {
    std::string body;
    unsigned status;
    std::string part;
  };
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  for (const auto& [body, status, part] : std::initializer_list<Case>{
           {"", 400, "this is no JSON"},
           {"{", 400, "at line 1, column 2"},
           {"{\"name\": \"\xff\", \"pattern\": \"(a)-->(b)\"}", 400, "this is no JSON"},
           {R"j({"name": "\ud800", "pattern": "(a)-->(b)"})j", 400, "this is no JSON"},
           {R"j({"name": "x"} {"name": "y"})j", 400, "this is no JSON"},
           {"{\"name\": \"x\", }", 400, "this is no JSON"},
           {"name: x\npattern: (a)-->(b)\n", 400, "this is no JSON"},
           {"[]", 400, "this is no JSON object"},
           {"null", 400, "this is no JSON object"},
           {deep, 400, "nested more than 32 levels"},
           {R"j({"pattern": "(a)-->(b)", "pattern": "(a)-->(c)", "name": "x"})j", 400, "pattern: the key is there twice"},
           {R"j({"name": "x", "pattern": "(a)-->(b)", "budget": {"time": "1s", "time": "2s"}})j", 400,
            "budget.time: the key is there twice"},
           {R"j({"name": "x", "pattern": "(a)-->(b)", "file": "/etc/passwd"})j", 422, "file: this key does not exist"},
           {R"j({"name": "x", "directory": "/etc"})j", 422, "directory: this key does not exist"},
           {R"j({"name": {"file": "/etc/passwd"}, "pattern": "(a)-->(b)"})j", 422, "name: this is a map"},
           {R"j({"name": "${HOME}", "pattern": "${HOME}"})j", 422, "pattern:1:1: "},
           {R"j({"name": "", "pattern": "(a)-->(b)"})j", 422, "name: "},
           {R"j({"name": null, "pattern": "(a)-->(b)"})j", 422, "name"},
           {R"j({"name": "x", "pattern": "(a)-->(b)", "induced": "maybe"})j", 422, "induced: "},
           {R"j({"name": "x", "pattern": "(a)-->(b)", "sinks": "a", "report_existing": 1})j", 422, "report_existing: "},
           {R"j({"name": "x", "pattern": "(a)-->(b)", "budget": {"matches": -1}})j", 422, "budget.matches: "},
           {R"j({"name": "x", "pattern": "(a)-->(b)", "budget": {"matches": 1e300}})j", 422, "budget.matches: "}}) {
    const ingest::QueryRefusal refused = refusal(body);
    EXPECT_EQ(refused.status, status) << body.substr(0, 80) << ": " << refused.what();
    EXPECT_THAT(refused.what(), HasSubstr(part)) << body.substr(0, 80);
    EXPECT_FALSE(refused.problems.empty());
  }
  EXPECT_EQ(refusal(R"j({"name": "y", "pattern": "(a)-->(b)"})j", "x").status, 422u);
}

TEST_F(DefinitionTest, ThePlanIsThatOfExplain) {
  EXPECT_THAT(plan_of(read(R"j({"name": "x", "pattern": "(a)-->(b)-->(a)"})j"), config_), HasSubstr("a"));
}

}  // namespace
}  // namespace deltamatch::cli
