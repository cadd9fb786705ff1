// Counting cliques for other parts of mining.
#pragma once

#include "base/parallel.hpp"
#include "match/dense_set_counter.hpp"
#include "mine/run_control.hpp"

namespace deltamatch::mine {

/// As deltamatch::count_cliques; stops when `control` says so. With `devices` (may be null) these count what they can.
[[nodiscard]] std::vector<Count> clique_counts(const SimpleGraph& graph, std::optional<unsigned> k, Workers& workers,
                                               RunControl& control, match::DenseSetCounter* devices = nullptr);

/// Pairs of neighbours of a vertex that both have a larger degree than it (or the same and a larger number), over all vertices:
/// what counting cliques has to look at. O(n + m).
[[nodiscard]] std::uint64_t later_pairs(const SimpleGraph& graph) noexcept;

}  // namespace deltamatch::mine
