// Graphs of events: parallel edges with identities and times, and queries with conditions, compared with the oracle.
#include <gtest/gtest.h>

#include <string>

#include "deltamatch/error.hpp"
#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

constexpr Traits events{.events = true};
constexpr Traits tidy_events{.vertex_records = false, .windows = false, .untidy = false, .events = true};

/// A subject, unless a query's condition contradicts itself.
std::optional<Subject> subject_of(const Scenario& scenario, unsigned threads) {
  try {
    return std::optional<Subject>(std::in_place, scenario, threads);
  } catch (const Error& error) {
    if (std::string(error.what()).find("no times satisfy") == std::string::npos) throw;
    return std::nullopt;
  }
}

TEST(Events, EveryBatchGivesTheDifferenceOfTheAnswers) {
  hold(800, [] {
    const Scenario scenario = *scenarios(events);
    auto subject = subject_of(scenario, 1);
    if (subject) (void)judged_run(scenario, *subject, scenario.batches());
  });
}

TEST(Events, EveryBatchGivesTheDifferenceOfTheAnswersOnTidyData) {
  hold(800, [] {
    const Scenario scenario = *scenarios(tidy_events);
    auto subject = subject_of(scenario, 1);
    if (subject) (void)judged_run(scenario, *subject, scenario.batches());
  });
}

TEST(Events, ThreadsDoNotMatter) {
  hold(100, [] {
    const Scenario scenario = *scenarios(events);
    auto subject = subject_of(scenario, 3);
    if (subject) (void)judged_run(scenario, *subject, scenario.batches());
  });
}

}  // namespace
}  // namespace deltamatch::property
