// The oracle's own reading of paths: what a query means for each choice of lengths. It shares no code with src/query/paths.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "deltamatch/query.hpp"
#include "support/conditions.hpp"

namespace deltamatch::oracle {

/// A query for one choice of lengths.
struct Variant {
  Query query;                                    ///< without paths; its condition only tells which automorphisms it has
  std::vector<std::vector<std::uint32_t>> steps;  ///< by edge of the query with paths: its edges here
  std::vector<std::uint32_t> lengths;             ///< of the paths
};

/// All choices of lengths, also those that no match can have.
[[nodiscard]] std::vector<Variant> variants_of(const Query& query);

/// Whether a match satisfies the query's condition, and each step that of its path. Interprets the conditions as they are.
/// `values` reads the edges of the variant.
[[nodiscard]] bool satisfies(const Query& query, const Variant& variant, Values values);

}  // namespace deltamatch::oracle
