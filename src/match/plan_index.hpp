// Finds the plans that an anchor can match, by its three labels. So an update that cannot matter costs O(1), and one whose
// labels come first O(plans that begin at its tail's label). A plan that needs edges of a kind that the graph never had is left
// out, too.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "match/family_rule.hpp"
#include "match/matcher.hpp"

namespace deltamatch::match {

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

struct PlanRef {
  std::uint32_t task;
  std::uint32_t plan;
  bool walk;  ///< count by enumeration, because the plan's sums are not valid for the current query relations
  /// A bit for each plan of its group (FamilyRule) that is tried with it, itself included; 0: it is tried alone.
  std::uint64_t together = 0;
  Needs tail{};
  Needs head{};

  /// Whether the ends of an anchor with these signatures may have what the plan reads at them.
  [[nodiscard]] bool may_match(const Needs& of_tail, const Needs& of_head) const noexcept {
    return ((tail.base & ~of_tail.base) | (tail.derived & ~of_tail.derived) | (head.base & ~of_head.base) |
            (head.derived & ~of_head.derived)) == 0;
  }
};

/// Whether the plan's matches must be walked, because its sums do not count them. It may have no sums. Or merged query edges
/// read parallel edges: sums know only vertices, but it matters which edge each query edge takes.
[[nodiscard]] bool must_walk(const plan::CountPlan& count, std::span<const graph::Resolved> resolved);

/// Whether all of these plans must be walked because one of them must. Plans from one query edge are exact only together: the
/// images of a match may begin at either end of it. A sum counts them all and is divided, and a walk finds one.
[[nodiscard]] bool must_walk_together(std::span<const plan::Plan> plans, std::span<const graph::Resolved> resolved);

/// Whether the vertex has every list that the task's query reads at the root of its rooted plan.
[[nodiscard]] bool may_be_root(const QueryTask& task, VertexId vertex, std::span<const graph::Resolved> resolved);

/// Valid while the graph's query relations stay resolved as they are. The arguments must outlive it.
class PlanIndex {
 public:
  /// `rule`: if not null, plans that stand in a group are tried with its leader, unless lists are lent.
  PlanIndex(const graph::DataGraph& graph, std::span<const QueryTask> tasks, std::span<const graph::Resolved> resolved,
            const FamilyRule* rule = nullptr) noexcept;

  /// The plans for an anchor, ascending by task and plan. Those that are tried with another are left out. Valid until the next
  /// call. If lists are lent, searches two of them per plan.
  std::span<const PlanRef> of(const graph::Edge& anchor);

 private:
  void list_plans();
  [[nodiscard]] std::vector<PlanRef> find_plans(LabelId label, LabelId tail, LabelId head, bool loop);
  void group(std::vector<PlanRef>& plans) const;
  [[nodiscard]] bool holds(const PlanRef& plan, const graph::Edge& anchor) const;

  const graph::DataGraph* graph_;
  std::span<const QueryTask> tasks_;
  std::span<const graph::Resolved> resolved_;
  bool lent_;
  const FamilyRule* rule_;
  // The plans that may match something, by a label that their anchor's tail may have. Made when the first anchor comes.
  boost::unordered_flat_map<LabelId, std::vector<PlanRef>> by_tail_;
  std::vector<PlanRef> any_tail_;  // it may have any label
  bool listed_ = false;
  std::vector<PlanRef> held_;
  boost::unordered_flat_map<std::uint64_t, std::vector<PlanRef>> known_;
  std::uint64_t last_key_ = 0;
  const std::vector<PlanRef>* last_ = nullptr;
};

}  // namespace deltamatch::match
