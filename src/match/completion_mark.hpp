// At which watermark a batch completes a match.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "deltamatch/id.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::match {

/// The running watermark after the record that inserts the last edge of a match; INT64_MIN if the batch inserts none. That is
/// not the time of an edge if a record is late, or far ahead. `inserted`: the edges that the batch inserts, ascending. `marks`:
/// for each of them the running watermark after its record. O(edges * log inserted).
[[nodiscard]] inline Timestamp completion_mark(std::span<const graph::Edge> inserted, std::span<const Timestamp> marks,
                                               std::span<const graph::Edge> match) noexcept {
  Timestamp mark = INT64_MIN;
  for (const graph::Edge& edge : match) {
    const auto at = std::ranges::lower_bound(inserted, edge);
    if (at != inserted.end() && *at == edge) mark = std::max(mark, marks[static_cast<std::size_t>(at - inserted.begin())]);
  }
  return mark;
}

}  // namespace deltamatch::match
