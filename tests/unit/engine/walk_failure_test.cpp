// A walk that fails leaves nothing in the memory that the next walk uses.
#include <gtest/gtest.h>

#include <new>

#include "failing_allocations.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::estimate {
namespace {

TEST(WalkFailure, LeavesNothingToTheNextWalk) {
  for (const char* pattern : {"(a)--(b)--(c)--(d)--(e)--(a)", "(a)--(b)--(c)--(d)--(e)--(f)--(a)",
                              "(a)--(b)--(c)--(a), (c)--(d)--(e)", "(a)--(b)--(c)--(a)--(d)--(e)--(f)--(d)"}) {
    SCOPED_TRACE(pattern);
    World dense({.vertices = 40, .edges = 200}, 3);
    World sparse({.vertices = 40, .edges = 50}, 4);
    for (World* const world : {&dense, &sparse}) {
      world->add(parse_pattern(pattern, "test"));
      world->take_whole(CountFrom::vertices);
      ASSERT_TRUE(world->tasks[0].plans->rooted);
    }
    const auto count = [](Estimator& estimator, World& world) {
      return estimator.count(world.graph, world.passes, world.tasks, world.programs).lists;
    };
    Workers workers(1);
    Estimator never_failed(workers);
    const std::vector<Access> expected = count(never_failed, sparse);
    ASSERT_FALSE(expected.empty());
    bool failed = true;
    std::int64_t at = 0;
    for (; failed; ++at) {
      Estimator estimator(workers);
      {
        const test::FailAllocation failing(at);
        try {
          count(estimator, dense);
        } catch (const std::bad_alloc&) {
        }
        failed = failing.failed();
      }
      ASSERT_EQ(count(estimator, sparse), expected) << "after allocation " << at << " has failed";
    }
    EXPECT_GT(at, 20);
  }
}

}  // namespace
}  // namespace deltamatch::estimate
