// Graphs whose edges have an identity, times and attributes, and queries with conditions, compared with the oracle.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "deltamatch/error.hpp"
#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

constexpr Traits events{.edges = EdgeModel::events};
constexpr Traits tidy_events{.vertex_records = false, .windows = false, .untidy = false, .edges = EdgeModel::events};
constexpr Traits events_with_attributes{.edges = EdgeModel::events, .attributes = true};
constexpr Traits keyed{.edges = EdgeModel::keyed};
constexpr Traits keyed_with_attributes{.edges = EdgeModel::keyed, .attributes = true};
constexpr Traits tidy_keyed{.windows = false, .untidy = false, .edges = EdgeModel::keyed, .attributes = true};
constexpr Traits events_within{.windows = false, .edges = EdgeModel::events, .within = true};
constexpr Traits keyed_within{.windows = false, .edges = EdgeModel::keyed, .attributes = true, .within = true};
constexpr Traits insertions_within{
    .vertex_records = false, .windows = false, .untidy = false, .edges = EdgeModel::events, .within = true, .insertions = true};
constexpr Traits simple_with_attributes{.attributes = true};

/// A subject, unless a query's condition contradicts itself.
std::optional<Subject> subject_of(const Scenario& scenario, unsigned threads) {
  try {
    return std::optional<Subject>(std::in_place, scenario, threads);
  } catch (const Error& error) {
    if (std::string(error.what()).find("no times satisfy") == std::string::npos) throw;
    return std::nullopt;
  }
}

/// Runs random scenarios beside the oracle.
void hold_on(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    const Scenario scenario = *scenarios(traits);
    auto subject = subject_of(scenario, threads);
    if (subject) (void)judged_run(scenario, *subject, scenario.batches());
  });
}

TEST(Events, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_on(events, 600, 1); }
TEST(Events, EveryBatchGivesTheDifferenceOfTheAnswersOnTidyData) { hold_on(tidy_events, 600, 1); }
TEST(Events, ConditionsOnAttributesHold) { hold_on(events_with_attributes, 600, 1); }
TEST(Events, ThreadsDoNotMatter) { hold_on(events_with_attributes, 100, 3); }

TEST(Keyed, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_on(keyed, 600, 1); }
TEST(Keyed, ConditionsOnAttributesHold) { hold_on(keyed_with_attributes, 600, 1); }
TEST(Keyed, ConditionsOnAttributesHoldOnTidyData) { hold_on(tidy_keyed, 600, 1); }
TEST(Keyed, ThreadsDoNotMatter) { hold_on(keyed_with_attributes, 100, 3); }

TEST(Within, OnlyMatchesThatHaveNotAgedAreReported) { hold_on(events_within, 800, 1); }
TEST(Within, OnlyMatchesThatHaveNotAgedAreReportedIfEdgesHaveKeys) { hold_on(keyed_within, 800, 1); }

/// The new matches of a run, by query, and the number that vanished.
struct Reported {
  std::vector<std::multiset<MatchId>> added;
  Count removed = 0;
};

Reported report(const Scenario& scenario, std::size_t batch_size) {
  Subject subject(scenario, 1);
  subject.load(scenario.start);
  Reported reported{std::vector<std::multiset<MatchId>>(scenario.queries.size()), 0};
  for (const auto batch : scenario.batches(batch_size)) {
    const Output output = subject.process(batch);
    for (const Listed& match : output.matches) {
      const auto query = std::ranges::find(scenario.queries, match.query, [](const Standing& one) { return one.query.name; });
      reported.added[static_cast<std::size_t>(query - scenario.queries.begin())].insert(match.id);
    }
    for (const QueryDelta& delta : output.result.queries) reported.removed += delta.removed;
  }
  return reported;
}

TEST(Within, TheSameMatchesAppearForEveryBatchSize) {
  hold(400, [] {
    Scenario scenario = *scenarios(insertions_within);
    for (Standing& standing : scenario.queries) standing.options.list = true;
    for (Record& record : scenario.stream) record.continues = false;  // a batch may end behind each
    if (!subject_of(scenario, 1)) return;
    Judge judge(scenario);
    if (!judge.take(scenario.start) || !judge.take(scenario.stream)) return;  // too many to list
    const Reported one = report(scenario, 1);
    for (const std::size_t size : {std::size_t{2}, std::size_t{7}, scenario.stream.size() + 1}) {
      const Reported other = report(scenario, size);
      RC_ASSERT(other.added == one.added);
      RC_ASSERT(other.removed == Count{0});
    }
  });
}

/// After a stream, static matching agrees with the oracle, with every filter.
void hold_static(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    const Scenario scenario = *scenarios(traits);
    auto subject = subject_of(scenario, threads);
    Judge judge(scenario);
    if (!subject || !judge.take(scenario.start)) return;
    subject->load(scenario.start);
    for (const auto batch : scenario.batches()) {
      if (!judge.take(batch)) return;
      (void)subject->process(batch);
    }
    Engine& engine = subject->engine();
    judge.check_static(engine);
    for (const auto& [query, options] : scenario.queries) {
      StaticOptions how;
      how.query = options;
      how.query.list = true;
      const StaticResult expected = engine.match(query, how);
      for (const Filter filter : {Filter::none, Filter::label, Filter::degree, Filter::refine}) {
        for (const bool list : {false, true}) {
          how.filter = filter;
          how.query.list = list;
          const StaticResult result = engine.match(query, how);
          RC_ASSERT(result.complete() && result.matches == expected.matches);
          if (list) RC_ASSERT(result.digest == expected.digest);
        }
      }
    }
  });
}

TEST(Events, StaticMatchesAreThoseOfTheGraph) { hold_static(events_with_attributes, 400, 1); }
TEST(Events, StaticMatchesOnThreadsAreThoseOfTheGraph) { hold_static(events_within, 100, 3); }
TEST(Keyed, StaticMatchesAreThoseOfTheGraph) { hold_static(keyed_with_attributes, 400, 1); }
TEST(VertexAttributes, StaticMatchesAreThoseOfTheGraph) { hold_static(simple_with_attributes, 300, 1); }

TEST(VertexAttributes, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_on(simple_with_attributes, 800, 1); }

}  // namespace
}  // namespace deltamatch::property
