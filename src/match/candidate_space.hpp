// The candidate space of an anchor: which data vertices each query vertex can be mapped to in a match that uses this anchor.
//
// A walk along a long plan may lose itself in dead ends: on sparse data nothing restricts the levels of a ring or path until
// the last ones, and there are exponentially many ways into a region that leads nowhere. So once a walk has taken some steps at
// an anchor, the space is built: candidates spread from both ends of the anchor along the query edges, where fewest are first,
// so that they meet in the middle; then those without a candidate at the other end of each query edge go, until nothing
// changes. The walk goes on where it is, and from then on passes over what is not in the space.
//
// What leaves the space is in no match of the anchor: it reads the lists that the walk reads. So results do not depend on
// whether it is built, nor on how far it gets. What it may cost is bounded by the steps taken, and by what it has saved so far.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "match/partial.hpp"

namespace deltamatch::match {

/// When spaces are built, and how far. Not for results, which do not depend on it.
struct SpaceLimits {
  std::size_t levels = 5;         ///< that a plan enumerates at least: shorter ones seldom have dead ends worth looking for
  std::uint64_t steps = 256;      ///< at an anchor, until its space is built; then once more with every eightfold
  std::uint64_t entries = 8;      ///< of lists that may be read for each step before: what a step takes, about
  std::int64_t credit = 1 << 18;  ///< entries for a plan whose spaces save nothing, beside a small share of its steps
};

/// One thread's. For one anchor of a plan after the other: open, then any number of walks or sums.
class CandidateSpace {
 public:
  /// No level.
  static constexpr std::size_t none = SIZE_MAX;

  explicit CandidateSpace(const SpaceLimits& limits = {}) noexcept : limits_(limits) {}
  [[nodiscard]] const SpaceLimits& limits() const noexcept { return limits_; }

  /// The next anchor, of which nothing is known yet. Query and plan outlive it; the graph has so many vertices. Costs what
  /// the anchor before has left.
  void open(const plan::BoundQuery& query, const plan::Plan& plan, std::size_t vertices) noexcept;
  /// Whether it is time to build the space, or to build it with more effort.
  [[nodiscard]] bool due(const Allowance& allowance) const noexcept { return allowance.spent() >= next_; }
  /// Builds it, where it is expected to be worth that. `ordered`: for matches that keep the plan's order constraints. The
  /// levels below `levels` are matched: returns the first whose vertex is in no match, or none. Without memory nothing is
  /// built. O(entries of the candidates' lists x rounds), bounded by the steps taken.
  std::size_t build(Partial& partial, bool ordered, std::size_t levels, const Allowance& allowance);
  /// Whether a query vertex can be mapped to a data vertex, as far as is known.
  [[nodiscard]] bool admits(std::uint32_t vertex, VertexId image) noexcept {
    if (!built_ || ((masks_[image] | open_) >> vertex & 1u) != 0) return true;
    ++passed_over_;
    return false;
  }

  /// Entries of lists that were read to build spaces, since it was made.
  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  using Mask = std::uint32_t;  // of query vertices
  static_assert(max_query_vertices <= 32);
  struct Link {  // a query edge, seen from one of its ends
    std::uint32_t to;
    graph::ReadingId reading;
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
  std::uint64_t effort_ = 0;        // entries that may be read to spread, and again to thin out
  std::uint64_t most_entries_ = 0;  // what entries_ may come to
  bool built_ = false;
  Mask open_ = 0;                                                 // query vertices of which nothing is known
  Mask held_ = 0;                                                 // the others
  std::vector<Mask> masks_;                                       // by data vertex
  std::array<std::vector<VertexId>, max_query_vertices> images_;  // by query vertex: those whose mask has it
  std::array<std::vector<Link>, max_query_vertices> links_;
  std::array<std::array<Mask, 2>, 2> bounds_{};                   // query vertices above, below the vertex at position 0, 1
  std::vector<std::uint32_t> order_;                              // query vertices as they were reached
  std::unordered_map<const plan::Plan*, std::int64_t> accounts_;  // entries that spaces of a plan may still read
};

}  // namespace deltamatch::match
