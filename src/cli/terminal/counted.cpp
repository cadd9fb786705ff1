#include "cli/terminal/counted.hpp"

#include <fmt/format.h>

#include "cli/terminal/values.hpp"

namespace deltamatch::cli {

std::string counted(Count count, std::string_view noun, std::string_view plural) {
  return fmt::format("{} {}", grouped(count), count == 1 ? noun : plural);
}

std::string graph_size(Count vertices, Count edges) {
  return fmt::format("{}, {}", counted(vertices, "vertex", "vertices"), counted(edges, "edge", "edges"));
}

}  // namespace deltamatch::cli
