// Random graphs with hubs, and streams of updates to them. They are too large for the oracle, so CPU and GPU are compared.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"

namespace deltamatch::test {

/// For tools that slow kernels down a hundredfold ($DELTAMATCH_BRIEF_TESTS). There are fewer cases and patterns, and fewer and
/// shorter batches on smaller graphs. A query need not find anything, and buffers need not fill up. Everything that is found is
/// still compared.
inline bool brief() {
  static const bool is = std::getenv("DELTAMATCH_BRIEF_TESTS") != nullptr;
  return is;
}
/// How often something is tried.
template <class Number>
Number times(Number all, Number few) {
  return brief() ? few : all;
}

struct Shape {
  std::uint32_t vertices;
  std::uint32_t edges;
  std::uint32_t vertex_labels;
  std::uint32_t edge_labels;
  bool directed;
  double skew;        ///< exponent of the draw: 1 is uniform, larger ones make hubs
  std::uint32_t hub;  ///< vertex 0 gets this many neighbours more
};

class Stream {
 public:
  Stream(const Shape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {
    for (std::uint32_t i = 0; i < shape.vertex_labels; ++i) vertex_labels_.push_back("V" + std::to_string(i));
    for (std::uint32_t i = 0; i < shape.edge_labels; ++i) edge_labels_.push_back("E" + std::to_string(i));
  }

  UpdateBatch start() {
    UpdateBatch batch;
    for (std::uint32_t i = 0; i < shape_.edges; ++i) add(batch, true);
    for (std::uint32_t i = 0; i < shape_.hub; ++i) put(batch, 0, 1 + i % (shape_.vertices - 1), 0, true);
    return batch;
  }

  // Half are insertions. Half are deletions of edges that were inserted, some of which are already gone.
  UpdateBatch next(std::uint32_t size) {
    UpdateBatch batch;
    for (std::uint32_t i = 0; i < size; ++i) {
      if (random_() % 2 == 0 || known_.empty()) {
        add(batch, true);
      } else {
        const auto& edge = known_[random_() % known_.size()];
        put(batch, edge[0], edge[1], edge[2], false);
      }
    }
    return batch;
  }

  // Updates the n-th edge that was inserted.
  void put_known(UpdateBatch& batch, std::size_t n, bool insert) {
    const auto edge = known_[n];
    put(batch, edge[0], edge[1], edge[2], insert);
  }

 private:
  std::uint32_t vertex() {
    const double u = std::uniform_real_distribution<double>(0, 1)(random_);
    return std::min(static_cast<std::uint32_t>(std::pow(u, shape_.skew) * shape_.vertices), shape_.vertices - 1);
  }
  void add(UpdateBatch& batch, bool insert) {
    const std::uint32_t a = vertex();
    std::uint32_t b = vertex();
    while (b == a) b = static_cast<std::uint32_t>(random_() % shape_.vertices);
    put(batch, a, b, static_cast<std::uint32_t>(random_() % std::max(1U, shape_.edge_labels)), insert);
  }
  void put(UpdateBatch& batch, std::uint32_t a, std::uint32_t b, std::uint32_t label, bool insert) {
    Update update;
    update.kind = insert ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update.source = Id(std::int64_t{a});
    update.target = Id(std::int64_t{b});
    if (!vertex_labels_.empty()) {
      update.source_label = vertex_labels_[a % vertex_labels_.size()];
      update.target_label = vertex_labels_[b % vertex_labels_.size()];
    }
    if (!edge_labels_.empty()) update.label = edge_labels_[label];
    batch.add(update);
    if (insert) known_.push_back({a, b, label});
  }

  Shape shape_;
  std::mt19937_64 random_;
  std::vector<std::string> vertex_labels_;
  std::vector<std::string> edge_labels_;
  std::vector<std::array<std::uint32_t, 3>> known_;
};

inline void expect_equal(const BatchResult& got, const BatchResult& expected, const std::string& where) {
  ASSERT_EQ(got.queries.size(), expected.queries.size()) << where;
  for (std::size_t q = 0; q < expected.queries.size(); ++q) {
    const QueryDelta& g = got.queries[q];
    const QueryDelta& e = expected.queries[q];
    const std::string query = where + ", query " + std::to_string(q);
    EXPECT_TRUE(g.added == e.added) << query << ": new " << to_string(g.added) << ", not " << to_string(e.added);
    EXPECT_TRUE(g.removed == e.removed) << query << ": removed " << to_string(g.removed) << ", not " << to_string(e.removed);
    EXPECT_TRUE(g.added_digest == e.added_digest) << query;
    EXPECT_TRUE(g.removed_digest == e.removed_digest) << query;
  }
}

}  // namespace deltamatch::test
