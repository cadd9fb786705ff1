// What filtering did, in the report of a static match.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal/json_writer.hpp"
#include "deltamatch/filter.hpp"

namespace deltamatch::cli {

/// The key "filter" with its object; nothing where no step was run.
void write_filter(JsonWriter& json, const FilterReport& filter);

/// Lines for people, ended: candidates and time by step. Empty where no step was run.
[[nodiscard]] std::string filter_text(std::string_view query, const FilterReport& filter);

}  // namespace deltamatch::cli
