// Induced matches whose vertices may coincide: which data edges join the matched vertices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "match/partial.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::match {

/// The number of data edges between the matched vertices. Nullopt if there are more than the query has edges. `vertices`: by
/// query vertex. The query must be induced.
[[nodiscard]] std::optional<std::uint64_t> count_spanned(Partial& partial, const plan::BoundQuery& query,
                                                         std::span<const VertexId> vertices);
/// The number of different ones among the matched data edges.
[[nodiscard]] std::uint64_t count_distinct(std::span<const graph::Edge> edges) noexcept;
/// Whether the matched data edges are all that join the matched vertices.
[[nodiscard]] inline bool spans_exactly(Partial& partial, const plan::BoundQuery& query, std::span<const VertexId> vertices,
                                        std::span<const graph::Edge> edges) {
  return count_spanned(partial, query, vertices) == count_distinct(edges);
}

}  // namespace deltamatch::match
