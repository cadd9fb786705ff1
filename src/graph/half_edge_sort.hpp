// Sorts half-edges by (vertex, relation, neighbour).
#pragma once

#include <algorithm>
#include <vector>

#include "graph/adjacency.hpp"

namespace deltamatch::graph {

inline void sort_half_edges(std::vector<HalfEdge>& halves) { std::sort(halves.begin(), halves.end()); }

}  // namespace deltamatch::graph
