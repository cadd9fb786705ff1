// Finds the plans that an anchor can match, by its three labels. So an update that cannot matter costs O(1), and one whose
// labels come first O(plans that begin at its tail's label). A plan that needs edges of a kind that the graph never had is left
// out, too.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "match/family_rule.hpp"
#include "match/matcher.hpp"
#include "match/plan_ref.hpp"
#include "match/screen.hpp"

namespace deltamatch::match {

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
  /// What the plans that are found depend on, besides the anchor.
  [[nodiscard]] static std::vector<std::uint64_t> basis(const graph::DataGraph& graph, std::span<const QueryTask> tasks,
                                                        std::span<const graph::Resolved> resolved, const FamilyRule* rule);

  /// `rule`: if not null, plans that stand in a group are tried with its leader, unless lists are lent.
  PlanIndex(const graph::DataGraph& graph, std::span<const QueryTask> tasks, std::span<const graph::Resolved> resolved,
            const FamilyRule* rule = nullptr) noexcept;
  /// Goes on with other arguments that have the same basis, for the same graph.
  void renew(std::span<const QueryTask> tasks, std::span<const graph::Resolved> resolved, const FamilyRule* rule) noexcept;

  /// The plans for an anchor, ascending by task and plan. Those that are tried with another are left out. Valid until the next
  /// call. If lists are lent, searches two of them per plan.
  std::span<const IndexedPlan> of(const graph::Edge& anchor);
  /// The tests of the plans that `of` found last. There are none if lists are lent.
  ScreenTests& tests();

 private:
  /// What an anchor is asked for.
  struct Labels {
    LabelId edge;
    LabelId tail;
    LabelId head;
    bool loop;
    friend bool operator==(const Labels&, const Labels&) = default;
    friend std::size_t hash_value(const Labels& labels) noexcept {
      constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
      return ((std::uint64_t{labels.edge} * odd + labels.tail) * odd + labels.head) * 2 + (labels.loop ? 1 : 0);
    }
  };

  void list_plans();
  [[nodiscard]] std::vector<IndexedPlan> find_plans(const Labels& of);
  void group(std::vector<IndexedPlan>& plans) const;
  [[nodiscard]] bool holds(const PlanRef& plan, const graph::Edge& anchor) const;

  const graph::DataGraph* graph_;
  std::span<const QueryTask> tasks_;
  std::span<const graph::Resolved> resolved_;
  bool lent_;
  const FamilyRule* rule_;
  // The plans that may match something, by a label that their anchor's tail may have. Made when the first anchor comes.
  boost::unordered_flat_map<LabelId, std::vector<IndexedPlan>> by_tail_;
  std::vector<IndexedPlan> any_tail_;  // it may have any label
  bool listed_ = false;
  std::vector<IndexedPlan> held_;
  struct Kind {  // the plans for anchors with the same labels
    std::vector<IndexedPlan> plans;
    std::optional<ScreenTests> tests{};  // once they are asked for
  };
  boost::unordered_flat_map<Labels, std::unique_ptr<Kind>> known_;
  Labels last_labels_{};
  Kind* last_ = nullptr;
};

}  // namespace deltamatch::match
