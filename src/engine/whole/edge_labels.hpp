// What the edge labels that a query reads take in memory.
#pragma once

#include <span>
#include <vector>

#include "deltamatch/engine.hpp"
#include "graph/data_graph.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::engine {

/// Those that one of the sets admits and some edge bears, by name; none where no edge bears a label. O(relations + labels log).
[[nodiscard]] std::vector<EdgeLabelStatistics> edge_labels_read(const graph::DataGraph& graph,
                                                                std::span<const plan::LabelIds> admitted);
/// Those that matching the query reads.
[[nodiscard]] std::vector<EdgeLabelStatistics> edge_labels_read(const plan::BoundQuery& query);

}  // namespace deltamatch::engine
