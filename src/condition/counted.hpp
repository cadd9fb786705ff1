// Counts within conditions: COUNT { pattern } compared with a number.
//
// A count is a whole number and never NULL. So every comparison of it has one of two normal forms, or the contrary of one:
// `k <= COUNT {...}` and `COUNT {...} = k`. Patterns that differ only in names, in the order of their edges, or in the numbers
// of their own vertices have the same form.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "condition/form.hpp"
#include "deltamatch/condition.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch::condition {

/// The largest number that a count is compared with.
inline constexpr std::int64_t max_counted = 1'000'000'000;
/// The most edges of a counted pattern.
inline constexpr std::size_t max_counted_edges = 2;

/// The number that a literal stands for, if a count may be compared with it.
[[nodiscard]] std::optional<std::int64_t> counted_number(const Expression& literal) noexcept;

/// Whether a count stands in the condition.
[[nodiscard]] bool counts(const Expression& expression) noexcept;

/// The comparison of a count with a number, one of which stands on either side, in normal form; or the form of its contrary.
/// `count` is in normal form. `kind` is the comparison with the count on its left.
[[nodiscard]] Expression compared_count(Expression::Kind kind, Expression count, std::int64_t number, bool negated);

/// The comparison that says the same with its sides exchanged.
[[nodiscard]] Expression::Kind mirrored(Expression::Kind kind) noexcept;

/// The normal form of a pattern whose condition is in normal form already. `renumbered(edge)` maps numbers of the query's
/// edges.
[[nodiscard]] CountedPattern canonical(CountedPattern pattern, std::span<const std::uint32_t> edges);

/// Appends an unambiguous encoding without names, which belongs to the format of fingerprints.
void append_bytes(std::string& bytes, const CountedPattern& pattern);

/// The query with the pattern's own vertices and edges behind its own. Its condition is that of the pattern. Edges have names
/// where two are alike. What the query's paths ask of each step is left out.
[[nodiscard]] Query extended(const Query& query, const CountedPattern& pattern);

/// Whether the edges of a pattern, one or two, have a vertex in common.
[[nodiscard]] bool joined(const CountedPattern& pattern) noexcept;

/// The query with a condition for each two of its vertices: as many edges join them as in the query, whatever their direction
/// and labels.
[[nodiscard]] Query induced(const Query& query);

/// What is not well formed in a pattern of a query with so many vertices and edges; nullopt if nothing is. Its condition is
/// checked by find_flaw (form.hpp).
[[nodiscard]] std::optional<std::string> find_flaw(const CountedPattern& pattern, std::size_t vertices, std::size_t edges);

/// Calls visit(kind, index) for each element that is read in a condition, but not in patterns that it counts. `visit` may
/// change the index if the node is not const.
template <class Node, class Visit>
void for_each_element(Node& node, const Visit& visit) {  // NOLINT(misc-no-recursion): find_flaw bounds the depth
  if (reads_element(node.kind)) visit(node.element.kind, node.element.index);
  for (auto& operand : node.operands) for_each_element(operand, visit);
}

/// The same for all mentions of the query's vertices and edges, also by patterns that the condition counts. Own vertices and
/// edges of these patterns are left out.
template <class Node, class Visit>
void for_each_mention(Node& node, const Visit& visit) {  // NOLINT(misc-no-recursion): find_flaw bounds the depth
  if (reads_element(node.kind)) visit(node.element.kind, node.element.index);
  for (auto& operand : node.operands) for_each_mention(operand, visit);
  for (auto& pattern : node.pattern) {
    const auto shared = [&](Element::Kind kind, auto& index) {
      if (index < (kind == Element::Kind::vertex ? pattern.first_vertex : pattern.first_edge)) visit(kind, index);
    };
    for (auto& edge : pattern.edges) {
      shared(Element::Kind::vertex, edge.source);
      shared(Element::Kind::vertex, edge.target);
    }
    for (auto& condition : pattern.where) for_each_element(condition, shared);
  }
}

/// Calls take(node) for each count in a condition.
template <class Take>
void for_each_count(const Expression& node, const Take& take) {  // NOLINT(misc-no-recursion): find_flaw bounds the depth
  if (node.kind == Expression::Kind::count) take(node);
  for (const Expression& operand : node.operands) for_each_count(operand, take);
}

}  // namespace deltamatch::condition
