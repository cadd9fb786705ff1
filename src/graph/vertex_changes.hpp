// The vertices that a batch creates, gives up or changes.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "graph/attribute_table.hpp"

namespace deltamatch::graph {

struct VertexChanges {
  /// A vertex without edges before the batch that had another label or other attributes then, under the same number.
  struct Former {
    VertexId vertex;
    LabelId label;
    std::span<const Word> values;  ///< empty: they are the same
  };
  std::vector<VertexId> arriving;  ///< there after the batch only; ascending, as are the others
  std::vector<VertexId> leaving;   ///< there before the batch only
  std::vector<Former> former;

  [[nodiscard]] bool empty() const noexcept { return arriving.empty() && leaving.empty() && former.empty(); }
  [[nodiscard]] const Former* former_of(VertexId vertex) const noexcept {
    const auto at = std::ranges::lower_bound(former, vertex, {}, &Former::vertex);
    return at != former.end() && at->vertex == vertex ? &*at : nullptr;
  }
  /// Whether the vertex is one of them.
  [[nodiscard]] bool touches(VertexId vertex) const noexcept {
    return std::ranges::binary_search(arriving, vertex) || std::ranges::binary_search(leaving, vertex) ||
           former_of(vertex) != nullptr;
  }
};

}  // namespace deltamatch::graph
