#include "condition/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "condition/normal.hpp"

namespace deltamatch::condition {
namespace {

using Kind = Expression::Kind;

Expression literal(std::int64_t number) { return {Kind::literal, Decimal{number, 0}, {}, {}, {}}; }

Expression two(Kind kind, Expression left, Expression right) {
  std::vector<Expression> operands;
  operands.push_back(std::move(left));
  operands.push_back(std::move(right));
  return {kind, {}, {}, {}, std::move(operands)};
}

Expression one_or_contrary(Expression condition, bool negated) {
  if (!negated) return condition;
  std::vector<Expression> operands;
  operands.push_back(std::move(condition));
  return {Kind::logical_not, {}, {}, {}, std::move(operands)};
}

void append_number(std::string& bytes, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift & 0xff));
}

void append_labels(std::string& bytes, const LabelSet& labels) {
  append_number(bytes, labels.size());
  for (const std::string& label : labels) {
    append_number(bytes, label.size());
    bytes.append(label);
  }
}

/// Gives the own vertices and edges of a pattern other numbers: [i] is the place of the i-th.
CountedPattern permuted(const CountedPattern& pattern, std::span<const std::uint32_t> vertices,
                        std::span<const std::uint32_t> edges) {
  CountedPattern result = pattern;
  const auto vertex = [&](std::uint32_t v) {
    return v < pattern.first_vertex ? v : pattern.first_vertex + vertices[v - pattern.first_vertex];
  };
  for (std::size_t v = 0; v < vertices.size(); ++v) result.vertices[vertices[v]] = pattern.vertices[v];
  for (std::size_t e = 0; e < edges.size(); ++e) {
    QueryEdge& edge = result.edges[edges[e]] = pattern.edges[e];
    edge.source = vertex(edge.source);
    edge.target = vertex(edge.target);
    if (!edge.directed && edge.target < edge.source) std::swap(edge.source, edge.target);
  }
  for (std::uint32_t& v : result.distinct) v = vertex(v);
  std::ranges::sort(result.distinct);
  for (Expression& condition : result.where) {
    for_each_element(condition, [&](Element::Kind kind, std::uint32_t& index) {
      if (kind == Element::Kind::vertex) {
        index = vertex(index);
      } else if (index >= pattern.first_edge) {
        index = pattern.first_edge + edges[index - pattern.first_edge];
      }
    });
  }
  return result;
}

}  // namespace

std::optional<std::int64_t> counted_number(const Expression& literal) noexcept {
  const auto* number = literal.kind == Kind::literal ? std::get_if<Decimal>(&literal.literal) : nullptr;
  if (number == nullptr) return std::nullopt;
  std::int64_t digits = number->digits;
  for (std::uint8_t scale = number->scale; scale > 0; --scale, digits /= 10) {
    if (digits % 10 != 0) return std::nullopt;
  }
  if (digits < 0 || digits > max_counted) return std::nullopt;
  return digits;
}

bool counts(const Expression& expression) noexcept {  // NOLINT(misc-no-recursion)
  return expression.kind == Kind::count || std::ranges::any_of(expression.operands, counts);
}

Kind mirrored(Kind kind) noexcept {
  switch (kind) {
    case Kind::less:
      return Kind::greater;
    case Kind::less_equal:
      return Kind::greater_equal;
    case Kind::greater:
      return Kind::less;
    case Kind::greater_equal:
      return Kind::less_equal;
    default:
      return kind;
  }
}

Expression compared_count(Kind kind, Expression count, std::int64_t number, bool negated) {
  const auto at_least = [&](std::int64_t least, bool contrary) -> Expression {
    if (least <= 0) return {Kind::literal, contrary == negated, {}, {}, {}};
    return one_or_contrary(two(Kind::less_equal, literal(least), std::move(count)), contrary != negated);
  };
  switch (kind) {
    case Kind::less:
      return at_least(number, true);
    case Kind::less_equal:
      return at_least(number + 1, true);
    case Kind::greater:
      return at_least(number + 1, false);
    case Kind::greater_equal:
      return at_least(number, false);
    default:
      break;
  }
  const bool differs = kind == Kind::not_equal;
  if (number == 0) return at_least(1, !differs);
  return one_or_contrary(two(Kind::equal, std::move(count), literal(number)), differs != negated);
}

CountedPattern canonical(CountedPattern pattern, std::span<const std::uint32_t> edges) {
  for (Expression& condition : pattern.where) condition = normal_form(condition, edges);
  std::vector<std::uint32_t> vertices(pattern.vertices.size());
  std::vector<std::uint32_t> own(pattern.edges.size());
  std::iota(vertices.begin(), vertices.end(), 0U);
  std::optional<CountedPattern> least;
  std::string least_bytes;
  do {
    std::iota(own.begin(), own.end(), 0U);
    do {
      CountedPattern candidate = permuted(pattern, vertices, own);
      const std::vector<std::uint32_t> none;
      for (Expression& condition : candidate.where) condition = normal_form(condition, none);
      std::string bytes;
      append_bytes(bytes, candidate);
      if (least && bytes >= least_bytes) continue;
      least = std::move(candidate);
      least_bytes = std::move(bytes);
    } while (std::ranges::next_permutation(own).found);
  } while (std::ranges::next_permutation(vertices).found);
  return *std::move(least);
}

void append_bytes(std::string& bytes, const CountedPattern& pattern) {
  append_number(bytes, pattern.vertices.size());
  for (const QueryVertex& vertex : pattern.vertices) append_labels(bytes, vertex.labels);
  append_number(bytes, pattern.edges.size());
  for (const QueryEdge& edge : pattern.edges) {
    append_number(bytes, edge.source);
    append_number(bytes, edge.target);
    bytes.push_back(edge.directed ? 1 : 0);
    append_labels(bytes, edge.labels);
  }
  append_number(bytes, pattern.distinct.size());
  for (const std::uint32_t vertex : pattern.distinct) append_number(bytes, vertex);
  append_number(bytes, pattern.where.size());
  for (const Expression& condition : pattern.where) append_bytes(bytes, condition);
}

Query extended(const Query& query, const CountedPattern& pattern) {
  Query result;
  result.name = query.name;
  result.vertices = query.vertices;
  result.vertices.insert(result.vertices.end(), pattern.vertices.begin(), pattern.vertices.end());
  result.edges = query.edges;
  result.edges.insert(result.edges.end(), pattern.edges.begin(), pattern.edges.end());
  if (!pattern.where.empty()) result.where = pattern.where[0];
  const auto like = [](const QueryEdge& a, const QueryEdge& b) {
    return (a.source == b.source && a.target == b.target) || (a.source == b.target && a.target == b.source);
  };
  for (std::size_t e = 0; e < result.edges.size(); ++e) {
    QueryEdge& edge = result.edges[e];
    const bool own = e >= query.edges.size();
    edge.each.reset();
    const bool beside = std::ranges::any_of(query.edges, [&](const QueryEdge& other) { return like(edge, other); });
    if (edge.name.empty() && (!own || beside)) edge.name = fmt::format("\x01{}", e);  // no name that a user writes
  }
  return result;
}

Query induced(const Query& query) {
  Query result = query;
  std::vector<Expression> parts;
  if (query.where) parts.push_back(*query.where);
  for (std::uint32_t v = 1; v < query.vertices.size(); ++v) {
    for (std::uint32_t u = 0; u < v; ++u) {
      const auto joining = std::ranges::count_if(
          query.edges, [&](const QueryEdge& edge) { return std::minmax(edge.source, edge.target) == std::minmax(u, v); });
      Expression count{Kind::count, {}, {}, {}, {}};
      CountedPattern& pattern = count.pattern.emplace_back();
      pattern.first_vertex = static_cast<std::uint32_t>(query.vertices.size());
      pattern.first_edge = static_cast<std::uint32_t>(query.edges.size());
      pattern.edges.push_back({u, v, {}, false});
      parts.push_back(two(Kind::equal, std::move(count), literal(joining)));
    }
  }
  if (parts.size() == 1) result.where = std::move(parts.front());
  if (parts.size() > 1) result.where = Expression{Kind::logical_and, {}, {}, {}, std::move(parts)};
  return result;
}

bool joined(const CountedPattern& pattern) noexcept {
  const auto touches = [](const QueryEdge& edge, std::uint32_t vertex) {
    return edge.source == vertex || edge.target == vertex;
  };
  const QueryEdge& first = pattern.edges.front();
  const QueryEdge& last = pattern.edges.back();
  return touches(last, first.source) || touches(last, first.target);
}

std::optional<std::string> find_flaw(const CountedPattern& pattern, std::size_t vertices, std::size_t edges) {
  if (pattern.first_vertex != vertices || pattern.first_edge != edges) {
    return "a counted pattern whose numbers do not go on behind those of the query";
  }
  if (pattern.edges.empty() || pattern.edges.size() > max_counted_edges) {
    return fmt::format("a counted pattern of {} edges", pattern.edges.size());
  }
  if (pattern.where.size() > 1) return "a counted pattern with two conditions";
  const std::size_t all = vertices + pattern.vertices.size();
  for (const QueryEdge& edge : pattern.edges) {
    if (edge.quantifier || edge.each) return "a path in a counted pattern";
    if (edge.source >= all || edge.target >= all) return "an edge of a counted pattern that joins no vertices";
  }
  if (!joined(pattern)) return "a counted pattern of two edges that share no vertex";
  for (std::size_t v = vertices; v < all; ++v) {
    if (std::ranges::none_of(pattern.edges, [&](const QueryEdge& edge) { return edge.source == v || edge.target == v; })) {
      return "a vertex of a counted pattern without an edge";
    }
  }
  for (const std::uint32_t vertex : pattern.distinct) {
    if (vertex < vertices || vertex >= all) return "DISTINCT of a vertex that the counted pattern does not have";
  }
  return std::nullopt;
}

}  // namespace deltamatch::condition
