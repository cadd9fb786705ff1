// The normal form of conditions: two conditions that are written differently but say the same have, in simple cases, one form.
//
// > and >= become < and <=, <> becomes NOT =, IN becomes OR, and c < x - y becomes y - x < -c. NOT goes below AND and OR, which
// holds in three-valued logic too. Doubled NOT, nested AND and OR, and TRUE and FALSE in them go. The operands of AND, OR and
// =, the two of + and *, and those of least() and greatest() are sorted. Repeated operands of AND and OR go. Arithmetic is
// never regrouped, because sums of floats depend on it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "deltamatch/condition.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch::condition {

/// Numbers the elements of a query: [i] is the number of edge i. Vertices have their own. Sorting uses these numbers.
using EdgeNumbers = std::span<const std::uint32_t>;

/// Returns the normal form. Its elements have the numbers given. O(n log n) comparisons of subtrees. The form of a form is
/// itself.
[[nodiscard]] Expression normal_form(const Expression& expression, EdgeNumbers edges);

/// The parts of a condition in normal form that must all be TRUE: the operands of AND, or the condition itself.
[[nodiscard]] std::vector<Expression> conjuncts(Expression normal);
/// Those of the query's whole condition that count nothing, with its own numbers of edges. Empty if it has none.
[[nodiscard]] std::vector<Expression> conjuncts(const Query& query);
/// The others: those in which a count stands.
[[nodiscard]] std::vector<Expression> counted_conjuncts(const Query& query);

/// Appends an unambiguous encoding, which belongs to the format of fingerprints.
void append_bytes(std::string& bytes, const Expression& expression);

}  // namespace deltamatch::condition
