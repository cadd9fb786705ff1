// A window that runs out of memory while it looks at what is due.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "failing_allocations.hpp"
#include "graph/window.hpp"

namespace deltamatch::graph {
namespace {

using test::FailAllocation;

constexpr VertexId edges = 1000;

/// A graph whose edges are all refreshed, so each is put off when it is due.
DataGraph refreshed() {
  DataGraph graph(true, true);
  for (std::int64_t id = 0; id <= edges; ++id) graph.dictionary.create(id, empty_label);
  NetBatch batch;
  for (VertexId v = 0; v < edges; ++v) {
    batch.inserted.push_back({v, v + 1, empty_label});
    batch.inserted_times.push_back(1000);
  }
  graph.stage(batch);
  Workers alone(1);
  graph.settle(alone);
  return graph;
}

/// Notes the edges with times from before they were refreshed, so all are due at 200. Some come late, so they wait in buckets.
void note(Window& window) {
  for (VertexId v = 0; v < edges; ++v) window.note({v, v + 1, empty_label}, v < edges / 2 ? 60 + v % 40 : v % 50);
}

TEST(WindowFailure, LosesAndDoublesNothingThatWaits) {
  const DataGraph graph = refreshed();
  std::vector<Expired> expired;
  int failures = 0;
  for (bool failed = true; failed; ++failures) {
    Window window(100);
    note(window);
    ASSERT_EQ(window.size(), edges);
    failed = false;
    try {
      const FailAllocation fail(failures);
      window.collect(graph, 200, expired);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    window.undo();
    ASSERT_EQ(window.size(), edges) << "after allocation " << failures;
    window.collect(graph, 200, expired);
    window.commit();
    ASSERT_EQ(window.size(), edges) << "all are put off";
    ASSERT_TRUE(expired.empty());
    window.collect(graph, 1100, expired);
    ASSERT_EQ(expired.size(), edges);
    expired.clear();
  }
  EXPECT_GT(failures, 20);
}

}  // namespace
}  // namespace deltamatch::graph
