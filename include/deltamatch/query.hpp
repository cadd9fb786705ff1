// Query graphs: the patterns that are matched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/condition.hpp"
#include "deltamatch/query_element.hpp"

namespace deltamatch {

inline constexpr std::size_t min_query_vertices = 2;
inline constexpr std::size_t max_query_vertices = 32;
inline constexpr std::uint32_t max_path_steps = 8;
inline constexpr std::size_t max_variants = 64;

/// ALERT ONCE PER (hub) EVERY 1h: limits how often new matches with the same images of some vertices are reported.
///
/// A new match is left out if one with the same images was reported less than `every` before it, in event time. What is left
/// out does not vanish either. Whole graphs are matched without this.
struct AlertOnce {
  std::vector<std::uint32_t> vertices{};  ///< indices into Query::vertices; ascending, at least one
  Duration every{};                       ///< positive
  friend bool operator==(const AlertOnce&, const AlertOnce&) = default;
};

/// A query graph. `validate` checks whether it can be matched.
struct Query {
  std::string name{};
  std::vector<QueryVertex> vertices{};
  std::vector<QueryEdge> edges{};
  std::optional<Expression> where{};  ///< a match must make it TRUE
  std::optional<Duration> within{};   ///< any two edges of a match are less than this apart in time; positive
  std::optional<AlertOnce> once{};    ///< of a standing query
  /// EMIT FINAL: a standing query reports a match once, when nothing can change what its condition counts; it never vanishes.
  bool emit_final = false;
  friend bool operator==(const Query&, const Query&) = default;
};

/// Checks a query. Throws Error(configuration) unless all of this holds:
/// - The query is connected and has 2 to 32 vertices with unique names. A vertex with self-loops counts twice. It may have a
///   single one if its condition counts. With paths, this holds for each of its variants.
/// - Both ends of every edge are in range. There are no self-loops if the condition counts.
/// - The label sets are sorted, and their terms are canonical.
/// - Two edges with the same ends, direction and labels both have names. Only graphs of the models `keyed` and `events` have
///   such edges.
/// - The names of edges differ from each other and from those of vertices.
/// - The condition is well formed: see Expression. It names elements of the query only.
/// - Paths have names, and 1 to 8 steps. They make at most 64 variants, of which some lengths and times allow.
/// - With EMIT FINAL the condition counts, and each edge that it counts has a latest time given by edges of the query.
/// - AlertOnce names vertices of the query, and its period is positive.
///
/// Errors call the query `where`.
void validate(const Query& query, std::string_view where);

/// The queries without paths that a query stands for: one for each choice of lengths, shortest paths first. Each path is
/// replaced by its steps, and conditions speak of these. The vertices between steps follow those of the query. Lengths at which
/// no values or times can satisfy the condition are left out. A query without paths is its own variant. Requires a valid query.
[[nodiscard]] std::vector<Query> variants(const Query& query);

/// Parses the pattern language, e.g. "(a:A)-[:PAYS]->(b:A)-[:PAYS]->(a)"; docs/reference/patterns.md defines it. The result is
/// valid. Throws Error(configuration) that shows the text and points at the column. Errors call the source `where`, which by
/// default is "query NAME", or "pattern" without a name.
[[nodiscard]] Query parse_pattern(std::string_view text, std::string_view name, std::string_view where = {});

/// Parses a query graph in the t/v/e format. Its lines are `t N M` (optional), `v id label [degree]` and `e u v [label]`. The
/// label `*` means any label, and an edge without a label matches any. Vertices are named by their ids. `directed` says whether
/// the edges are directed.
[[nodiscard]] Query parse_query_graph(std::string_view text, std::string_view name, bool directed,
                                      std::string_view where = "query graph");

/// Writes the query in the pattern language. parse_pattern(to_pattern(q), q.name) equals q up to the order of vertices.
[[nodiscard]] std::string to_pattern(const Query& query);

}  // namespace deltamatch
