// Counting cliques for other parts of mining.
#pragma once

#include "base/parallel.hpp"
#include "mine/run_control.hpp"

namespace deltamatch::mine {

/// As deltamatch::count_cliques; stops when `control` says so.
[[nodiscard]] std::vector<Count> clique_counts(const SimpleGraph& graph, std::optional<unsigned> k, Workers& workers,
                                               RunControl& control);

}  // namespace deltamatch::mine
