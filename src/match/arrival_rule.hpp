// Which changed matches of a pattern with WITHIN are reported.
//
// A match of edges that are older than the pattern's span has aged: it neither appears nor vanishes. So what is reported does
// not depend on where batches end. Let the span be that of WITHIN plus the allowed lateness, and let an edge be changed by a
// record. Then a match appears if its oldest edge plus the span is later than the running watermark after the last record that
// inserted one of its edges. It vanishes if the same holds for the first record that deleted one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "graph/data_graph.hpp"

namespace deltamatch::match {

class ArrivalRule {
 public:
  /// `changed`: the edges that the batch inserts, or those that it deletes, ascending. `marks`: for each of them the running
  /// watermark after its record, or INT64_MAX if no record changed it. `appears`: whether they are the inserted ones.
  ArrivalRule(std::span<const graph::Edge> changed, std::span<const Timestamp> marks, bool appears,
              const graph::EdgeTable& table, Timestamp span) noexcept
      : changed_(changed), marks_(marks), appears_(appears), table_(&table), span_(span) {}

  /// Whether to report a match with these edges. One without a time is not reported. O(edges * log changed).
  [[nodiscard]] bool admits(std::span<const graph::Edge> match) const noexcept {
    Timestamp oldest = INT64_MAX;
    Timestamp mark = appears_ ? INT64_MIN : INT64_MAX;
    for (const graph::Edge& edge : match) {
      const auto time = table_->time(edge.which);
      if (!time) return false;
      oldest = std::min(oldest, *time);
      const auto at = std::lower_bound(changed_.begin(), changed_.end(), edge);
      if (at == changed_.end() || *at != edge) continue;
      const Timestamp record = marks_[static_cast<std::size_t>(at - changed_.begin())];
      mark = appears_ ? std::max(mark, record) : std::min(mark, record);
    }
    Timestamp end = 0;
    if (__builtin_add_overflow(oldest, span_, &end)) return mark != INT64_MAX;
    return end > mark;
  }

 private:
  std::span<const graph::Edge> changed_;
  std::span<const Timestamp> marks_;
  bool appears_;
  const graph::EdgeTable* table_;
  Timestamp span_;
};

}  // namespace deltamatch::match
