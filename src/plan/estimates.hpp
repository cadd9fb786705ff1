// What the planner knows of the data: list lengths as a walk along edges meets them.
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace deltamatch::plan {

class Estimates {
 public:
  /// For batches that are to come, of which a small graph tells little.
  explicit Estimates(const BoundQuery& query);
  /// For the graph as it stands. `closure`: how likely two neighbours of a vertex are joined, if that is known to be more than
  /// chance.
  Estimates(const BoundQuery& query, double closure);

  /// Expected length of the list of `edge` at its end `from` (0: source, 1: target), at a vertex that was itself reached along
  /// edges: long lists are met in proportion to their length, so this is the mean of squares over the mean.
  [[nodiscard]] double degree(std::uint32_t edge, unsigned from) const noexcept { return degree_[edge][from]; }
  /// How many vertices such lists lead to in all.
  [[nodiscard]] double targets(std::uint32_t edge, unsigned from) const noexcept { return lists_[edge][1 - from]; }
  /// Entries of the edge's lists: data edges that it can be mapped to.
  [[nodiscard]] double entries(std::uint32_t edge) const noexcept { return entries_[edge]; }
  /// Expected size of the intersection that the probes of `block` describe (a bit set of query vertices; more than one where
  /// they are merged): the shortest list, thinned by each other one, less so where the query joins the vertices that they are
  /// read at.
  [[nodiscard]] double size(std::uint32_t block, const std::vector<Probe>& probes) const noexcept;
  /// From now on sizes are those that were seen, where they were. `seen` outlives this.
  void trust(const Observations& seen) noexcept { seen_ = &seen; }
  /// Which end of its edge a probe reads from.
  [[nodiscard]] unsigned end(const Probe& probe) const noexcept {
    return query_->edges[probe.edge].reading[0] == probe.reading ? 0 : 1;
  }

 private:
  Estimates(const BoundQuery& query, double closure, bool as_it_stands);

  const BoundQuery* query_;
  double closure_;
  const Observations* seen_ = nullptr;
  std::vector<std::array<double, 2>> degree_;
  std::vector<std::array<double, 2>> lists_;
  std::vector<double> entries_;
};

/// How likely two neighbours of a vertex are joined by any edge, each edge of the settled graph being as likely to lead to the
/// vertex: from a sample of a thousand vertices that depends on the graph alone.
[[nodiscard]] double triangle_closure(const graph::DataGraph& graph);

/// The anchor of plans that have none among the query edges.
inline constexpr std::uint32_t no_anchor = 0xffffffff;

/// Builds the probes and checks for mapping the query vertices of `block` (more than one where they are merged), given what the
/// positions so far hold (bit sets of query vertices). `anchor` is the anchor's query edge, or ~0 in static plans. Differing
/// from the first `kept_apart` positions is checked; from later ones inclusion and exclusion takes care of it.
[[nodiscard]] Candidates candidates_for(const BoundQuery& query, std::uint32_t block,
                                        const std::vector<std::uint32_t>& positions, std::uint32_t anchor,
                                        std::size_t kept_apart);

/// Whether a list read for `edge` may contain the anchor's data edge.
[[nodiscard]] inline bool is_inclusive(const BoundQuery& query, std::uint32_t edge, std::uint32_t anchor) noexcept {
  return query.mode == MatchMode::homomorphism && edge > anchor;
}

/// The sums from a query vertex as the root, the cost of which is that of the whole graph; nullopt where there are none.
[[nodiscard]] std::optional<RootedPlan> make_rooted_plan(const BoundQuery& query, const Estimates& estimates,
                                                         std::uint32_t vertex, Count symmetry,
                                                         const std::atomic<bool>* stop = nullptr);

/// Chooses how to count below the given levels. `constraints`: order constraints that make each match found once, or empty;
/// `symmetry`: how often each is found without them. Both throw PlanningStopped once `stop` is set.
[[nodiscard]] CountPlan make_count_plan(const BoundQuery& query, const Estimates& estimates, const Plan& plan, Count symmetry,
                                        std::uint32_t anchor, bool allow_ordered, const std::atomic<bool>* stop = nullptr);

}  // namespace deltamatch::plan
