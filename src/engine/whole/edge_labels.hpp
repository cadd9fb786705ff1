// How much memory the edge labels take that a query reads.
#pragma once

#include <span>
#include <vector>

#include "deltamatch/statistics.hpp"
#include "graph/data_graph.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::engine {

/// The labels that some edge has and one of the sets admits, by name. Empty if no edge has a label. O(relations + labels log).
[[nodiscard]] std::vector<EdgeLabelStatistics> edge_labels_read(const graph::DataGraph& graph,
                                                                std::span<const plan::LabelIds> admitted);
/// The labels that matching the query reads.
[[nodiscard]] std::vector<EdgeLabelStatistics> edge_labels_read(const plan::BoundQuery& query);

}  // namespace deltamatch::engine
