// Compares the engine with the oracle while loops keep all sets at once and mark them in bitmaps of few bits. Covers streams
// with deletions and windows, counts and listings, and whole graphs.
#include <gtest/gtest.h>

#include <memory>

#include "match/backend.hpp"
#include "property/draw.hpp"
#include "property/follow.hpp"
#include "unit/engine/idle_backend.hpp"

namespace deltamatch::property {
namespace {

class KeepingBackend final : public test::IdleBackend {
 public:
  std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override {
    return match::make_cpu_matcher_with(workers, {}, {.patience = 0, .least_marked = 0, .most_bits = 64});
  }
};

Engine keeping_engine(const Scenario& scenario, unsigned threads) {
  EngineOptions options;
  options.directed = scenario.directed;
  options.threads = threads;
  options.window = scenario.window;
  options.backend = std::make_shared<KeepingBackend>();
  return Engine(options);
}

void hold_keeping(int cases, const Traits& traits, unsigned threads = 1) {
  hold(cases, [&] {
    const Scenario scenario = *scenarios(traits);
    Subject subject(scenario, keeping_engine(scenario, threads));
    (void)judged_run(scenario, subject, scenario.batches());
  });
}

TEST(KeptSets, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_keeping(300, {}); }

TEST(KeptSets, EveryBatchGivesTheDifferenceOfTheAnswersOfLargeQueries) {
  hold_keeping(300, {.vertex_records = false, .windows = true, .untidy = false, .large = true});
}

TEST(KeptSets, CountsAreTheDifferenceOfTheAnswers) {
  hold_keeping(300, {.vertex_records = false, .windows = false, .untidy = false, .counting = true});
}

TEST(KeptSets, SeveralThreadsGiveTheDifferenceOfTheAnswers) {
  hold_keeping(150, {.vertex_records = false, .windows = true, .untidy = false, .large = true}, 3);
}

TEST(KeptSets, StaticMatchingGivesTheAnswer) {
  hold(300, [] {
    const Scenario scenario = *scenarios({.vertex_records = false, .windows = false, .untidy = false, .large = true});
    Subject subject(scenario, keeping_engine(scenario, 1));
    Judge judge(scenario);
    if (!judge.take(scenario.start)) return;
    subject.load(scenario.start);
    judge.check_static(subject.engine());
  });
}

}  // namespace
}  // namespace deltamatch::property
