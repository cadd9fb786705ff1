// How the work of matching a whole graph is spread over its vertices, as far as lists' lengths tell.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "graph/data_graph.hpp"
#include "match/enumerator.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::engine {

/// The work that anchors and roots are taken to lead to, in no unit: matching walks from them along lists, so as many walks of
/// a few edges as begin there, through the lists that the query reads; with order constraints to lesser vertices only. 8 bytes
/// for each vertex; made in three times the length of all lists at most, on all threads, and of no use where `stop` is set
/// meanwhile: that ends it soon.
class WorkEstimate {
 public:
  /// The readings are resolved. `ordered`: matches keep order constraints.
  WorkEstimate(const graph::DataGraph& graph, const plan::BoundQuery& query, bool ordered, Workers& workers,
               const match::StopFlag& stop);

  [[nodiscard]] double of(VertexId root) const noexcept { return walks_[root]; }
  [[nodiscard]] double of(const graph::Edge& anchor) const noexcept { return walks_[anchor.tail] + walks_[anchor.head]; }

 private:
  std::vector<double> walks_;  // by vertex; at least 1
};

}  // namespace deltamatch::engine
