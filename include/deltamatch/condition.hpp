// Conditions of a pattern: what WHERE, WITHIN and {name: value} say about its vertices and edges.
//
// A condition is a tree of expressions, plain data. Logic has three values, as in SQL and openCypher: a comparison with an
// absent value is neither true nor false. A match holds if its condition is TRUE. docs/reference/patterns.md defines the
// language.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "deltamatch/id.hpp"
#include "deltamatch/query_element.hpp"

namespace deltamatch {

/// An exact decimal number: digits / 10^scale.
struct Decimal {
  std::int64_t digits = 0;
  std::uint8_t scale = 0;  ///< at most 18
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

/// A span of time in microseconds.
struct Duration {
  std::int64_t microseconds = 0;
  friend bool operator==(const Duration&, const Duration&) = default;
};

/// An instant, in microseconds since the epoch, UTC.
struct Instant {
  Timestamp microseconds = 0;
  friend bool operator==(const Instant&, const Instant&) = default;
};

/// A constant of a condition. std::monostate is NULL. Numbers are exact, whatever they are compared with.
using Literal = std::variant<std::monostate, bool, Decimal, std::string, Duration, Instant>;

/// A vertex or an edge of a query.
struct Element {
  enum class Kind : std::uint8_t { vertex, edge };
  Kind kind = Kind::vertex;
  std::uint32_t index = 0;  ///< into Query::vertices or Query::edges
  friend auto operator<=>(const Element&, const Element&) = default;
};

struct Expression;
struct QueryEdge;

/// A pattern within a condition, whose matches are counted. It shares at least one vertex with the query.
///
/// Its own vertices and edges are numbered on behind those of the query. So the ends of its edges, and the elements of its
/// condition, are vertices and edges of the query or its own.
struct CountedPattern {
  std::uint32_t first_vertex = 0;  ///< the number of its first own vertex: how many vertices the query has
  std::uint32_t first_edge = 0;    ///< the same for edges
  std::vector<QueryVertex> vertices{};
  std::vector<QueryEdge> edges;           ///< one or two, which are no paths
  std::vector<std::uint32_t> distinct{};  ///< own vertices whose different images are counted; empty: matches are
  std::vector<Expression> where;          ///< none, or the condition that a match must make TRUE
  friend bool operator==(const CountedPattern& a, const CountedPattern& b);
};

/// A node of a condition. The number and meaning of its operands follow from its kind.
struct Expression {
  enum class Kind : std::uint8_t {
    literal,
    attribute,  ///< of `element`, called `name`. "time" of an edge is its event time. In QueryEdge::each: of the present step
    id,         ///< the external id of a vertex
    count,      ///< how many matches its `pattern` has. It is compared with a literal
    negate,     ///< one operand
    add,        ///< two operands, as have the next seven
    subtract,
    multiply,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    in,           ///< the first operand is one of the others, which are literals
    is_null,      ///< one operand
    logical_not,  ///< one operand
    logical_and,  ///< at least two operands, as has the next
    logical_or,
    least,     ///< of at least two operands; NULL if one of them is
    greatest,  ///< the same
    // Like attributes, of the quantified edge `element`:
    previous,  ///< of the step before the present one; only in QueryEdge::each
    first,     ///< of the first step
    last,      ///< of the last step
    sum,       ///< over all steps, as have the next two; NULL if a step lacks the attribute
    minimum,
    maximum,
    steps,  ///< how many there are; it has no `name`
  };
  Kind kind = Kind::literal;
  Literal literal{};   ///< of a literal
  Element element{};   ///< of an attribute or an id
  std::string name{};  ///< of an attribute
  std::vector<Expression> operands{};
  std::vector<CountedPattern> pattern{};  ///< of a count: one
  friend bool operator==(const Expression&, const Expression&) = default;
};

struct QueryEdge {
  std::uint32_t source = 0;  ///< index into Query::vertices
  std::uint32_t target = 0;
  LabelSet labels{};
  bool directed = true;                    ///< false: matches a data edge of either direction
  std::string name{};                      ///< unique within the query, also among the vertices; empty: the edge has no name
  std::optional<Quantifier> quantifier{};  ///< the edge is a path; it then has a name, and may lead back to its source
  std::optional<Expression> each{};        ///< of a path: each step must make it TRUE
  friend bool operator==(const QueryEdge&, const QueryEdge&) = default;
};

inline bool operator==(const CountedPattern& a, const CountedPattern& b) {
  return a.first_vertex == b.first_vertex && a.first_edge == b.first_edge && a.vertices == b.vertices && a.edges == b.edges &&
         a.distinct == b.distinct && a.where == b.where;
}

}  // namespace deltamatch
