// Queries with paths whose conditions count, compared with the oracle. A count stands beside the whole match or beside a step.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

constexpr Traits simple{.paths = true, .counts = true};
constexpr Traits events{.edges = EdgeModel::events, .attributes = true, .paths = true, .counts = true};
constexpr Traits keyed{.edges = EdgeModel::keyed, .attributes = true, .paths = true, .counts = true};

/// Runs random scenarios without WITHIN beside the oracle. counts_test.cpp has those with WITHIN.
void hold_on(const Traits& traits, int cases, unsigned threads, bool induced = false) {
  hold(cases, [&] {
    Scenario scenario = *scenarios(traits);
    for (Standing& standing : scenario.queries) {
      standing.query.within.reset();
      standing.options.induced = induced && standing.options.mode == MatchMode::isomorphism;
    }
    auto subject = consistent_subject(scenario, threads);
    if (subject) (void)judged_run(scenario, *subject, scenario.batches());
  });
}

TEST(PathsAndCounts, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_on(simple, 200, 1); }
TEST(PathsAndCounts, ConditionsHoldOnEvents) { hold_on(events, 150, 1); }
TEST(PathsAndCounts, ConditionsHoldOnKeyedEdges) { hold_on(keyed, 200, 1); }
TEST(PathsAndCounts, ThreadsDoNotMatter) { hold_on(keyed, 100, 3); }
TEST(InducedPaths, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_on({.paths = true}, 100, 1, true); }
TEST(InducedPaths, EveryBatchGivesTheDifferenceOfTheAnswersIfConditionsCount) { hold_on(keyed, 100, 1, true); }

/// After a stream, static matching agrees with the oracle, listed and not, with limits, and induced.
void hold_static(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    Scenario scenario = *scenarios(traits);
    for (Standing& standing : scenario.queries) standing.query.within.reset();
    auto subject = consistent_subject(scenario, threads);
    if (!subject) return;
    Judge judge(scenario);
    if (!judge.take(scenario.start)) return;
    subject->load(scenario.start);
    Engine& engine = subject->engine();
    judge.check_static(engine);
    for (std::size_t q = 0; q < scenario.queries.size(); ++q) {
      const auto& [query, options] = scenario.queries[q];
      const std::uint64_t expected = judge.answers()[q].size();
      StaticOptions how;
      how.query = options;
      for (const bool list : {false, true}) {
        how.query.list = list;
        RC_ASSERT(engine.match(query, how).matches == Count{expected});
      }
      for (const std::uint64_t limit : {std::uint64_t{1}, expected / 2, expected, expected + 1}) {
        how.limit = limit;
        const StaticResult some = engine.match(query, how);
        RC_ASSERT(some.matches == Count{std::min(limit, expected)});
        RC_ASSERT(some.shortfall == (limit < expected ? Shortfall::limit : Shortfall::none));
      }
      how.limit.reset();
      how.induced = true;
      const oracle::Matcher induced(query, options.mode, options.count, true);
      RC_ASSERT(engine.match(query, how).matches == Count{induced.match(judge.model().graph(), enumerable).size()});
    }
  });
}

TEST(PathsAndCounts, StaticMatchesAreThoseOfTheGraph) { hold_static(simple, 100, 1); }
TEST(PathsAndCounts, StaticMatchesWithConditionsAreThoseOfTheGraph) { hold_static(keyed, 150, 1); }
TEST(PathsAndCounts, StaticMatchesOnThreadsAreThoseOfTheGraph) { hold_static(events, 60, 3); }

}  // namespace
}  // namespace deltamatch::property
