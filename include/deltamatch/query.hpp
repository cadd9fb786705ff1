// Query graphs: the patterns that are matched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deltamatch {

/// Sorted, without duplicates. Empty = any label (a wildcard). The empty string in it is the empty label.
using LabelSet = std::vector<std::string>;

struct QueryVertex {
  std::string name;  ///< unique within the query; bindings are reported under it
  LabelSet labels;
  friend bool operator==(const QueryVertex&, const QueryVertex&) = default;
};

struct QueryEdge {
  std::uint32_t source = 0;  ///< index into Query::vertices
  std::uint32_t target = 0;
  LabelSet labels;
  bool directed = true;  ///< false: matches a data edge of either direction
  friend bool operator==(const QueryEdge&, const QueryEdge&) = default;
};

inline constexpr std::size_t min_query_vertices = 2;
inline constexpr std::size_t max_query_vertices = 32;

/// A query graph. `validate` holds it to what can be matched.
struct Query {
  std::string name;
  std::vector<QueryVertex> vertices;
  std::vector<QueryEdge> edges;
  friend bool operator==(const Query&, const Query&) = default;
};

/// Throws Error(configuration) unless the query is connected, has 2 to 32 vertices with unique names, no self-loops, every
/// edge's ends in range, label sets sorted, and no edge twice (same ends, direction and labels). `where` names it in errors.
void validate(const Query& query, std::string_view where);

/// Parses the pattern language, e.g. "(a:A)-[:PAYS]->(b:A)-[:PAYS]->(a)"; docs/reference/patterns.md defines it.
/// The result is valid. Throws Error(configuration) that shows the text and points at the column. `where` names the source.
[[nodiscard]] Query parse_pattern(std::string_view text, std::string_view name, std::string_view where = "pattern");

/// Parses a query graph in the field's t/v/e format (`t N M` optional, `v id label [degree]`, `e u v [label]`; a label `*` is
/// any label, an edge without a label matches any). Vertices are named by their ids. `directed` says how edges are meant.
[[nodiscard]] Query parse_query_graph(std::string_view text, std::string_view name, bool directed,
                                      std::string_view where = "query graph");

/// The query in the pattern language; parse_pattern(to_pattern(q), q.name) equals q up to the order of vertices.
[[nodiscard]] std::string to_pattern(const Query& query);

}  // namespace deltamatch
