// Quantifiers as text: those of GQL behind an edge, {1,4} or {3}, and those of Cypher inside it, *1..4 or *3.
#pragma once

#include "deltamatch/query.hpp"
#include "query/tokens.hpp"

namespace deltamatch::query {

/// Parses {1,4} or {3}, at the brace. Throws Error(configuration).
[[nodiscard]] Quantifier parse_braces(Tokens& tokens);

/// Parses *1..4, *..4 or *3, at the star. Throws Error(configuration).
[[nodiscard]] Quantifier parse_star(Tokens& tokens);

}  // namespace deltamatch::query
