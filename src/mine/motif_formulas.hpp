// Motif counts without enumerating motifs: how often each pattern occurs with or without further edges follows from degrees,
// from triangles and 4-cycles per vertex and per edge, and from cliques; the induced counts follow from those.
#pragma once

#include "base/parallel.hpp"
#include "match/dense_set_counter.hpp"
#include "mine/pattern_table.hpp"
#include "mine/run_control.hpp"

namespace deltamatch::mine {

inline constexpr unsigned max_formula_k = 5;

/// For this size a formula needs no more than degrees and the triangles, which devices count.
inline constexpr unsigned device_formula_k = 3;

/// Whether CPU cores count connected sets of k vertices that lack up to `budget` edges faster by formulas than one by one.
/// (Five vertices that lack one edge at most are few enough to be met.)
constexpr bool formulas_count_sets(unsigned k, unsigned budget) noexcept {
  return k <= max_formula_k && budget > (k == 5 ? 1U : 0U);
}

/// Induced counts by class of the table's k <= max_formula_k vertices; all 0 where the run was stopped. `devices`: may count
/// cliques where k = device_formula_k; null: CPU cores.
[[nodiscard]] std::vector<Count> formula_counts(const SimpleGraph& graph, const PatternTable& table, Workers& workers,
                                                RunControl& control, match::DenseSetCounter* devices);

}  // namespace deltamatch::mine
