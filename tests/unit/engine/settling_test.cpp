// Settling a batch allocates nothing, so it cannot fail for want of memory.
//
// The backend is told when settling begins and ends. So the allocations of all threads in between are counted, also those of
// committing ids, labels, keys, slots and the window.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/engine.hpp"
#include "failing_allocations.hpp"
#include "failure_scenarios.hpp"
#include "idle_backend.hpp"

namespace deltamatch {
namespace {

class CountingBackend final : public test::IdleBackend {
 public:
  void begin_step(const char* name) noexcept override {
    if (std::string_view(name) == "settle") counter_.emplace();
  }
  void end_step() noexcept override {
    if (!counter_) return;
    allocations += counter_->count();
    ++settled;
    counter_.reset();
  }

  std::int64_t allocations = 0;
  int settled = 0;

 private:
  std::optional<test::CountAllocations> counter_;
};

class SettlingTest : public testing::TestWithParam<test::Scenario> {};

TEST_P(SettlingTest, AllocatesNothing) {
  const test::Scenario& scenario = GetParam();
  for (const unsigned threads : {1U, 3U}) {
    const auto backend = std::make_shared<CountingBackend>();
    EngineOptions options = scenario.options;
    options.backend = backend;
    options.threads = threads;
    Engine engine = scenario.engine(options);
    for (const test::Updates* updates : {&scenario.batch, &scenario.after})
      engine.process(test::batch_of(*updates), OnReject::skip);
    EXPECT_EQ(backend->settled, static_cast<int>(scenario.before.size()) + 3);
    EXPECT_EQ(backend->allocations, 0) << threads << " threads";
  }
}

// Vertices come and go, and lists outgrow their blocks. compaction_test.cpp has the case that lists move.
TEST(Settling, AllocatesNothingInLargeBatches) {
  for (const EdgeModel model : {EdgeModel::simple, EdgeModel::keyed, EdgeModel::events}) {
    SCOPED_TRACE(static_cast<int>(model));
    const auto backend = std::make_shared<CountingBackend>();
    EngineOptions options;
    options.threads = 3;
    options.window = 1000;
    options.schema.model = model;
    options.backend = backend;
    Engine engine(options);
    constexpr std::int64_t vertices = 2000;
    constexpr std::int64_t edges = 60'000;
    for (std::int64_t round = 0; round < 12; ++round) {
      UpdateBatch batch;
      for (std::int64_t i = 0; i < (round % 4 == 3 ? 100 : edges); ++i) {
        Update update;
        update.source = (i * 31 + round * 7) % vertices;
        update.target = (i * i + round) % (vertices + 100 * round);
        update.time = round * 400 + i * 300 / edges;
        const Properties key{Id(i + round * edges / 2)};  // half of them replace edges of the round before
        if (model == EdgeModel::keyed) update.properties = &key;
        batch.add(update);
      }
      engine.process(batch, OnReject::skip);
    }
    EXPECT_EQ(backend->settled, 12);
    EXPECT_EQ(backend->allocations, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, SettlingTest, testing::ValuesIn(test::failure_scenarios()), [](const auto& tested) {
  std::string name = tested.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace deltamatch
