// Free query vertices that might coincide although they must not.
//
// They are corrected by inclusion and exclusion over the partitions of the free vertices into blocks that could be one data
// vertex, with the Moebius function of the partition lattice (Rota) as coefficient. That is exact where all terms hold an
// assignment of vertices to one and the same condition: a query edge must admit the same pairs at whichever end it is read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/factors.hpp"

namespace deltamatch::plan {

/// The partitions of the free vertices into blocks that may be one data vertex; nullopt where there are too many, or where
/// labels overlap without being equal (a merged vertex would need the labels of both).
[[nodiscard]] std::optional<std::vector<std::vector<Mask>>> partitions(const BoundQuery& query,
                                                                       const std::vector<std::uint32_t>& free);

/// The coefficient of a partition.
[[nodiscard]] std::int64_t moebius(const std::vector<Mask>& blocks);

/// Free vertices that are alike and join matched vertices only: chosen as sets, they need no inclusion and exclusion among
/// themselves. Returns the groups of at least two that no other free vertex may coincide with, and takes them out of `free`.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> take_twins(const BoundQuery& query, std::uint32_t anchor,
                                                                 const std::vector<Mask>& positions,
                                                                 std::vector<std::uint32_t>& free);

/// The factors that choose such groups; divides `divisor` by the exchanges that they leave out.
[[nodiscard]] std::vector<Factor> choose_twins(const FactorBuilder& builder,
                                               const std::vector<std::vector<std::uint32_t>>& groups,
                                               const std::vector<Mask>& positions, Count& divisor);

/// Whether which data edges are taken matters beyond the vertices, or edges that the query has not: there is no sum then.
[[nodiscard]] bool must_enumerate(const BoundQuery& query);

}  // namespace deltamatch::plan
