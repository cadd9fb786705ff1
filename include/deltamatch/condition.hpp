// Conditions of a pattern: what WHERE, WITHIN and {name: value} say about its vertices and edges.
//
// A condition is a tree of expressions, plain data. Logic has three values, as in SQL and openCypher: a comparison with an
// absent value is neither true nor false. A match holds if its condition is TRUE. docs/reference/patterns.md defines the
// language.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "deltamatch/id.hpp"

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

/// A node of a condition. The number and meaning of its operands follow from its kind.
struct Expression {
  enum class Kind : std::uint8_t {
    literal,
    attribute,  ///< of `element`, called `name`. "time" of an edge is its event time. In QueryEdge::each: of the present step
    id,         ///< the external id of a vertex
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
    count,  ///< the number of steps; it has no `name`
  };
  Kind kind = Kind::literal;
  Literal literal{};   ///< of a literal
  Element element{};   ///< of an attribute or an id
  std::string name{};  ///< of an attribute
  std::vector<Expression> operands{};
  friend bool operator==(const Expression&, const Expression&) = default;
};

}  // namespace deltamatch
