// Estimates how the work of matching a whole graph is spread over its vertices, from the lengths of lists.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "graph/data_graph.hpp"
#include "match/enumerator.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::engine {

/// The work that anchors and roots lead to, in no unit. Matching walks along lists, so the estimate is the number of walks of a
/// few edges. They begin at the vertex and follow the lists that the query reads. With order constraints, they go to lesser
/// vertices only.
///
/// Takes 8 bytes per vertex. Made on all threads, in at most three times the length of all lists. Setting `stop` ends that
/// soon; the estimate is then useless.
class WorkEstimate {
 public:
  /// The query relations must be resolved. `ordered`: matches keep order constraints.
  WorkEstimate(const graph::DataGraph& graph, const plan::BoundQuery& query, bool ordered, Workers& workers,
               const match::StopFlag& stop);

  [[nodiscard]] double of(VertexId root) const noexcept { return walks_[root]; }
  [[nodiscard]] double of(const graph::Edge& anchor) const noexcept { return walks_[anchor.tail] + walks_[anchor.head]; }

 private:
  std::vector<double> walks_;  // by vertex, at least 1
};

}  // namespace deltamatch::engine
