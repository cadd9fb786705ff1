// A plan of a task, as matchers pass it on.
#pragma once

#include <cstdint>

#include "graph/data_graph.hpp"

namespace deltamatch::match {

struct PlanRef {
  std::uint32_t task;
  std::uint32_t plan;
  bool walk;  ///< count by enumeration, because the plan's sums are not valid for the current query relations
  /// A bit for each plan of its group (FamilyRule) that is tried with it, itself included; 0: it is tried alone.
  std::uint64_t together = 0;
};

/// The lists that a plan reads at an end of its anchor, as signatures (Adjacency::signature). There is no match if the vertex
/// lacks one of them.
struct Needs {
  std::uint64_t base = 0;
  std::uint64_t derived = 0;
};

/// What a vertex has of them.
[[nodiscard]] inline Needs signature_of(const graph::DataGraph& graph, VertexId vertex) noexcept {
  return {graph.base().signature(vertex), graph.derived() == nullptr ? 0 : graph.derived()->signature(vertex)};
}

/// A plan, and what it needs at the ends of its anchor.
struct IndexedPlan : PlanRef {
  Needs tail{};
  Needs head{};

  /// Whether the ends of an anchor with these signatures may have what the plan reads at them.
  [[nodiscard]] bool may_match(const Needs& of_tail, const Needs& of_head) const noexcept {
    return ((tail.base & ~of_tail.base) | (tail.derived & ~of_tail.derived) | (head.base & ~of_head.base) |
            (head.derived & ~of_head.derived)) == 0;
  }
};

}  // namespace deltamatch::match
