// A whole graph for DataGraph::build, as edges grouped by their labels. All entries of one block belong to one relation at
// their tails and to one at their heads. So the lists are made without sorting.
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

/// Edges that share their edge label, their tails' label and their heads' label.
struct EdgeBlock {
  LabelId edge_label = empty_label;
  LabelId tail_label = empty_label;
  LabelId head_label = empty_label;
  /// Subtracted, modulo 2^32, from the numbers in `runs` to get the graph's numbers.
  VertexId tail_shift = 0;
  VertexId head_shift = 0;
  std::vector<std::span<const EdgeEnds>> runs;  ///< each ascends strictly, and so does their sequence
  std::uint64_t edges = 0;                      ///< total number of edges in all runs
};

/// The vertices that have a label: [begin, end).
struct LabelPart {
  LabelId label = empty_label;
  VertexId begin = 0;
  VertexId end = 0;
};

/// One side of a block: its entries in the lists of the vertices at that side.
struct BlockSide {
  LabelId row_label = empty_label;  ///< label of these vertices
  std::uint32_t relation = 0;       ///< relation of their entries
  bool at_head = false;
  const EdgeBlock* block = nullptr;
};

}  // namespace deltamatch::graph
