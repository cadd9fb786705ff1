// The planner's statistics: expected list lengths during a walk along edges.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace deltamatch::plan {

class Estimates {
 public:
  /// What is estimated: future batches, for which a small graph is weak evidence, or the graph in its current state.
  enum class Of : std::uint8_t { batches, current };
  /// `closure`: the probability that two neighbours of a vertex are joined, if it is known to be higher than chance.
  Estimates(const BoundQuery& query, Of what, double closure = 0);

  /// The expected length of the list of `edge` at its end `from` (0: source, 1: target), at a vertex that was reached along
  /// edges. A walk meets long lists in proportion to their length, so this is the mean of squares over the mean.
  [[nodiscard]] double degree(std::uint32_t edge, unsigned from) const noexcept { return degree_[edge][from]; }
  /// The number of distinct vertices in such lists.
  [[nodiscard]] double targets(std::uint32_t edge, unsigned from) const noexcept { return lists_[edge][1 - from]; }
  /// The number of entries in the edge's lists: data edges that it can map to.
  [[nodiscard]] double entries(std::uint32_t edge) const noexcept { return entries_[edge]; }
  /// The expected size of the intersection that the probes of `block` describe. `block` is a bit set of query vertices, several
  /// if they are merged. The estimate is the shortest list, thinned by each other list. It is thinned less if the query joins
  /// the vertices at which the lists are read.
  [[nodiscard]] double size(std::uint32_t block, const std::vector<Probe>& probes) const noexcept;
  /// From now on uses observed sizes instead of estimates, if there are any. `seen` must outlive this object.
  void trust(const Observations& seen) noexcept { seen_ = &seen; }
  /// The end of its edge at which a probe reads (0: source, 1: target).
  [[nodiscard]] unsigned end(const Probe& probe) const noexcept {
    return query_->edges[probe.edge].query_relation[0] == probe.query_relation ? 0 : 1;
  }

 private:
  const BoundQuery* query_;
  double closure_ = 0;
  const Observations* seen_ = nullptr;
  std::vector<std::array<double, 2>> degree_;
  std::vector<std::array<double, 2>> lists_;
  std::vector<double> entries_;
};

/// The probability that two neighbours of a vertex are joined by any edge. Vertices are weighted by their degree in the settled
/// graph. The estimate comes from a sample of a thousand vertices that depends on the graph alone.
[[nodiscard]] double triangle_closure(const graph::DataGraph& graph);

/// Stands for the anchor in plans whose anchor is no query edge.
inline constexpr std::uint32_t no_anchor = 0xffffffff;

/// Builds the probes and checks that map the query vertices of `block` (several if they are merged). `positions` are the bit
/// sets of query vertices that are matched so far. `anchor` is the anchor's query edge, or no_anchor in static plans. The
/// candidate must differ from the first `kept_apart` positions. Inclusion and exclusion handles the later ones.
[[nodiscard]] Candidates candidates_for(const BoundQuery& query, std::uint32_t block,
                                        const std::vector<std::uint32_t>& positions, std::uint32_t anchor,
                                        std::size_t kept_apart);

/// Whether a list read for `edge` may contain the anchor's data edge.
[[nodiscard]] inline bool is_inclusive(const BoundQuery& query, std::uint32_t edge, std::uint32_t anchor) noexcept {
  return query.mode == MatchMode::homomorphism && edge > anchor;
}

/// Plans the sums with a query vertex as the root. The plan's cost is that of the whole graph. Nullopt if no sums are possible.
/// Throws PlanningStopped once `stop` is set.
[[nodiscard]] std::optional<RootedPlan> make_rooted_plan(const BoundQuery& query, const Estimates& estimates,
                                                         std::uint32_t vertex, Count symmetry,
                                                         const std::atomic<bool>* stop = nullptr);

/// Chooses how to count below the levels of `plan`. `symmetry`: how often each match is found without order constraints.
/// `allow_ordered`: the plan may enumerate under the order constraints, which make each match found once. Throws
/// PlanningStopped once `stop` is set.
[[nodiscard]] CountPlan make_count_plan(const BoundQuery& query, const Estimates& estimates, const Plan& plan, Count symmetry,
                                        std::uint32_t anchor, bool allow_ordered, const std::atomic<bool>* stop = nullptr);

}  // namespace deltamatch::plan
