// Chooses the program that runs the anchors of a plan. Backends that run programs and the estimator that walks them must choose
// alike.
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
  bool sums = false;   ///< results are added to PlanResult::sum, else to PlanResult::found
  bool plain = false;  ///< see is_plain
  /// Set by a backend that counts the plan with tables (match/tree_sum.hpp) instead: the plan's count plan, without a prefix.
  std::optional<plan::CountPlan> tables{};
};

/// With tables, work that enumerates candidates is split: the number of shares for an anchor or root of this degree.
[[nodiscard]] constexpr std::uint32_t table_shares(std::uint32_t degree) noexcept {
  constexpr std::uint32_t share_degree = 32;
  constexpr std::uint32_t max_shares = 4096;
  return std::clamp(degree / share_degree, 1U, max_shares);
}
/// The lists from which degrees are taken: the lists lent to the graph, which may have their own numbers of vertices, or else
/// its own. O(query relations).
[[nodiscard]] inline const graph::Adjacency& lists_read(const graph::DataGraph& graph) noexcept {
  const graph::Adjacency* lent = graph.lent();
  return lent == nullptr ? graph.base() : *lent;
}
/// The degree that shares depend on: for an anchor the sum of both ends' degrees, for a root its own.
[[nodiscard]] inline std::uint32_t table_degree(const graph::Adjacency& lists, VertexId tail, VertexId head) noexcept {
  return tail == head ? lists.degree(tail) : lists.degree(tail) + lists.degree(head);
}

/// Whether each query edge except the anchor's can be mapped in only one way, so that vertices alone distinguish matches.
[[nodiscard]] bool is_plain(const plan::BoundQuery& query, const plan::Plan& plan, std::span<const graph::Resolved> resolved);

/// Whether some query edge may be mapped to one of several data edges between two vertices. O(query edges).
[[nodiscard]] bool reads_parallels(const plan::BoundQuery& query, std::span<const graph::Resolved> resolved);

/// The program for a plan. Listing walks to every match. Counting uses sums if they are valid for the current query relations
/// (see must_walk). It then must not choose a set of several vertices from a list with parallel edges, which needs more than
/// the list's length. Of the conditions of an induced match, the program keeps those that the query relations do not imply.
[[nodiscard]] AnchorProgram program_for(const QueryTask& task, const plan::Plan& plan,
                                        std::span<const graph::Resolved> resolved);

/// Programs by task and plan. Valid while plans and resolved query relations stay as they are.
using Programs = std::vector<std::vector<AnchorProgram>>;
[[nodiscard]] Programs make_programs(std::span<const QueryTask> tasks, std::span<const graph::Resolved> resolved);

}  // namespace deltamatch::match
