// Draws queries with paths, for the property tests.
#pragma once

#include <string>
#include <vector>

#include "property/scenario.hpp"

namespace deltamatch::property {

/// Replaces the query by one with one or two paths, keeping its name, its options and WITHIN. All of its variants are small.
void draw_paths(const Schema& schema, const std::vector<std::string>& labels, bool directed, Standing& standing);

}  // namespace deltamatch::property
