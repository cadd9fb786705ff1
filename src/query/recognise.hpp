// Recognises the form of a query's text.
#pragma once

#include <string_view>

#include "deltamatch/query.hpp"

namespace deltamatch::query {

enum class QueryForm { pattern, graph, neither };

/// Decides by the first line that is not blank or a comment. A pattern starts with a vertex `(` or with MATCH. A t/v/e graph
/// starts with t, v or e and a blank.
[[nodiscard]] QueryForm recognise_query(std::string_view text);

/// Parses a query in the form that the text has; see parse_pattern and parse_query_graph. If it has neither form, throws
/// Error(configuration) that points at the first line and names both forms.
[[nodiscard]] Query parse_query_text(std::string_view text, std::string_view name, bool directed, std::string_view where);

}  // namespace deltamatch::query
