// Bounds between the times of a match's edges: the closed matrix of difference constraints x - y <= c.
//
// Source: difference-bound matrices, as in D. Dill, "Timing assumptions and verification of finite-state concurrent systems",
// 1989. Closing is Floyd's and Warshall's algorithm; a negative cycle is a contradiction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/condition.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch::condition {

class TimeBounds {
 public:
  /// Means that a difference has no bound.
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  /// Without any bound between the times of `edges` edges.
  explicit TimeBounds(std::size_t edges);

  /// time(x) - time(y) <= result, in microseconds. Edges are indices into Query::edges.
  [[nodiscard]] std::int64_t difference(std::size_t x, std::size_t y) const noexcept { return at(x + 1, y + 1); }
  /// time(x) <= result.
  [[nodiscard]] std::int64_t latest(std::size_t x) const noexcept { return at(x + 1, 0); }
  /// -time(x) <= result.
  [[nodiscard]] std::int64_t negated_earliest(std::size_t x) const noexcept { return at(0, x + 1); }
  /// Whether there is any bound.
  [[nodiscard]] bool any() const noexcept { return any_; }
  /// Whether there is any bound on this edge's time.
  [[nodiscard]] bool binds(std::size_t edge) const noexcept { return bound_[edge] != 0; }

  friend bool operator==(const TimeBounds&, const TimeBounds&) = default;

 private:
  friend TimeBounds time_bounds(const Query& query, std::string_view where);
  [[nodiscard]] std::int64_t at(std::size_t x, std::size_t y) const noexcept { return cells_[x * size_ + y]; }

  std::size_t size_;                 // edges, and the epoch as number 0
  std::vector<std::int64_t> cells_;  // [x * size_ + y]: x - y <= cell
  std::vector<std::uint8_t> bound_;  // by edge
  bool any_ = false;
};

/// Whether some times satisfy the bounds that time_bounds collects.
[[nodiscard]] bool has_possible_times(const Query& query);

/// The bounds that follow from WITHIN and from parts of the condition that must all be TRUE. Such a part compares two times, a
/// time with an instant, or a difference of two times with a duration. Other parts imply no bound. O(edges^3). Throws
/// Error(configuration), which calls the query `where` and names the terms, if no times satisfy them.
[[nodiscard]] TimeBounds time_bounds(const Query& query, std::string_view where);

}  // namespace deltamatch::condition
