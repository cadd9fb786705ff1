// Hashes of what a batch did and of how a graph is numbered. deltamatch/digest.hpp says what the running digest covers.
#pragma once

#include "deltamatch/digest.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::graph {

/// A hash of all numbers in a settled graph. It covers vertices with ids, labels and attributes. It also covers the texts of
/// labels and symbols, and slots with their edges. Edges of the model `simple` have no numbers. O(vertices + slots).
[[nodiscard]] Hash128 numbering_hash(const DataGraph& graph) noexcept;

}  // namespace deltamatch::graph
