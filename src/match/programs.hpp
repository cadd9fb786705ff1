// Which program works the anchors of a plan: the choice that a backend which runs programs and the estimator that walks them
// must make alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "match/matcher.hpp"
#include "plan/program.hpp"

namespace deltamatch::match {

struct AnchorProgram {
  plan::Program program;
  bool sums = false;   ///< results add to PlanResult::sum, else to PlanResult::found
  bool plain = false;  ///< see is_plain
  /// Set by a backend that counts the plan with tables (match/tree_sum.hpp) instead: its count plan, without a prefix.
  std::optional<plan::CountPlan> tables{};
};

/// With tables, work that enumerates candidates is split: into so many shares at an anchor or root of this degree.
[[nodiscard]] constexpr std::uint32_t table_shares(std::uint32_t degree) noexcept {
  constexpr std::uint32_t share_degree = 32;
  constexpr std::uint32_t max_shares = 4096;
  return std::clamp(degree / share_degree, 1U, max_shares);
}
/// The lists that tell degrees: those lent to the graph, which may number vertices in their own way, or its own. O(readings).
[[nodiscard]] inline const graph::Adjacency& lists_read(const graph::DataGraph& graph) noexcept {
  const graph::Adjacency* lent = graph.lent();
  return lent == nullptr ? graph.base() : *lent;
}
/// The degree that counts: of both ends of an anchor together, of a root alone.
[[nodiscard]] inline std::uint32_t table_degree(const graph::Adjacency& lists, VertexId tail, VertexId head) noexcept {
  return tail == head ? lists.degree(tail) : lists.degree(tail) + lists.degree(head);
}

/// Whether each query edge but the anchor's can be mapped in one way only, so that vertices alone tell matches apart.
[[nodiscard]] bool is_plain(const plan::BoundQuery& query, const plan::Plan& plan, std::span<const graph::Resolved> resolved);

/// Whether some query edge may be mapped to one of several data edges between two vertices. O(query edges).
[[nodiscard]] bool reads_parallels(const plan::BoundQuery& query, std::span<const graph::Resolved> resolved);

/// Listing walks to every match. Counting sums where the plan's sums hold for the readings as they are (see must_walk), and
/// where no set of several is chosen from a list with parallel edges, which takes more than the number of its entries.
/// Of what an induced match asks, the program keeps what the readings do not imply.
[[nodiscard]] AnchorProgram program_for(const QueryTask& task, const plan::Plan& plan,
                                        std::span<const graph::Resolved> resolved);

/// By task and plan; valid while plans and resolved readings stay as they are.
using Programs = std::vector<std::vector<AnchorProgram>>;
[[nodiscard]] Programs make_programs(std::span<const QueryTask> tasks, std::span<const graph::Resolved> resolved);

}  // namespace deltamatch::match
