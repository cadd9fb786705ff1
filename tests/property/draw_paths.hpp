// Draws queries with paths, for the property tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "property/scenario.hpp"

namespace deltamatch::property {

/// Replaces the query by one with one or two paths, keeping its name, its options and WITHIN. All of its variants are small.
void draw_paths(const Schema& schema, const std::vector<std::string>& labels, bool directed, Standing& standing);

/// A comparison of the last edge of a query with any other. Or it compares the length of a path with a number.
/// `inside`: the path that it stands in, whose steps it may read.
[[nodiscard]] Expression draw_path_comparison(const Schema& schema, const Query& query, std::optional<std::uint32_t> inside);

}  // namespace deltamatch::property
