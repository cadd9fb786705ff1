// What is counted within a condition, between its parsing and the end of the whole pattern, when all names are known.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "deltamatch/condition.hpp"
#include "deltamatch/query.hpp"
#include "query/flaw.hpp"
#include "query/mention.hpp"
#include "query/source_text.hpp"

namespace deltamatch::query {

/// The text between the braces of COUNT { ... }, as parsed.
struct CountedScope {
  Query query;                         ///< vertices and edges, with numbers of their own; only names tell which are shared
  std::vector<Mention> distinct;       ///< the vertices behind DISTINCT
  std::vector<Expression> properties;  ///< of {name: value}, on elements of `query`
  std::vector<Expression> conditions;  ///< of WHERE; their elements are mentions
  std::vector<Mention> mentions;
  TextPositions places;
  std::size_t offset = 0;  ///< of the opening brace
};

/// Resolves the names against `outer`, whose elements all have their names. `inside`: the element of `outer` that the count
/// stands in, if it does. Throws Error(configuration) that points into the text if a name or the pattern is at fault.
[[nodiscard]] CountedPattern resolve_counted(const CountedScope& scope, const Query& outer,
                                             const std::optional<Element>& inside, const SourceText& source);

/// Refuses a count that `parent` does not compare with a number.
void refuse_idle_count(const Expression& parent, const CountedScope& scope, const SourceText& source);

}  // namespace deltamatch::query
