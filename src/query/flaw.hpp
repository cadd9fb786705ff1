// The reason why a query cannot be matched. It names the vertex or edge at fault, so that a parser can point at it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/query.hpp"
#include "query/source_text.hpp"

namespace deltamatch::query {

struct Flaw {
  enum class Subject { query, vertex, edge, emission };
  Subject subject = Subject::query;
  std::size_t index = 0;  ///< into Query::vertices or Query::edges
  std::string what;
  std::string remedy;
};

/// Returns the first flaw of a query; see `validate`. O(n + m log m) comparisons of label sets.
[[nodiscard]] std::optional<Flaw> find_flaw(const Query& query);

/// The positions of a query's vertices and edges in the text that was parsed: byte offsets, in the query's order.
struct TextPositions {
  std::vector<std::size_t> vertices;
  std::vector<std::size_t> edges;
  std::size_t emission = 0;  ///< of EMIT FINAL
};

/// Throws Error(configuration) that points at the place of the first flaw, if there is a flaw.
void refuse_flaws(const Query& query, const TextPositions& places, const SourceText& source);

}  // namespace deltamatch::query
