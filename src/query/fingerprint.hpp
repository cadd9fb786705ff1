// What a standing query is, as 128 bits: part of every match id.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "deltamatch/match.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch::query {

struct Fingerprint {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};

/// xxh128 over mode, count mode, the vertices' label sets in the query's order, and the edges in canonical order. Names play no
/// part, nor does the order of edges or the way an undirected edge is written. The same on every machine. Requires a valid
/// query.
[[nodiscard]] Fingerprint fingerprint(const Query& query, MatchMode mode, CountMode count);

/// Indices into Query::edges in the order in which the fingerprint takes them: by lesser and greater end for undirected edges,
/// by source and target for directed ones, then directedness, then labels. What is hashed beside a fingerprint follows this
/// order.
[[nodiscard]] std::vector<std::uint32_t> canonical_edge_order(const Query& query);

}  // namespace deltamatch::query
