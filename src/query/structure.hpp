// The structure of a query graph for finding automorphisms: a colour per vertex and a colour per ordered pair of vertices.
//
// Two vertices have the same colour iff their label sets are equal. Two pairs (u, v) and (x, y) have the same colour iff the
// same edges run between them, including direction, directedness and label sets. A permutation is an automorphism iff it keeps
// all colours.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "deltamatch/query.hpp"

namespace deltamatch::query {

/// A query vertex: index into Query::vertices.
using Vertex = std::uint32_t;

/// [v] is the image of vertex v. Numbers beyond the query's vertices map to themselves.
using Permutation = std::array<std::uint8_t, max_query_vertices>;

[[nodiscard]] Permutation identity() noexcept;
/// Applies `first`, then `second`: result[v] = second[first[v]].
[[nodiscard]] Permutation compose(const Permutation& first, const Permutation& second) noexcept;
[[nodiscard]] Permutation inverse(const Permutation& permutation) noexcept;

using Colour = std::uint16_t;

struct Structure {
  Structure() = default;
  /// Requires a valid query.
  explicit Structure(const Query& query);

  /// Whether the permutation keeps all colours. O(n^2).
  [[nodiscard]] bool kept_by(const Permutation& permutation) const noexcept;

  std::size_t size = 0;
  std::array<Colour, max_query_vertices> vertex{};
  /// pair[u][v]; 0: no edge between u and v.
  std::array<std::array<Colour, max_query_vertices>, max_query_vertices> pair{};
};

/// Twins: vertices of which any two can be exchanged while all others stay. They have equal labels and the same edges to other
/// vertices.
struct TwinClass {
  std::vector<Vertex> vertices;  ///< ascending, at least two
  bool adjacent = false;         ///< whether edges join them; if so, they join any two
};

/// Returns all twin classes, ascending by first vertex. Requires a valid query. O(n^3).
[[nodiscard]] std::vector<TwinClass> twins(const Query& query);

}  // namespace deltamatch::query
