// Counts motifs without enumerating them. Degrees, triangles and 4-cycles per vertex and edge, and cliques give the number of
// occurrences of each pattern, induced or not. The induced counts follow from these.
#pragma once

#include "base/parallel.hpp"
#include "match/dense_set_counter.hpp"
#include "mine/pattern_table.hpp"
#include "mine/run_control.hpp"

namespace deltamatch::mine {

inline constexpr unsigned max_formula_k = 5;

/// For this size a formula needs only degrees and triangles, and devices can count the triangles.
inline constexpr unsigned device_formula_k = 3;

/// Whether CPU cores count connected sets of k vertices that lack up to `budget` edges faster by formulas than one by one.
/// (Sets of five vertices that lack at most one edge are few enough to enumerate.)
constexpr bool formulas_count_sets(unsigned k, unsigned budget) noexcept {
  return k <= max_formula_k && budget > (k == 5 ? 1U : 0U);
}

/// Returns the induced counts by class of the table's k <= max_formula_k vertices; all 0 if the run was stopped. `devices` may
/// count cliques if k = device_formula_k. Null: CPU cores count.
[[nodiscard]] std::vector<Count> formula_counts(const SimpleGraph& graph, const PatternTable& table, Workers& workers,
                                                RunControl& control, match::DenseSetCounter* devices);

}  // namespace deltamatch::mine
