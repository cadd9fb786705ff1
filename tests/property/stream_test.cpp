// Compares the engine with the oracle. For every batch, the new and the removed matches are the difference of the oracle's
// answers.
#include <gtest/gtest.h>

#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

TEST(Stream, EveryBatchGivesTheDifferenceOfTheAnswers) {
  hold(800, [] {
    const Scenario scenario = *scenarios();
    Subject subject(scenario, 1);
    (void)judged_run(scenario, subject, scenario.batches());
  });
}

TEST(Stream, EveryBatchGivesTheDifferenceOfTheAnswersOnTidyData) {
  hold(500, [] {
    const Scenario scenario = *scenarios({.vertex_records = false, .windows = false, .untidy = false});
    Subject subject(scenario, 1);
    (void)judged_run(scenario, subject, scenario.batches());
  });
}

TEST(Stream, CountsOfLargerQueriesAreTheDifferenceOfTheAnswers) {
  hold(800, [] {
    const Scenario scenario = *scenarios({.vertex_records = false, .windows = false, .untidy = false, .counting = true});
    Subject subject(scenario, 1);
    (void)judged_run(scenario, subject, scenario.batches());
  });
}

TEST(Stream, StaticMatchingGivesTheAnswer) {
  hold(300, [] {
    const Scenario scenario = *scenarios();
    Subject subject(scenario, 1);
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

TEST(Stream, AStaticLimitListsSoManyAndSaysWhetherThatIsAll) {
  hold(200, [] {
    const Scenario scenario = *scenarios();
    const int spare = *below(5);
    Subject subject(scenario, 1);
    Judge judge(scenario);
    if (!judge.take(scenario.start)) return;
    subject.load(scenario.start);
    for (std::size_t i = 0; i < scenario.queries.size(); ++i) {
      const oracle::Answer& answer = judge.answers()[i];
      const std::uint64_t limit = static_cast<std::uint64_t>(spare) * answer.size() / 2;  // none, half, all, more
      StaticOptions options;
      options.query = scenario.queries[i].options;
      options.query.list = true;
      options.limit = limit;
      Recorder recorder;
      const StaticResult result = subject.engine().match(scenario.queries[i].query, options, &recorder);
      const std::vector<Listed> listed = recorder.finish(0);
      RC_ASSERT(listed.size() == std::min<std::size_t>(limit, answer.size()));
      RC_ASSERT(result.matches == Count{listed.size()});
      if (limit < answer.size()) RC_ASSERT(!result.complete());
      if (limit > answer.size()) RC_ASSERT(result.complete());
      oracle::Answer distinct;
      for (const Listed& match : listed) {
        RC_ASSERT(answer.contains(match.embedding));
        RC_ASSERT(distinct.insert(match.embedding).second);
      }
    }
  });
}

TEST(Stream, ABadRecordStopsTheBatchAfterExactlyItsPrefix) {
  hold(300, [] {
    Scenario scenario = *scenarios();
    scenario.on_reject = OnReject::stop;
    Subject subject(scenario, 1);
    if (!judged_run(scenario, subject, scenario.batches())) return;

    // The prefix alone gives the same.
    Subject prefixes(scenario, 1);
    oracle::Model model(scenario.directed, scenario.window);
    const auto good = [&](std::span<const Record> batch) {
      return batch.first(model.apply(views(batch), OnReject::stop).consumed);
    };
    const BatchResult start = prefixes.load(good(scenario.start));
    RC_ASSERT(start.rejects.empty());
    for (const auto batch : scenario.batches()) {
      const Output output = prefixes.process(good(batch));
      RC_ASSERT(output.result.rejects.empty());
    }
    RC_ASSERT(tell(prefixes.engine()) == tell(subject.engine()));
  });
}

}  // namespace
}  // namespace deltamatch::property
