// Reports what filtering did in a static match.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal/json_writer.hpp"
#include "deltamatch/filter.hpp"

namespace deltamatch::cli {

/// Writes the key "filter" and its object. Writes nothing if no step was run.
void write_filter(JsonWriter& json, const FilterReport& filter);

/// Lines for people, with line ends: candidates and time of each step. Empty if no step was run.
[[nodiscard]] std::string filter_text(std::string_view query, const FilterReport& filter);

}  // namespace deltamatch::cli
