// How often each pattern of five vertices occurs, with or without further edges.
#pragma once

#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "mine/edge_index.hpp"
#include "mine/run_control.hpp"
#include "mine/small_graph.hpp"

namespace deltamatch::mine {

/// Sums with differences on the way. 128 bits hold every sum over a graph that fits into memory: with fewer than 2^36 entries
/// in lists and degrees below 2^31, no term of four degrees exceeds 2^125.
__extension__ using Wide = __int128;

struct SpanningCount {
  Key pattern;  ///< canonical
  Wide count;
};
using Spanning = std::vector<SpanningCount>;

/// The canonical key of the graph with these edges: "01 12 02" is a triangle.
[[nodiscard]] Key key_of_edges(unsigned vertices, std::string_view edges);

/// `index` lists triangles. Of no meaning where the run was stopped. O(sum of squared degrees + sum over edges of squared
/// triangles + edges within two steps of each vertex among those of smaller degree).
[[nodiscard]] Spanning five_vertices(const SimpleGraph& whole, const OrderedGraph& graph, const EdgeIndex& index,
                                     Workers& workers, RunControl& control);

}  // namespace deltamatch::mine
