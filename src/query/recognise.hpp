// In which form a text states a query.
#pragma once

#include <string_view>

#include "deltamatch/query.hpp"

namespace deltamatch::query {

enum class QueryForm { pattern, graph, neither };

/// By how the first line begins that says something: with a vertex `(` or MATCH: a pattern; with t, v or e and a blank: t/v/e.
[[nodiscard]] QueryForm recognise_query(std::string_view text) noexcept;

/// Parses a query in the form that the text has; see parse_pattern and parse_query_graph. Throws Error(configuration) that
/// points at the first line and names both forms where it has neither.
[[nodiscard]] Query parse_query_text(std::string_view text, std::string_view name, bool directed, std::string_view where);

}  // namespace deltamatch::query
