// Colour refinement, and a search for one automorphism that maps a coloured query graph to another colouring of itself.
#pragma once

#include <array>
#include <optional>

#include "query/structure.hpp"

namespace deltamatch::query {

/// One colour per vertex, in addition to those of the Structure.
using Colouring = std::array<Colour, max_query_vertices>;

/// Gives `vertex` a colour that no other vertex has.
[[nodiscard]] Colouring individualise(Colouring colouring, Vertex vertex) noexcept;

/// Splits colours until vertices of the same colour cannot be told apart: they have equally many neighbours of each colour over
/// each pair colour. Refines both colourings in the same way. Returns false if they become different; then no automorphism maps
/// `left` to `right`.
[[nodiscard]] bool refine(const Structure& structure, Colouring& left, Colouring& right);

/// Returns an automorphism that maps each vertex to one whose `right` colour is its `left` colour, if there is one.
[[nodiscard]] std::optional<Permutation> find_automorphism(const Structure& structure, Colouring left, Colouring right);

}  // namespace deltamatch::query
