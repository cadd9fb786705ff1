// Symmetries of a query that exchange alike edges (query/alike.hpp).
//
// Aut(Q), as query/automorphism.hpp has it, permutes vertices, and alike edges keep their order. If alike edges can be
// exchanged beyond that, a match is found once for each way, as another match.
#pragma once

#include <optional>

#include "deltamatch/query.hpp"
#include "query/alike.hpp"

namespace deltamatch::query {

/// Two edges that some symmetry of the query exchanges beyond Aut(Q). A symmetry permutes vertices and edges, and keeps labels,
/// directions, ends and the normal form of the condition. nullopt: there is none. Requires a valid query.
///
/// The search tries permutations of alike edges, and leaves one as soon as a part of the condition contradicts it. If there are
/// too many to try, it returns the first pair of alike edges, as if they could be exchanged.
[[nodiscard]] std::optional<EdgePair> find_exchange(const Query& query);

}  // namespace deltamatch::query
