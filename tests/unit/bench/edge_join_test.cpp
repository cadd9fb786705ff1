// The join and the enumeration of the benchmarks find what the matcher's sums count, and the join keeps to its memory.
#include "bench/edge_join.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "bench/whole_graph.hpp"

namespace deltamatch::bench {
namespace {

class EdgeJoinTest : public testing::Test {
 protected:
  void fill(std::mt19937& random, int vertices, int labels, int edges) {
    for (std::int64_t v = 0; v < vertices; ++v) {
      const auto label = std::to_string(random() % static_cast<unsigned>(labels));
      graph_->dictionary.create(v, graph_->vertex_labels.intern(label));
    }
    graph::NetBatch batch;
    for (int i = 0; i < edges; ++i) {
      const VertexId a = random() % static_cast<unsigned>(vertices);
      const VertexId b = random() % static_cast<unsigned>(vertices);
      if (a != b) batch.inserted.push_back({std::min(a, b), std::max(a, b), empty_label});
    }
    std::sort(batch.inserted.begin(), batch.inserted.end());
    batch.inserted.erase(std::unique(batch.inserted.begin(), batch.inserted.end()), batch.inserted.end());
    graph_->stage(batch);
    graph_->settle(workers_);
  }

  Workers workers_{1};
  std::unique_ptr<graph::DataGraph> graph_ = std::make_unique<graph::DataGraph>(false, false);
};

constexpr std::size_t plenty = std::size_t{1} << 30;

Query random_query(std::mt19937& random) {
  Query query;
  query.name = "random";
  const auto vertices = static_cast<std::uint32_t>(2 + random() % 5);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    query.vertices.push_back({"v" + std::to_string(v), {}});
    if (random() % 3 == 0) query.vertices.back().labels = {std::to_string(random() % 2)};
    for (std::uint32_t u = 0; u < v; ++u) {
      const bool joins = u + 1 == v || random() % 3 == 0;  // connected
      if (joins) query.edges.push_back({u, v, {}, false});
    }
  }
  return query;
}

TEST_F(EdgeJoinTest, FindsWhatTheMatcherCounts) {
  std::mt19937 random(3);
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    graph_ = std::make_unique<graph::DataGraph>(false, false);
    fill(random, 5 + static_cast<int>(random() % 12), 1 + static_cast<int>(random() % 3), static_cast<int>(random() % 60));
    const Query query = random_query(random);
    const EdgeJoin join = join_edges(query, *graph_, plenty, workers_);
    ASSERT_TRUE(join.complete);
    ASSERT_EQ(Count{join.embeddings}, sum_embeddings(query, *graph_, workers_)) << i;
    ASSERT_EQ(Count{join.embeddings}, walk(query, *graph_).embeddings) << i;
    if (join.embeddings == 0) continue;
    ++found;
    ASSERT_EQ(join.partials.size(), query.edges.size());
    ASSERT_EQ(join.partials.back(), join.embeddings);
    ASSERT_GE(join.peak_bytes, join.embeddings * query.vertices.size() * sizeof(VertexId));
  }
  EXPECT_GT(found, 50);
}

/// Ordered triples of distinct leaves of a star of 20 leaves.
TEST_F(EdgeJoinTest, EndsWhereMemoryDoes) {
  graph::NetBatch batch;
  for (std::int64_t v = 0; v <= 20; ++v) {
    graph_->dictionary.create(v, empty_label);
    if (v > 0) batch.inserted.push_back({0, static_cast<VertexId>(v), empty_label});
  }
  graph_->stage(batch);
  graph_->settle(workers_);
  Query star;
  star.name = "star";
  star.vertices.resize(4);
  for (std::uint32_t v = 0; v < 4; ++v) star.vertices[v].name = "v" + std::to_string(v);
  for (std::uint32_t v = 1; v < 4; ++v) star.edges.push_back({0, v, {}, false});
  const std::size_t needed = (20 * 19 * 18 * 4 + 20 * 19 * 3) * sizeof(VertexId);
  const EdgeJoin enough = join_edges(star, *graph_, needed, workers_);
  EXPECT_TRUE(enough.complete);
  EXPECT_EQ(enough.embeddings, 20U * 19 * 18);
  EXPECT_EQ(enough.peak_bytes, needed);
  const EdgeJoin short_of_it = join_edges(star, *graph_, needed - 1, workers_);
  EXPECT_FALSE(short_of_it.complete);
  EXPECT_EQ(short_of_it.partials, (std::vector<std::uint64_t>{20, 20 * 19}));
}

}  // namespace
}  // namespace deltamatch::bench
