// Cases that once failed, as the property tests shrank them.
#include <gtest/gtest.h>

#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

Record edge(UpdateKind kind, std::int64_t source, std::int64_t target, std::optional<std::string> source_label = {},
            std::optional<std::string> target_label = {}) {
  Record record;
  record.kind = kind;
  record.source = source;
  record.target = target;
  record.source_label = std::move(source_label);
  record.target_label = std::move(target_label);
  return record;
}

Record insert(std::int64_t source, std::int64_t target, std::optional<std::string> source_label = {},
              std::optional<std::string> target_label = {}) {
  return edge(UpdateKind::insert_edge, source, target, std::move(source_label), std::move(target_label));
}

Record erase(std::int64_t source, std::int64_t target, std::optional<std::string> source_label = {}) {
  return edge(UpdateKind::delete_edge, source, target, std::move(source_label));
}

Record drop(std::int64_t vertex) {
  Record record;
  record.kind = UpdateKind::delete_vertex;
  record.source = vertex;
  return record;
}

/// Runs the scenario with its queries listed and counted.
void judge(Scenario scenario) {
  for (const bool list : {true, false}) {
    for (Standing& standing : scenario.queries) standing.options.list = list;
    hold(1, [&] {
      Subject subject(scenario, 1);
      RC_ASSERT(judged_run(scenario, subject, scenario.batches()).has_value());
    });
  }
}

const Standing any_edge = {make_query({{}, {}}, {{0, 1, {}, false}}), {}};

// A counted query of five vertices: two triangles share an edge in both directions. Its count fell below zero.
TEST(Regression, ACountNeverFallsBelowZero) {
  Scenario scenario;
  scenario.queries = {
      {make_query(
           std::vector<LabelSet>(5),
           {{0, 1, {}, true}, {1, 2, {}, true}, {2, 3, {}, true}, {3, 4, {""}, true}, {2, 1, {""}, true}, {0, 3, {""}, true}}),
       {}}};
  scenario.start = {insert(2, 3), insert(1, 2), insert(1, 3), insert(1, 4), insert(4, 3)};
  scenario.stream = {insert(5, 6), insert(3, 5), insert(5, 3), insert(6, 7)};
  judge(scenario);
}

// A vertex is deleted with its edge, and both come back. The edge is the same as before.
TEST(Regression, AVertexThatComesBackWithItsEdgeChangesNothing) {
  Scenario scenario;
  scenario.directed = false;
  scenario.queries = {any_edge};
  scenario.start = {insert(1, 3, "A")};
  scenario.stream = {drop(1), insert(1, 3, "A")};
  scenario.batch_size = 2;
  judge(scenario);
}

// The vertex may come back under another label. That changes nothing for queries that do not ask for labels.
TEST(Regression, AVertexThatComesBackUnderAnotherLabelKeepsTheMatchesOfWildcards) {
  Scenario scenario;
  scenario.directed = false;
  scenario.queries = {any_edge, {make_query({{"A"}, {}}, {{0, 1, {}, false}}), {}}};
  scenario.queries[1].query.name = "labelled";
  scenario.start = {insert(1, 3, "A")};
  scenario.stream = {drop(1), insert(1, 3)};
  scenario.batch_size = 2;
  judge(scenario);
}

TEST(Regression, ALabelThatChangesAndChangesBackWithinABatchIsTheSame) {
  Scenario scenario;
  scenario.directed = false;
  scenario.queries = {any_edge};
  scenario.start = {insert(1, 2, "A")};
  scenario.stream = {drop(2), insert(1, 2, "A"), erase(1, 2), insert(1, 2, "A", "A"), erase(1, 2), insert(1, 2, "A", "")};
  scenario.batch_size = 6;
  judge(scenario);
}

// Counters go by the edge that the records name, whatever labels its ends have in between.
TEST(Regression, ADeletionBeforeARelabellingIsSuperseded) {
  Scenario scenario;
  scenario.queries = {any_edge};
  scenario.start = {insert(1, 3)};
  scenario.stream = {erase(1, 3), insert(1, 3, "A")};
  scenario.batch_size = 2;
  judge(scenario);
}

TEST(Regression, ADeletionOfAnUnknownEdgeThatIsInsertedLaterIsSuperseded) {
  Scenario scenario;
  scenario.queries = {any_edge};
  scenario.start = {insert(2, 3, "A")};
  scenario.stream = {erase(5, 2), insert(5, 2), drop(2), insert(2, 3)};
  scenario.batch_size = 4;
  judge(scenario);
}

TEST(Regression, ADeletionOfAnEdgeThatItsVertexTookAlongIsNotAbsent) {
  Scenario scenario;
  scenario.queries = {any_edge};
  scenario.start = {insert(6, 2)};
  scenario.stream = {drop(2), insert(1, 2, "A", "A"), erase(6, 2)};
  scenario.batch_size = 3;
  judge(scenario);
}

}  // namespace
}  // namespace deltamatch::property
