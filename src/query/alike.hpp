// Query edges with the same ends, direction and labels. Only graphs in which edges have an identity have two such edges.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "deltamatch/query.hpp"

namespace deltamatch::query {

using EdgePair = std::pair<std::uint32_t, std::uint32_t>;  ///< indices into Query::edges, ascending

/// Whether two edges of the query are alike, whatever conditions say about them.
[[nodiscard]] bool alike(const Query& query, std::uint32_t a, std::uint32_t b) noexcept;

/// The first pair of alike edges from the edge `first` on; nullopt if there is none. O(edges^2).
[[nodiscard]] std::optional<EdgePair> find_alike_edges(const Query& query, std::uint32_t first = 0);

}  // namespace deltamatch::query
