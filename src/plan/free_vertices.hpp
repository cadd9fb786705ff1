// Inclusion and exclusion over free query vertices that could map to one data vertex although they must not.
//
// It sums over the partitions of the free vertices into blocks that could be one data vertex. The coefficient is the Moebius
// function of the partition lattice (Rota). This is exact if all terms put the same condition on an assignment of vertices. So
// a query edge must admit the same pairs at whichever end it is read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/factors.hpp"

namespace deltamatch::plan {

/// Returns the partitions of the free vertices into blocks that may be one data vertex. Nullopt if there are too many, or if
/// labels overlap without being equal (a merged vertex would need the labels of both).
[[nodiscard]] std::optional<std::vector<std::vector<Mask>>> partitions(const BoundQuery& query,
                                                                       const std::vector<std::uint32_t>& free);

/// The coefficient of a partition in the sum.
[[nodiscard]] std::int64_t moebius(const std::vector<Mask>& blocks);

/// Finds twins: free vertices that are interchangeable and join only matched vertices. They are chosen as sets, so they need no
/// inclusion and exclusion among themselves. Returns the groups of at least two with which no other free vertex may coincide,
/// and removes them from `free`.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> take_twins(const BoundQuery& query, std::uint32_t anchor,
                                                                 const std::vector<Mask>& positions,
                                                                 std::vector<std::uint32_t>& free);

/// Returns the factors that choose such groups. Divides `divisor` by the number of exchanges within the groups.
[[nodiscard]] std::vector<Factor> choose_twins(const FactorBuilder& builder,
                                               const std::vector<std::vector<std::uint32_t>>& groups,
                                               const std::vector<Mask>& positions, Count& divisor);

/// Whether sums are impossible. This holds if the choice of data edges matters beyond the vertices, if missing
/// edges matter, or if the query has conditions.
[[nodiscard]] bool must_enumerate(const BoundQuery& query);

}  // namespace deltamatch::plan
