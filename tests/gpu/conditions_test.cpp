// Conditions on times and attributes, and graphs whose edges have an identity, are the CPU's. A backend with a GPU finds the
// same matches, says that the CPU matched them, and leaves such a graph off the device.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>

#include "gpu/side_by_side.hpp"
#include "gpu/support.hpp"

namespace deltamatch {
namespace {

constexpr const char* not_taken = "the CPU matches a query that kernels cannot take";

Schema payments(EdgeModel model) { return {model, {{"amount", {AttributeType::Kind::decimal, 2}}}, {}}; }

Query ring() {
  return parse_pattern("(a)-[t1]->(b)-[t2]->(c)-[t3]->(a) WHERE t1.time < t2.time < t3.time AND t1.amount > 5 WITHIN 1m",
                       "ring");
}

// Payments among 12 accounts, one a second, of which some are deleted again by their key.
UpdateBatch next_payments(std::mt19937& draw, std::int64_t& payment, int count) {
  UpdateBatch batch;
  for (int i = 0; i < count; ++i) {
    ++payment;
    const AttributeValue amount = static_cast<std::int64_t>(draw() % 1000);
    Properties properties;
    properties.key = payment;
    properties.attributes = {&amount, 1};
    Update update{.source = static_cast<std::int64_t>(draw() % 12), .target = static_cast<std::int64_t>(draw() % 12)};
    update.time = payment * 1'000'000;
    update.properties = &properties;
    batch.add(update);
  }
  return batch;
}

TEST(GpuConditions, OnEdgesWithAnIdentityAreMatchedByTheCpuWhichIsTold) {
  DELTAMATCH_NEEDS_GPU();
  for (const EdgeModel model : {EdgeModel::keyed, EdgeModel::events}) {
    Engine cpu({.schema = payments(model)});
    Engine gpu({.schema = payments(model), .backend = make_gpu_backend({.memory = std::size_t{64} << 20})});
    for (Engine* engine : {&cpu, &gpu}) {
      engine->add_query(ring(), {.list = true});
      engine->add_query(parse_pattern("(a)-->(b)-->(c)-->(a)", "plain"));
    }
    std::mt19937 draw(7);
    std::int64_t payment = 0;
    Count found = 0;
    for (int b = 0; b < 5; ++b) {
      const UpdateBatch batch = next_payments(draw, payment, 200);
      const BatchResult expected = cpu.process(batch, OnReject::skip);
      test::expect_equal(gpu.process(batch, OnReject::skip), expected, "batch " + std::to_string(b));
      found += expected.queries[0].added;
    }
    EXPECT_TRUE(found > 0);
    gpu::CacheStatistics cache = test::cache_of(gpu);
    EXPECT_EQ(cache.on_cpu, 10U);
    EXPECT_EQ(cache.notice, not_taken);
    EXPECT_EQ(cache.copied_bytes, 0U) << "the graph is of no use on the device";

    EXPECT_TRUE(gpu.match(ring()).matches == cpu.match(ring()).matches);
    cache = test::cache_of(gpu);
    EXPECT_GT(cache.on_cpu, 10U) << "match tells it, too";
    EXPECT_EQ(cache.notice, not_taken);
  }
}

TEST(GpuConditions, OfOneQueryLeaveOthersToTheDevice) {
  DELTAMATCH_NEEDS_GPU();
  test::SideBySide both(true, make_gpu_backend({.memory = std::size_t{64} << 20}),
                        {{"(a)-->(b)-->(c)-->(a)"}, {"(a)-->(b)-->(c)-->(a) WHERE id(a) < 500"}});
  test::Stream stream({1000, 12000, 0, 0, true, 1.5, 0}, 17);
  both.follow(stream, {100, 200, 300});
  both.expect_found();
  const gpu::CacheStatistics cache = test::cache_of(both.gpu());
  EXPECT_EQ(cache.on_cpu, 3U);
  EXPECT_EQ(cache.notice, not_taken);
  EXPECT_GT(cache.hits, 0U);
}

}  // namespace
}  // namespace deltamatch
