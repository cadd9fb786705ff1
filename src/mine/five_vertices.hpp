// Counts the occurrences of each pattern of five vertices, induced or not.
#pragma once

#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "mine/edge_index.hpp"
#include "mine/run_control.hpp"
#include "mine/small_graph.hpp"

namespace deltamatch::mine {

/// The type of sums with differences in between. 128 bits hold every sum over a graph that fits into memory. With fewer than
/// 2^36 list entries and degrees below 2^31, no term of four degrees exceeds 2^125.
__extension__ using Wide = __int128;

struct SpanningCount {
  Key pattern;  ///< canonical
  Wide count;
};
using Spanning = std::vector<SpanningCount>;

/// The canonical key of a graph with these edges. For instance, "01 12 02" is a triangle.
[[nodiscard]] Key key_of_edges(unsigned vertices, std::string_view edges);

/// Counts the patterns of five vertices. `index` must list triangles. The result is meaningless if the run was stopped. O(sum
/// of squared degrees + sum over edges of squared triangles + edges within two steps of each vertex among vertices of smaller
/// degree).
[[nodiscard]] Spanning five_vertices(const SimpleGraph& whole, const OrderedGraph& graph, const EdgeIndex& index,
                                     Workers& workers, RunControl& control);

}  // namespace deltamatch::mine
