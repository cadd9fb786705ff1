// Conditions with types: bound to the attributes of a graph, checked, and compiled to a program for a small stack machine.
//
// Exact numbers (int, decimal) are 128-bit integers with a scale that is known here, so comparing them needs no rounding. If a
// float takes part, both sides become doubles, and operations round once each, in the order of the pattern. Logic has three
// values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/attribute.hpp"
#include "deltamatch/condition.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch::condition {

__extension__ using Wide = __int128;

enum class Truth : std::uint8_t { no, yes, unknown };

enum class Operation : std::uint8_t {
  push_null,
  push_exact,   ///< `exact`
  push_real,    ///< `real`
  push_truth,   ///< `exact`: 0 or 1
  push_id,      ///< `exact`, as an id
  push_text,    ///< text `slot` of the program, as an id
  push_symbol,  ///< text `slot` of the program, as a symbol
  load_exact,   ///< attribute `slot` of `element`, as have the next three
  load_real,
  load_truth,
  load_symbol,
  load_time,   ///< the event time of the edge `element`
  load_id,     ///< of the vertex `element`
  load_count,  ///< of the pattern `slot` in Program::counts
  scale,       ///< multiplies the exact number `slot` places below the top by `exact`
  to_real,     ///< makes the exact number `slot` places below the top a double, divided by `real`
  negate,
  add,
  subtract,
  multiply,
  negate_real,
  add_real,
  subtract_real,
  multiply_real,
  least,  ///< exact, as is the next
  greatest,
  least_real,
  greatest_real,
  less,  ///< exact, as are the next two
  less_equal,
  equal,
  less_real,
  less_equal_real,
  equal_real,
  equal_truth,
  equal_symbol,
  less_id,
  less_equal_id,
  equal_id,
  is_null,
  logical_not,
  logical_and,
  logical_or,
};

struct Instruction {
  Operation operation = Operation::push_null;
  std::uint32_t element = 0;  ///< index into Program::elements
  std::uint32_t slot = 0;     ///< of an attribute in the Schema, of a text, or a depth
  Wide exact = 0;
  double real = 0;
};

inline constexpr std::size_t max_stack = 128;

/// A comparison of exact numbers of which each side is at most one attribute or time, times a number, plus a number. Most
/// conditions are of this form, and it needs no stack.
struct LinearComparison {
  struct Side {
    std::optional<Instruction> load;  ///< load_exact or load_time; nullopt: the side is `plus`
    Wide times = 1;
    Wide plus = 0;
  };
  Operation operation = Operation::less;  ///< less, less_equal or equal
  Side left;
  Side right;
};

/// A pattern that a condition counts, in normal form.
struct Counted {
  CountedPattern pattern;
  std::int64_t enough = 0;  ///< a larger count makes no difference to the condition
};

struct Program {
  std::vector<Element> elements;  ///< that it reads, ascending
  std::vector<std::string> texts;
  std::vector<Instruction> code;             ///< leaves one truth value; needs at most max_stack places
  std::size_t depth = 0;                     ///< the places that it needs
  std::optional<LinearComparison> linear{};  ///< the same, if it has this form
  std::vector<Counted> counts{};
};

/// Compiles a conjunct in normal form whose edges have the query's own numbers. Throws Error(configuration), which calls the
/// query `where`, quotes the faulty part and names the remedy, if
/// - an attribute is not declared,
/// - an operation does not fit the types of its operands, or the condition is no truth value,
/// - an exact intermediate result could exceed 128 bits,
/// - it speaks of an edge's time or attributes in a graph of the model `simple`.
[[nodiscard]] Program compile(const Expression& conjunct, const Schema& schema, const Query& query, std::string_view where);

/// Compiles the conjuncts of the query's condition in which no count stands, or the others. The condition must be given.
[[nodiscard]] std::vector<Program> compile_counted(const Query& query, const Schema& schema, std::string_view where);
[[nodiscard]] std::vector<Program> compile_all(const Query& query, const Schema& schema, std::string_view where);

/// Refuses what compile refuses, for the query's whole condition and WITHIN. A query without them is fine everywhere.
void check(const Query& query, const Schema& schema, std::string_view where);

}  // namespace deltamatch::condition
