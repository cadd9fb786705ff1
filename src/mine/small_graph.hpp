// Graphs of up to 8 vertices as one integer, the key. Bit j(j-1)/2 + i says whether i and j (i < j) are joined. So the key of
// the first j vertices is the low j(j-1)/2 bits. Adding a vertex sets the next j bits: the mask of its neighbours.
#pragma once

#include <array>
#include <cstdint>

#include "deltamatch/mine.hpp"

namespace deltamatch::mine {

using Key = std::uint32_t;
inline constexpr unsigned max_k = Pattern::max_vertices;

constexpr unsigned pairs_of(unsigned vertices) noexcept { return vertices * (vertices - 1) / 2; }

/// The key with one more vertex, joined to those in `mask`.
constexpr Key grown(Key key, unsigned vertices, Key mask) noexcept { return key | mask << pairs_of(vertices); }

/// The neighbour masks of all vertices.
using Rows = std::array<std::uint8_t, max_k>;
[[nodiscard]] Rows rows_of(unsigned vertices, Key key) noexcept;

/// A permutation of up to 8 positions, four bits each: position i moves to `at(i)`.
struct Permutation {
  std::uint32_t places = 0;

  [[nodiscard]] constexpr unsigned at(unsigned position) const noexcept { return places >> 4 * position & 15U; }
  constexpr void set(unsigned position, unsigned place) noexcept {
    places = (places & ~(15U << 4 * position)) | place << 4 * position;
  }
  /// The images of the positions in `mask`.
  [[nodiscard]] constexpr std::uint32_t moved(std::uint32_t mask) const noexcept {
    std::uint32_t out = 0;
    for (unsigned position = 0; mask != 0; ++position, mask >>= 1) out |= (mask & 1U) << at(position);
    return out;
  }
};

struct Canonical {
  Key key = 0;
  Permutation places;  ///< the place of each vertex in the canonical form
};

/// Returns the canonical form. Among the relabellings that order vertices by invariants (degrees, then the neighbours'
/// degrees), it is the one with the lexicographically largest columns. A column holds the neighbours among earlier vertices.
[[nodiscard]] Canonical canonical_form(unsigned vertices, Key key);

/// The features that conditions use.
struct Features {
  int vertices = 0;
  int edges = 0;
  int min_degree = 0;
  int max_degree = 0;
  int triangles = 0;
  int leaves = 0;
};
[[nodiscard]] Features features_of(unsigned vertices, Key key) noexcept;

}  // namespace deltamatch::mine
