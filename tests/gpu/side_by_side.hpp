// An engine on the CPU and one with a GPU that get the same input. Their results are compared batch by batch.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/streams.hpp"

namespace deltamatch::test {

struct Registered {
  std::string pattern;
  QueryOptions options{};
};

inline constexpr QueryOptions counted{};
inline constexpr QueryOptions listed{.list = true};
inline constexpr QueryOptions embeddings{.count = CountMode::embeddings};

class SideBySide {
 public:
  SideBySide(bool directed, std::shared_ptr<Backend> backend, const std::vector<Registered>& queries)
      : cpu_({.directed = directed, .threads = 0}),
        gpu_({.directed = directed, .threads = 0, .backend = std::move(backend)}),
        queries_(queries),
        found_(queries.size()) {
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const Query query = parse_pattern(queries[q].pattern, "q" + std::to_string(q));
      for (Engine* engine : {&cpu_, &gpu_}) engine->add_query(query, queries[q].options);
    }
  }

  void load(const UpdateBatch& start) {
    for (Engine* engine : {&cpu_, &gpu_}) engine->load(start, OnReject::skip);
  }

  /// Expects equal counts and digests, and returns the result.
  BatchResult process(const UpdateBatch& batch, const std::string& where) {
    BatchResult expected = cpu_.process(batch, OnReject::skip);
    expect_equal(gpu_.process(batch, OnReject::skip), expected, where);
    for (std::size_t q = 0; q < found_.size(); ++q) found_[q] += expected.queries[q].added + expected.queries[q].removed;
    return expected;
  }

  /// Loads the stream's start and processes a batch of each size, until a result differs.
  void follow(Stream& stream, const std::vector<std::uint32_t>& sizes) {
    load(stream.start());
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      process(stream.next(sizes[b]), "batch " + std::to_string(b));
      if (testing::Test::HasFailure()) return;
    }
  }

  /// Expects that every query has found something.
  void expect_found() const {
    for (std::size_t q = 0; q < queries_.size(); ++q) {
      EXPECT_TRUE(found_[q] > 0) << queries_[q].pattern << ": nothing was compared";
    }
  }

  [[nodiscard]] Engine& cpu() noexcept { return cpu_; }
  [[nodiscard]] Engine& gpu() noexcept { return gpu_; }

 private:
  Engine cpu_;
  Engine gpu_;
  std::vector<Registered> queries_;
  std::vector<Count> found_;
};

/// Follows a stream with batches of these sizes on a graph of this shape. Every query must find something.
inline void expect_equal_streams(const Shape& shape, std::uint64_t seed, std::shared_ptr<Backend> backend,
                                 const std::vector<Registered>& queries, const std::vector<std::uint32_t>& sizes) {
  constexpr std::size_t most_batches = 2;
  constexpr std::uint32_t most_updates = 32;
  std::vector<std::uint32_t> taken;
  for (const std::uint32_t size : sizes) {
    if (brief() && taken.size() == most_batches) break;
    taken.push_back(brief() ? std::min(size, most_updates) : size);
  }
  SideBySide both(shape.directed, std::move(backend), queries);
  Stream stream(shape, seed);
  both.follow(stream, taken);
  if (!testing::Test::HasFailure() && !brief()) both.expect_found();
}

}  // namespace deltamatch::test
