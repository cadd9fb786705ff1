// Which matches appear and vanish within one batch.
//
// An edge expires when the running watermark reaches its time plus the window. A match may have edges that expire in a batch
// and edges that the batch inserts. It has existed if all its edges were alive after the record that inserted the last of them.
// It then appears at that record and vanishes before the batch ends. Batches of one record each would report the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "graph/data_graph.hpp"
#include "graph/window.hpp"

namespace deltamatch::match {

class TransientRule {
 public:
  /// `inserted`: the edges that the batch inserts; `marks`: for each the running watermark after its record. `removed`: the
  /// edges that it removes; `expired`: those of them that expire. All ascend and must outlive the rule, as the window must.
  TransientRule(std::span<const graph::Edge> inserted, std::span<const Timestamp> marks, std::span<const graph::Edge> removed,
                std::span<const graph::Expired> expired, const graph::Window& window) noexcept
      : inserted_(inserted), marks_(marks), removed_(removed), expired_(expired), window_(&window) {}

  /// Whether a match with these edges, one of which is inserted, appears and vanishes. O(edges * log changed).
  [[nodiscard]] bool admits(std::span<const graph::Edge> match) const noexcept {
    Timestamp oldest = INT64_MAX;
    Timestamp mark = INT64_MIN;
    bool expires = false;
    for (const graph::Edge& edge : match) {
      if (const auto at = std::ranges::lower_bound(inserted_, edge); at != inserted_.end() && *at == edge) {
        mark = std::max(mark, marks_[static_cast<std::size_t>(at - inserted_.begin())]);
        continue;
      }
      const auto passed = std::ranges::lower_bound(expired_, edge, {}, &graph::Expired::edge);
      if (passed != expired_.end() && passed->edge == edge) {
        oldest = std::min(oldest, passed->time);
        expires = true;
      } else if (std::ranges::binary_search(removed_, edge)) {
        return false;  // a record deletes it
      }
    }
    return expires && !window_->dead(oldest, mark);
  }

 private:
  std::span<const graph::Edge> inserted_;
  std::span<const Timestamp> marks_;
  std::span<const graph::Edge> removed_;
  std::span<const graph::Expired> expired_;
  const graph::Window* window_;
};

}  // namespace deltamatch::match
