// Hashes of what a batch did and of how a graph is numbered. deltamatch/digest.hpp says what the running digest covers.
#pragma once

#include "deltamatch/digest.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::graph {

/// A hash of all numbers in a settled graph: of vertices with ids, labels and attributes, of labels and symbols with texts, and
/// of slots with their edges. Edges of the model `simple` have no numbers and are not covered. O(vertices + slots).
[[nodiscard]] Hash128 numbering_hash(const DataGraph& graph) noexcept;

}  // namespace deltamatch::graph
