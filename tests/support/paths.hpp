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
  std::uint32_t vertices = 0;                     ///< those of the query with paths, which come first
  std::vector<std::vector<std::uint32_t>> steps;  ///< by edge of the query with paths: its edges here
  std::vector<std::uint32_t> lengths;             ///< of the paths
};

/// The edges of the variant that an edge of the query stands for, and those behind the query's for an edge behind its own.
[[nodiscard]] std::vector<std::uint32_t> steps_of(const Variant& variant, std::uint32_t edge);

/// All choices of lengths, also those that no match can have.
[[nodiscard]] std::vector<Variant> variants_of(const Query& query);

/// Whether a match satisfies the query's condition, and each step that of its path. Interprets the conditions as they are.
/// `values` reads the edges of the variant, and has its steps.
[[nodiscard]] bool satisfies(const Query& query, const Variant& variant, const Values& values);

}  // namespace deltamatch::oracle
