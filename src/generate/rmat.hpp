// R-MAT graphs (Chakrabarti, Zhan, Faloutsos: recursive quadrants of the adjacency matrix), with distinct edges.
#pragma once

#include <cstdint>

#include "generate/synthetic_stream.hpp"

namespace deltamatch::generate {

struct RmatOptions {
  unsigned scale = 16;              ///< 2^scale vertices; 1 to 30
  double edge_factor = 16;          ///< edges per vertex, so edges = edge_factor * 2^scale rounded down, all distinct
  double a = 0.57;                  ///< probability of the quadrant (low source, low target)
  double b = 0.19;                  ///< (low source, high target)
  double c = 0.19;                  ///< (high source, low target); the rest, 1 - a - b - c, is d
  bool directed = false;            ///< false: u-v and v-u are one edge
  bool shuffle = true;              ///< gives the vertices random numbers, so that a number does not reveal a degree
  std::uint32_t vertex_labels = 1;  ///< labels 0 to vertex_labels - 1, uniform at random
  std::uint64_t seed = 1;
};

/// Makes a graph. Throws Error(usage) if options are invalid or if the edges do not fit. This means more than half of all
/// pairs, or so much skew that distinct edges run out. O(edges * scale) time, at most 32 bytes of memory per edge.
[[nodiscard]] Graph rmat(const RmatOptions& options = {});

}  // namespace deltamatch::generate
