// Counts of things, as people say them.
#pragma once

#include <string>
#include <string_view>

#include "deltamatch/count.hpp"

namespace deltamatch::cli {

/// "1 edge", "1,200 edges".
[[nodiscard]] std::string counted(Count count, std::string_view noun, std::string_view plural);
/// "4 vertices, 1 edge".
[[nodiscard]] std::string graph_size(Count vertices, Count edges);

}  // namespace deltamatch::cli
