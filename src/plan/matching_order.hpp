// Asks a query's planner for matching orders, and checks them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/estimates.hpp"
#include "plan/plan.hpp"

namespace deltamatch::plan {

/// The vertices that follow the anchor's ends in a plan whose anchor, tail and head are set. `anchor`: as for candidates_for.
/// Throws Error(configuration) if the planner's order cannot be followed, and whatever the planner throws.
[[nodiscard]] std::vector<std::uint32_t> matching_order(const BoundQuery& query, const Estimates& estimates, const Plan& plan,
                                                        std::uint32_t anchor);

/// The query edge from which the planner wants to match a whole graph, if any. Throws Error(configuration) if there is no such
/// edge.
[[nodiscard]] std::optional<std::uint32_t> first_edge(const BoundQuery& query);

}  // namespace deltamatch::plan
