// Colour refinement, and the search for one automorphism that maps a coloured query graph to another colouring of itself.
#pragma once

#include <array>
#include <optional>

#include "query/structure.hpp"

namespace deltamatch::query {

/// A colour per vertex, beside those of the Structure.
using Colouring = std::array<Colour, max_query_vertices>;

/// Gives `vertex` a colour that no other vertex bears.
[[nodiscard]] Colouring individualise(Colouring colouring, Vertex vertex) noexcept;

/// Splits colours until any two vertices of one colour see, in each colour, the same number of vertices over each pair colour.
/// Both colourings are refined alike; false where they come to differ: then no automorphism maps `left` to `right`.
[[nodiscard]] bool refine(const Structure& structure, Colouring& left, Colouring& right);

/// An automorphism that maps each vertex to one whose `right` colour is its `left` colour, if there is one.
[[nodiscard]] std::optional<Permutation> find_automorphism(const Structure& structure, Colouring left, Colouring right);

}  // namespace deltamatch::query
