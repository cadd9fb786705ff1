// Engines that share the slots of a stream, each with a GPU, report together what one engine on the CPU reports.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/streams.hpp"
#include "gpu/support.hpp"
#include "property/draw.hpp"
#include "property/draw_alerts.hpp"
#include "property/shares.hpp"

namespace deltamatch::property {
namespace {

int cases(int all) { return test::times(all, 2); }

class GpuShares : public testing::TestWithParam<test::Setting> {
 protected:
  void SetUp() override {
    DELTAMATCH_NEEDS_GPU();
    backend_ = test::backend_of(GetParam());
  }

  void hold_on_devices(const Scenario& scenario, const SharedRun& run = {}) const {
    hold_shares(scenario, run, [this](const Scenario& of, std::size_t) {
      return Subject(of, Engine({.directed = of.directed,
                                 .threads = 2,
                                 .window = of.window,
                                 .allowed_lateness = of.lateness,
                                 .schema = of.schema,
                                 .self_loops = of.self_loops,
                                 .backend = backend_}));
    });
  }
  void hold_on(const Traits& traits, int all, const SharedRun& run = {}) const {
    hold(cases(all), [&] { hold_on_devices(*scenarios(traits), run); });
  }

  std::shared_ptr<Backend> backend_;
};

TEST_P(GpuShares, OfSimpleEdgesAreTheWhole) { hold_on({}, 30); }
TEST_P(GpuShares, OfSumsAreTheWhole) { hold_on({.counting = true}, 20); }
TEST_P(GpuShares, OfLargeQueriesAreTheWhole) { hold_on({.counting = true, .large = true}, 10); }
TEST_P(GpuShares, AreTheWholeIfLabelsChange) { hold_on({.restless = true}, 20); }
TEST_P(GpuShares, OfConditionsAreTheWhole) { hold_on({.edges = EdgeModel::keyed, .attributes = true}, 20); }
TEST_P(GpuShares, OfEventsAreTheWholeUnderWithin) {
  hold_on({.windows = false, .edges = EdgeModel::events, .within = true}, 20);
}
TEST_P(GpuShares, OfPathsThatCountAreTheWhole) { hold_on({.edges = EdgeModel::events, .paths = true, .counts = true}, 10); }
TEST_P(GpuShares, MayBeTakenAnewBetweenBatches) { hold_on({}, 20, {.moves = true}); }

TEST_P(GpuShares, OfWhatAlertsOnceAreTheWhole) {
  hold(cases(20), [&] {
    Scenario scenario = *scenarios({.windows = false});
    for (Standing& standing : scenario.queries) draw_once(standing, false);
    hold_on_devices(scenario);
  });
}

TEST_P(GpuShares, OfWhatIsFinalAreTheWhole) {
  hold(cases(10), [&] {
    const std::optional<Waiting> waiting = draw_waiting({.windows = false, .edges = EdgeModel::events, .counts = true});
    if (waiting) hold_on_devices(waiting->scenario);
  });
}

// Graphs that are too large for the cases above. Kernels take every share of them.
TEST_P(GpuShares, OfLargerGraphsAreTheWhole) {
  constexpr std::uint32_t parts = 3;
  const test::Shape shape{3000, test::times(40000U, 8000U), 2, 0, true, 1.5, 500};
  const std::vector<Query> queries{parse_pattern("(a:V0)-->(b)-->(c)-->(a)", "ring"),
                                   parse_pattern("(a)-->(b)-->(c)-->(d:V1), (a)-->(c)", "fan"),
                                   parse_pattern("(a)-->(b:V1)-->(c)", "path")};
  const auto registered = [&](Engine engine) {
    for (const Query& query : queries) engine.add_query(query, {.list = query.name == "ring"});
    return engine;
  };
  Engine whole = registered(Engine({.directed = true, .threads = 2}));
  std::vector<Engine> engines;
  for (std::uint32_t k = 1; k <= parts; ++k) {
    engines.push_back(registered(Engine({.directed = true, .threads = 2, .backend = backend_})));
    engines.back().take_share(Share::part(k, parts));
  }
  test::Stream stream(shape, 23);
  const UpdateBatch start = stream.start();
  whole.load(start, OnReject::skip);
  for (Engine& engine : engines) engine.load(start, OnReject::skip);
  Count found = 0;
  std::vector<Count> by_part(parts);
  for (const std::uint32_t size : {64U, 512U, test::times(4096U, 64U)}) {
    const UpdateBatch batch = stream.next(size);
    const BatchResult expected = whole.process(batch, OnReject::skip);
    std::vector<QueryDelta> sums(queries.size());
    for (std::uint32_t k = 0; k < parts; ++k) {
      const BatchResult part = engines[k].process(batch, OnReject::skip);
      for (std::size_t q = 0; q < sums.size(); ++q) {
        sums[q].added += part.queries[q].added;
        sums[q].removed += part.queries[q].removed;
        sums[q].added_digest = plus(sums[q].added_digest, part.queries[q].added_digest);
        sums[q].removed_digest = plus(sums[q].removed_digest, part.queries[q].removed_digest);
        by_part[k] += part.queries[q].added;
      }
      EXPECT_EQ(engines[k].digest(), whole.digest());
    }
    BatchResult sum;
    sum.queries = sums;
    test::expect_equal(sum, expected, "a batch of " + std::to_string(size));
    for (const QueryDelta& query : expected.queries) found += query.added;
  }
  EXPECT_TRUE(found > 0);
  for (std::uint32_t k = 0; k < parts; ++k) {
    EXPECT_TRUE(by_part[k] > 0) << "share " << k + 1 << " has found nothing";
    EXPECT_EQ(test::cache_of(engines[k]).on_cpu, 0U) << "kernels have matched all of share " << k + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, GpuShares, testing::ValuesIn(test::settings()),
                         [](const auto& setting) { return std::string(setting.param.name); });

}  // namespace
}  // namespace deltamatch::property
