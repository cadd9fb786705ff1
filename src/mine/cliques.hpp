// Clique counting for other parts of mining.
#pragma once

#include "base/parallel.hpp"
#include "match/dense_set_counter.hpp"
#include "mine/run_control.hpp"

namespace deltamatch::mine {

/// Counts cliques as deltamatch::count_cliques does. Stops when `control` says so. If `devices` is not null, devices count what
/// they can.
[[nodiscard]] std::vector<Count> clique_counts(const SimpleGraph& graph, std::optional<unsigned> k, Workers& workers,
                                               RunControl& control, match::DenseSetCounter* devices = nullptr);

/// Counts the pairs of a vertex's neighbours that both come after it by degree, then by number. The sum over all vertices is
/// the work of counting cliques. O(n + m).
[[nodiscard]] std::uint64_t later_pairs(const SimpleGraph& graph) noexcept;

}  // namespace deltamatch::mine
