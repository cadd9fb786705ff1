// Input of Adjacency::build and DataGraph::build for a whole graph.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "graph/adjacency.hpp"

namespace deltamatch::graph {

using VertexPair = std::pair<VertexId, VertexId>;

/// Edges in any order. Repeated edges count once (in undirected data in either direction).
struct BulkEdges {
  std::span<const VertexPair> edges;
  VertexId vertices = 0;  ///< exceeds the number of every edge's ends
  bool directed = true;
  std::span<const LabelId> labels;  ///< of the vertices
  // The relation of an entry by its neighbour's label. The neighbour is the edge's head or its tail. Both are equal in
  // undirected data.
  std::vector<RelationId> to_head;
  std::vector<RelationId> to_tail;
};

}  // namespace deltamatch::graph
