// Vertices whose labels change while edges live, and self-loops, compared with the oracle.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "deltamatch/error.hpp"
#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

constexpr Traits relabelled{.restless = true};
constexpr Traits relabelled_events{.edges = EdgeModel::events, .restless = true};
constexpr Traits relabelled_keyed{.edges = EdgeModel::keyed, .attributes = true, .restless = true};
constexpr Traits relabelled_within{.windows = false, .edges = EdgeModel::events, .within = true, .restless = true};
constexpr Traits loops{.loops = true};
constexpr Traits tidy_loops{.vertex_records = false, .windows = false, .untidy = false, .loops = true};
constexpr Traits counted_loops{.vertex_records = false, .windows = false, .untidy = false, .counting = true, .loops = true};
constexpr Traits loops_of_events{.edges = EdgeModel::events, .loops = true};
constexpr Traits loops_with_attributes{.edges = EdgeModel::keyed, .attributes = true, .loops = true};
constexpr Traits loops_within{.windows = false, .edges = EdgeModel::events, .within = true, .loops = true};
constexpr Traits both{.restless = true, .loops = true};

/// Runs random scenarios beside the oracle, unless a query's condition contradicts itself.
void hold_on(const Traits& traits, int cases, unsigned threads = 1) {
  hold(cases, [&] {
    const Scenario scenario = *scenarios(traits);
    try {
      Subject subject(scenario, threads);
      (void)judged_run(scenario, subject, scenario.batches());
    } catch (const Error& error) {
      if (std::string(error.what()).find("no times satisfy") == std::string::npos) throw;
    }
  });
}

TEST(Relabelling, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_on(relabelled, 1000); }
TEST(Relabelling, EveryBatchGivesTheDifferenceOfTheAnswersForEvents) { hold_on(relabelled_events, 500); }
TEST(Relabelling, EveryBatchGivesTheDifferenceOfTheAnswersForKeys) { hold_on(relabelled_keyed, 500); }
TEST(Relabelling, OnlyMatchesThatHaveNotAgedAreReported) { hold_on(relabelled_within, 500); }
TEST(Relabelling, ThreadsDoNotMatter) { hold_on(relabelled, 150, 3); }

TEST(Loops, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_on(loops, 1000); }
TEST(Loops, EveryBatchGivesTheDifferenceOfTheAnswersOnTidyData) { hold_on(tidy_loops, 600); }
TEST(Loops, CountsAreTheDifferenceOfTheAnswers) { hold_on(counted_loops, 600); }
TEST(Loops, EveryBatchGivesTheDifferenceOfTheAnswersForEvents) { hold_on(loops_of_events, 600); }
TEST(Loops, ConditionsOnAttributesHold) { hold_on(loops_with_attributes, 600); }
TEST(Loops, OnlyMatchesThatHaveNotAgedAreReported) { hold_on(loops_within, 500); }
TEST(Loops, EveryBatchGivesTheDifferenceOfTheAnswersIfLabelsChange) { hold_on(both, 500); }
TEST(Loops, ThreadsDoNotMatter) { hold_on(loops, 150, 3); }

/// The answers of a whole graph, before and after a stream.
void hold_static(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    const Scenario scenario = *scenarios(traits);
    Subject subject(scenario, threads);
    Judge judge(scenario);
    if (!judge.take(scenario.start)) return;
    subject.load(scenario.start);
    judge.check_static(subject.engine());
    for (const auto batch : scenario.batches()) {
      if (!judge.take(batch)) return;
      subject.process(batch);
    }
    judge.check_static(subject.engine());
  });
}

TEST(Relabelling, StaticMatchingGivesTheAnswer) { hold_static(relabelled, 200, 1); }
TEST(Loops, StaticMatchingGivesTheAnswer) { hold_static(loops, 300, 1); }
TEST(Loops, StaticMatchingGivesTheAnswerInSeveralThreads) { hold_static(loops, 100, 3); }

}  // namespace
}  // namespace deltamatch::property
