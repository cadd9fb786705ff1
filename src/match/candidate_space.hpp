// The candidate space of an anchor: the data vertices that each query vertex can be mapped to in a match from this anchor.
//
// A walk along a long plan may get lost in dead ends. On sparse data, nothing restricts the levels of a ring or path until the
// last ones. Exponentially many ways may then lead into a region without a match.
//
// So once a walk has taken some steps at an anchor, its space is built:
// 1. Candidates spread from both ends of the anchor along the query edges, fewest first, so that they meet in the middle.
// 2. Candidates without a partner at the other end of some query edge are dropped, until nothing changes.
// The walk then continues where it was, and skips every vertex that is not in the space.
//
// A vertex outside the space is in no match of the anchor, because the space is built from the lists that the walk reads. So
// results do not depend on whether a space is built, or how far it gets. Its cost is bounded by the steps taken and by what
// spaces have saved so far.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "match/partial.hpp"

namespace deltamatch::match {

/// When spaces are built, and with how much effort. Results do not depend on it.
struct SpaceLimits {
  std::size_t levels = 5;         ///< least levels that a plan enumerates; shorter plans seldom have long dead ends
  std::uint64_t steps = 256;      ///< at an anchor before its space is built; it is built again at every eightfold
  std::uint64_t entries = 8;      ///< that may be read per step taken so far; about the cost of a step
  std::int64_t credit = 1 << 18;  ///< entries for a plan whose spaces save nothing, besides a small share of its steps
};

/// Serves one thread, and one anchor after the other: `open`, then any number of walks or sums.
class CandidateSpace {
 public:
  /// Stands for no level.
  static constexpr std::size_t none = SIZE_MAX;

  explicit CandidateSpace(const SpaceLimits& limits = {}) noexcept : limits_(limits) {}
  [[nodiscard]] const SpaceLimits& limits() const noexcept { return limits_; }

  /// Begins with the next anchor, of which nothing is known yet. Query and plan must outlive it. `vertices`: the number of
  /// vertices of the graph. Costs as much as the previous anchor left behind.
  void open(const plan::BoundQuery& query, const plan::Plan& plan, std::size_t vertices) noexcept;
  /// Whether it is time to build the space, or to build it with more effort.
  [[nodiscard]] bool due(const StepBudget& step_budget) const noexcept { return step_budget.spent() >= next_; }
  /// Builds the space, if that is expected to pay. `ordered`: matches keep the plan's order constraints. The first `levels`
  /// levels are matched. Returns the first of them whose vertex is in no match, or `none`. Builds nothing if memory runs out.
  /// O(entries of the candidates' lists x rounds), bounded by the steps taken.
  std::size_t build(Partial& partial, bool ordered, std::size_t levels, const StepBudget& step_budget);
  /// Whether a query vertex can be mapped to a data vertex, as far as is known.
  [[nodiscard]] bool admits(std::uint32_t vertex, VertexId image) noexcept {
    if (!built_ || ((masks_[image] | open_) >> vertex & 1u) != 0) return true;
    ++passed_over_;
    return false;
  }

  /// List entries that were read to build spaces, since construction.
  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  using Mask = std::uint32_t;  // a set of query vertices
  static_assert(max_query_vertices <= 32);
  struct Link {  // a query edge, seen from one of its ends
    std::uint32_t to;
    graph::QueryRelationId query_relation;
    bool inclusive;
  };

  void clear() noexcept;
  void list_links(bool ordered);
  void hold(std::uint32_t vertex);
  [[nodiscard]] bool spread(Partial& partial);
  [[nodiscard]] bool reach(Partial& partial, std::uint32_t from, const Link& link);
  void thin(Partial& partial);
  [[nodiscard]] bool keep_supported(Partial& partial, std::uint32_t vertex);
  [[nodiscard]] bool supported(Partial& partial, std::uint32_t vertex, VertexId image);
  [[nodiscard]] bool in_order(const Partial& partial, std::uint32_t vertex, VertexId image) const noexcept;
  void settle_account() noexcept;
  [[nodiscard]] bool held(std::uint32_t vertex) const noexcept { return (held_ >> vertex & 1u) != 0; }

  SpaceLimits limits_;
  const plan::BoundQuery* query_ = nullptr;
  const plan::Plan* plan_ = nullptr;
  std::size_t vertices_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t passed_over_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t effort_ = 0;        // entries that may be read to spread, and again to drop candidates
  std::uint64_t most_entries_ = 0;  // the bound of entries_
  bool built_ = false;
  Mask open_ = 0;                                                 // query vertices of which nothing is known
  Mask held_ = 0;                                                 // query vertices that have candidates
  std::vector<Mask> masks_;                                       // by data vertex
  std::array<std::vector<VertexId>, max_query_vertices> images_;  // by query vertex: its candidates
  std::array<std::vector<Link>, max_query_vertices> links_;
  std::array<std::array<Mask, 2>, 2> bounds_{};                   // query vertices above, below the vertex at position 0, 1
  std::vector<std::uint32_t> order_;                              // query vertices in the order in which they were reached
  std::unordered_map<const plan::Plan*, std::int64_t> accounts_;  // entries that a plan's spaces may still read
};

}  // namespace deltamatch::match
