// Compares the engine with the oracle while it builds candidate spaces at once, at every anchor and for every query. Covers
// streams with deletions and windows, and whole graphs.
#include <gtest/gtest.h>

#include <memory>

#include "match/backend.hpp"
#include "property/draw.hpp"
#include "property/follow.hpp"
#include "unit/engine/idle_backend.hpp"

namespace deltamatch::property {
namespace {

class EagerBackend final : public test::IdleBackend {
 public:
  explicit EagerBackend(const match::SpaceLimits& limits) : limits_(limits) {}
  std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override {
    return match::make_cpu_matcher_with(workers, limits_);
  }

 private:
  match::SpaceLimits limits_;
};

Engine eager_engine(const Scenario& scenario, unsigned threads) {
  constexpr std::int64_t no_end = 1'000'000'000;
  const match::SpaceLimits limits{1, static_cast<std::uint64_t>(*below(6)), *below(3) == 0 ? 2U : 1'000'000U, no_end};
  EngineOptions options;
  options.directed = scenario.directed;
  options.threads = threads;
  options.window = scenario.window;
  options.backend = std::make_shared<EagerBackend>(limits);
  return Engine(options);
}

void hold_eagerly(int cases, const Traits& traits, unsigned threads = 1) {
  hold(cases, [&] {
    const Scenario scenario = *scenarios(traits);
    Subject subject(scenario, eager_engine(scenario, threads));
    (void)judged_run(scenario, subject, scenario.batches());
  });
}

TEST(EagerCandidateSpace, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_eagerly(500, {}); }

TEST(EagerCandidateSpace, EveryBatchGivesTheDifferenceOfTheAnswersOfLargeQueries) {
  hold_eagerly(500, {.vertex_records = false, .windows = true, .untidy = false, .large = true});
}

TEST(EagerCandidateSpace, CountsAreTheDifferenceOfTheAnswers) {
  hold_eagerly(400, {.vertex_records = false, .windows = false, .untidy = false, .counting = true});
}

TEST(EagerCandidateSpace, SeveralThreadsGiveTheDifferenceOfTheAnswers) {
  hold_eagerly(150, {.vertex_records = false, .windows = true, .untidy = false, .large = true}, 3);
}

TEST(EagerCandidateSpace, StaticMatchingGivesTheAnswer) {
  hold(400, [] {
    const Scenario scenario = *scenarios({.vertex_records = false, .windows = false, .untidy = false, .large = true});
    Subject subject(scenario, eager_engine(scenario, 1));
    Judge judge(scenario);
    if (!judge.take(scenario.start)) return;
    subject.load(scenario.start);
    judge.check_static(subject.engine());
  });
}

}  // namespace
}  // namespace deltamatch::property
