// Which edges last through a batch: those that no record deletes. They are in the graph before it or after it, or in both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "graph/data_graph.hpp"
#include "graph/window.hpp"

namespace deltamatch::match {

struct LastingEdges {
  std::span<const graph::Edge> gone{};        ///< edges that records delete, ascending
  std::span<const graph::Expired> expired{};  ///< edges that the window passes in the batch, ascending
  Timestamp dead = INT64_MIN;                 ///< expired edges of this time or older do not count

  /// Of an edge of the graph before the batch or after it.
  [[nodiscard]] bool admits(const graph::Edge& edge) const noexcept {
    if (std::ranges::binary_search(gone, edge)) return false;
    const auto passed = std::ranges::lower_bound(expired, edge, {}, &graph::Expired::edge);
    return passed == expired.end() || passed->edge != edge || passed->time > dead;
  }
};

}  // namespace deltamatch::match
