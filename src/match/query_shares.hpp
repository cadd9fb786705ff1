// Sorts the pieces of a thread by query, and shares the time out among the queries.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "match/matcher.hpp"

namespace deltamatch::match {

/// The queries of some tasks, by number. Tasks of one family follow each other and are one query.
class QueryNumbers {
 public:
  void assign(std::span<const QueryTask> tasks) {
    of_.clear();
    firsts_.clear();
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (t == 0 || tasks[t].family != tasks[t - 1].family) firsts_.push_back(t);
      of_.push_back(static_cast<std::uint32_t>(firsts_.size() - 1));
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return firsts_.size(); }
  [[nodiscard]] std::uint32_t of(std::size_t task) const noexcept { return of_[task]; }
  /// The first task of a query.
  [[nodiscard]] std::size_t first(std::size_t query) const noexcept { return firsts_[query]; }

 private:
  std::vector<std::uint32_t> of_;
  std::vector<std::size_t> firsts_;
};

/// What one thread has taken, sorted by query, and the time that it has spent on each.
class QueryShares {
 public:
  using Clock = std::chrono::steady_clock;

  void begin(std::size_t queries) {
    forget();
    spent_.assign(queries, Clock::duration{0});
    sorted_.resize(queries);
  }
  /// Sorts the pieces [begin, end), in their order within each query. The clock runs from here. Returns the queries in the
  /// order in which they first occur. O(end - begin).
  template <class QueryOf>
  std::span<const std::uint32_t> sort(std::size_t begin, std::size_t end, const QueryOf& query_of) {
    forget();
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t query = query_of(i);
      if (sorted_[query].empty()) met_.push_back(query);
      sorted_[query].push_back(static_cast<std::uint32_t>(i));
    }
    last_ = Clock::now();
    return met_;
  }
  [[nodiscard]] std::span<const std::uint32_t> pieces(std::uint32_t query) const noexcept { return sorted_[query]; }
  /// The time since `sort`, or since the last call, went into this query.
  void note(std::uint32_t query) noexcept {
    const Clock::time_point now = Clock::now();
    spent_[query] += now - last_;
    last_ = now;
  }
  [[nodiscard]] std::span<const Clock::duration> spent() const noexcept { return spent_; }

 private:
  void forget() noexcept {
    for (const std::uint32_t query : met_) sorted_[query].clear();
    met_.clear();
  }

  std::vector<std::vector<std::uint32_t>> sorted_;  // by query
  std::vector<std::uint32_t> met_;
  std::vector<Clock::duration> spent_;  // by query
  Clock::time_point last_;
};

}  // namespace deltamatch::match
