// A whole graph for Adjacency::build and DataGraph::build.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "graph/adjacency.hpp"

namespace deltamatch::graph {

using VertexPair = std::pair<VertexId, VertexId>;

/// Edges in any order. What is stated again (undirected: either way round) is one edge.
struct BulkEdges {
  std::span<const VertexPair> edges;
  VertexId vertices = 0;  ///< no end of an edge is at or above it
  bool directed = true;
  std::span<const LabelId> labels;  ///< of the vertices
  // Relation of an entry by the neighbour's label: it stands at the head, or at the tail. The same in undirected data.
  std::vector<RelationId> to_head;
  std::vector<RelationId> to_tail;
};

}  // namespace deltamatch::graph
