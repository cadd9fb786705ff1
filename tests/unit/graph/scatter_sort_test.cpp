// Sorts what a batch does with any number of threads.
#include "graph/scatter_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "graph/batch_look_up.hpp"

namespace deltamatch::graph {
namespace {

using Vertices = std::uniform_int_distribution<VertexId>;

EdgeUpdates draw(std::size_t count, Vertices tails, std::mt19937_64& random) {
  EdgeUpdates updates(count);
  for (std::size_t i = 0; i < count; ++i) {
    updates[i] = {{tails(random), static_cast<VertexId>(random() % 50), static_cast<LabelId>(random() % 2)},
                  static_cast<std::uint32_t>(i)};
  }
  return updates;
}

void expect_sorted(EdgeUpdates updates, std::size_t vertices) {
  EdgeUpdates sorted = updates;
  std::ranges::sort(sorted);
  for (const unsigned threads : {1U, 2U, 3U, 7U}) {
    Workers workers(threads);
    EdgeUpdateSort sort;
    for (int again = 0; again < 2; ++again) {  // the second time, there is work memory
      EdgeUpdates copy = updates;
      sort.run(copy, vertices, workers);
      EXPECT_TRUE(copy == sorted) << updates.size() << " updates, " << vertices << " vertices, " << threads << " threads";
    }
  }
}

// Portions of equal and unequal sizes, with equal edges in several of them.
TEST(ScatterSort, SortsAnyNumber) {
  std::mt19937_64 random(5);
  for (const std::size_t count : {0U, 1U, 2U, 511U, 1024U, 1025U, 4099U, 20000U})
    expect_sorted(draw(count, Vertices(0, 59), random), 60);
}

// All in one group, in two of them, in the last group, and spread over all bits.
TEST(ScatterSort, SortsAnyVertices) {
  std::mt19937_64 random(6);
  expect_sorted(draw(5000, Vertices(7, 7), random), 8);
  expect_sorted(draw(5000, Vertices(0, 1), random), 2);
  expect_sorted(draw(5000, Vertices(0, 0), random), 1);
  expect_sorted(draw(5000, Vertices(999'990, 999'999), random), 1'000'000);
  expect_sorted(draw(5000, Vertices(0, 0xfffffffe), random), 0xffffffff);
  expect_sorted(draw(100, Vertices(0, 0xfffffffe), random), 0xffffffff);
}

}  // namespace
}  // namespace deltamatch::graph
