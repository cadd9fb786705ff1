// Which plans an anchor concerns: looked up by its three labels, so that an update that cannot matter costs O(1). One that
// needs edges of a kind that the graph never held cannot matter either.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "match/matcher.hpp"

namespace deltamatch::match {

struct PlanRef {
  std::uint32_t task;
  std::uint32_t plan;
  bool walk;  ///< count by enumeration: the plan's sums do not hold for the readings as they are
};

/// Whether a plan's sums do not tell matches: it has none, or they know vertices where it matters which of several parallel
/// edges merged query edges take.
[[nodiscard]] bool must_walk(const plan::CountPlan& count, std::span<const graph::Resolved> resolved);

/// Whether the vertex has each list that the task's query reads at the root of its rooted plan.
[[nodiscard]] bool may_be_root(const QueryTask& task, VertexId vertex, std::span<const graph::Resolved> resolved);

/// Valid while the graph's readings stay resolved as they are. The arguments outlive it.
class PlanIndex {
 public:
  PlanIndex(const graph::DataGraph& graph, std::span<const QueryTask> tasks,
            std::span<const graph::Resolved> resolved) noexcept;

  /// Ascending by task and plan; valid until the next call. Where lists are lent, a search in two of them for each plan.
  std::span<const PlanRef> of(const graph::Edge& anchor);

 private:
  [[nodiscard]] std::vector<PlanRef> find_plans(LabelId label, LabelId tail, LabelId head) const;
  [[nodiscard]] bool holds(const PlanRef& plan, const graph::Edge& anchor) const;

  const graph::DataGraph* graph_;
  std::span<const QueryTask> tasks_;
  std::span<const graph::Resolved> resolved_;
  bool lent_;
  std::vector<PlanRef> held_;
  boost::unordered_flat_map<std::uint64_t, std::vector<PlanRef>> known_;
  std::uint64_t last_key_ = 0;
  const std::vector<PlanRef>* last_ = nullptr;
};

}  // namespace deltamatch::match
