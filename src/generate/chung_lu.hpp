// Chung-Lu graphs: undirected, expected degrees follow a power law, edges are distinct.
#pragma once

#include <cstdint>

#include "generate/synthetic_stream.hpp"

namespace deltamatch::generate {

struct ChungLuOptions {
  std::uint32_t vertices = 100'000;
  std::uint64_t edges = 1'000'000;   ///< exactly so many, all distinct
  double exponent = 2.5;             ///< of the degree distribution: P(degree = k) ~ k^-exponent; above 2, at most 10
  std::uint32_t max_degree = 1'000;  ///< expected degree of the heaviest vertex; above the average degree
  std::uint32_t vertex_labels = 6;   ///< labels 0 to vertex_labels - 1, uniform at random
  std::uint64_t seed = 1;
};

/// Throws Error(usage) on bad options, and where the edges asked for do not fit: more than half of all pairs, or so skewed
/// that distinct edges run out. O(vertices + edges) time, at most 32 bytes of memory per edge while it runs.
[[nodiscard]] Graph chung_lu(const ChungLuOptions& options = {});

}  // namespace deltamatch::generate
