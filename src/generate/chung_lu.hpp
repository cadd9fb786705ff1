// Chung-Lu graphs: undirected graphs with distinct edges whose expected degrees follow a power law.
#pragma once

#include <cstdint>

#include "generate/synthetic_stream.hpp"

namespace deltamatch::generate {

struct ChungLuOptions {
  std::uint32_t vertices = 100'000;
  std::uint64_t edges = 1'000'000;   ///< exactly this many, all distinct
  double exponent = 2.5;             ///< of the degree distribution: P(degree = k) ~ k^-exponent; above 2, at most 10
  std::uint32_t max_degree = 1'000;  ///< expected degree of the heaviest vertex; above the average degree
  std::uint32_t vertex_labels = 6;   ///< labels 0 to vertex_labels - 1, uniform at random
  std::uint64_t seed = 1;
};

/// Makes a graph. Throws Error(usage) if options are invalid or if the edges do not fit. This means more than half of all
/// pairs, or so much skew that distinct edges run out. O(vertices + edges) time, at most 32 bytes of memory per edge.
[[nodiscard]] Graph chung_lu(const ChungLuOptions& options = {});

}  // namespace deltamatch::generate
