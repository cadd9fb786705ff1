// A 128-bit fingerprint of a standing query, which is part of every match id.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "deltamatch/match.hpp"
#include "deltamatch/query.hpp"
#include "query/paths.hpp"

namespace deltamatch::query {

struct Fingerprint {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};

/// Computes xxh128 over mode, count mode, and the vertices' label sets in the query's order. The edges in canonical order and
/// the normal form of the condition follow. It does not depend on names, on the order of edges or on how an undirected edge is
/// written. It is the same on every machine. Requires a valid query.
/// Of a variant, it also covers where its paths are. So a match has other ids as an image of other paths.
[[nodiscard]] Fingerprint fingerprint(const Query& query, MatchMode mode, CountMode count, std::span<const Path> paths = {});

/// The fingerprint of a query with paths: that of all its variants. Of a query without paths, its own.
[[nodiscard]] Fingerprint fingerprint_of_variants(const Query& query, MatchMode mode, CountMode count);

/// Returns indices into Query::edges in the order that the fingerprint uses. Undirected edges are sorted by smaller and greater
/// end, directed ones by source and target; then come directedness and labels. Anything hashed along with a fingerprint follows
/// this order.
[[nodiscard]] std::vector<std::uint32_t> canonical_edge_order(const Query& query);

}  // namespace deltamatch::query
