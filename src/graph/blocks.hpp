// A whole graph for DataGraph::build, as edges grouped by their labels: all entries of one block belong to one relation at
// their tails and to one at their heads, so the lists are made without sorting anything.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace deltamatch::graph {

/// The ends of an edge; in undirected data tail < head.
struct EdgeEnds {
  VertexId tail;
  VertexId head;
  friend auto operator<=>(const EdgeEnds&, const EdgeEnds&) = default;
};

/// Edges with one label each: of the edge, of all tails, of all heads.
struct EdgeBlock {
  LabelId edge_label = empty_label;
  LabelId tail_label = empty_label;
  LabelId head_label = empty_label;
  /// What is taken off the numbers in `runs`, modulo 2^32, to have the graph's.
  VertexId tail_shift = 0;
  VertexId head_shift = 0;
  std::vector<std::span<const EdgeEnds>> runs;  ///< ascending strictly, one behind the other
  std::uint64_t edges = 0;                      ///< in all runs
};

/// The vertices that bear a label: [begin, end).
struct LabelPart {
  LabelId label = empty_label;
  VertexId begin = 0;
  VertexId end = 0;
};

/// What a block says to the vertices at one of its sides.
struct BlockSide {
  LabelId row_label = empty_label;  ///< of these vertices
  std::uint32_t relation = 0;       ///< that their entries belong to
  bool at_head = false;
  const EdgeBlock* block = nullptr;
};

}  // namespace deltamatch::graph
