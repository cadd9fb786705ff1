// Compares the engine with a GPU to the oracle: the properties of tests/property/stream_test.cpp, under every cache policy.
#include <gtest/gtest.h>

#include "gpu/streams.hpp"
#include "gpu/support.hpp"
#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

int cases(int all) { return test::times(all, 3); }

class GpuStream : public testing::TestWithParam<test::Setting> {
 protected:
  void SetUp() override {
    DELTAMATCH_NEEDS_GPU();
    backend_ = test::backend_of(GetParam());
  }
  [[nodiscard]] Engine engine(const Scenario& scenario) const {
    return Engine({.directed = scenario.directed, .threads = 2, .window = scenario.window, .backend = backend_});
  }

 private:
  std::shared_ptr<Backend> backend_;
};

TEST_P(GpuStream, EveryBatchGivesTheDifferenceOfTheAnswers) {
  hold(cases(60), [this] {
    const Scenario scenario = *scenarios();
    Subject subject(scenario, engine(scenario));
    (void)judged_run(scenario, subject, scenario.batches());
  });
}

TEST_P(GpuStream, CountsOfLargerQueriesAreTheDifferenceOfTheAnswers) {
  hold(cases(60), [this] {
    const Scenario scenario = *scenarios({.vertex_records = false, .windows = false, .untidy = false, .counting = true});
    Subject subject(scenario, engine(scenario));
    (void)judged_run(scenario, subject, scenario.batches());
  });
}

TEST_P(GpuStream, QueriesOfUpToEightVerticesGiveTheDifferenceOfTheAnswers) {
  hold(cases(40), [this] {
    const Scenario scenario = *scenarios({.large = true});
    Subject subject(scenario, engine(scenario));
    (void)judged_run(scenario, subject, scenario.batches());
  });
}

TEST_P(GpuStream, StaticMatchingGivesTheAnswer) {
  hold(cases(30), [this] {
    const Scenario scenario = *scenarios();
    Subject subject(scenario, engine(scenario));
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

INSTANTIATE_TEST_SUITE_P(Policies, GpuStream, testing::ValuesIn(test::settings()),
                         [](const auto& setting) { return std::string(setting.param.name); });

}  // namespace
}  // namespace deltamatch::property
