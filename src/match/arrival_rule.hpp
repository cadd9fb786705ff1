// Which changed matches of a pattern with WITHIN are reported.
//
// A match of edges that are older than the pattern's span has aged: it neither appears nor vanishes. So what is reported does
// not depend on where batches end. Let the span be that of WITHIN plus the allowed lateness. A match appears if the time of
// its oldest edge plus the span is later than a watermark. That is the running one after the last record that inserted one of
// its edges. It vanishes if the same holds for the first record that deleted one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/data_graph.hpp"

namespace deltamatch::match {

/// The running watermarks of one pass over a batch.
class ArrivalMarks {
 public:
  /// `changed`: the edges that the batch inserts, or those that it deletes, ascending. `marks`: for each of them the running
  /// watermark after its record, or INT64_MAX if no record changed it. `appears`: whether they are the inserted ones. Both
  /// spans and the table must outlive it. O(changed).
  ArrivalMarks(std::span<const graph::Edge> changed, std::span<const Timestamp> marks, bool appears,
               const graph::EdgeTable& table)
      : changed_(changed), marks_(marks), appears_(appears), table_(&table) {
    for (std::size_t i = 0; appears && i < changed.size(); ++i) {
      if (table.time(changed[i].which) != marks[i]) odd_.push_back(changed[i].which);
    }
    std::ranges::sort(odd_);
  }

 private:
  friend class ArrivalRule;

  std::span<const graph::Edge> changed_;
  std::span<const Timestamp> marks_;
  bool appears_;
  const graph::EdgeTable* table_;
  std::vector<graph::Slot> odd_;  // inserted edges whose time is not the watermark after their record, ascending
};

class ArrivalRule {
 public:
  /// `marks` must outlive it.
  ArrivalRule(const ArrivalMarks& marks, Timestamp span) noexcept : marks_(&marks), span_(span) {}

  /// Whether it admits all new matches. Let every inserted edge move the watermark to its own time. Then the newest edge of a
  /// match is at the mark or later, and WITHIN keeps all its edges within the span.
  [[nodiscard]] bool admits_all() const noexcept { return marks_->appears_ && marks_->odd_.empty(); }

  /// Whether to report a match with these edges. One without a time is not reported. O(edges * log changed).
  [[nodiscard]] bool admits(std::span<const graph::Edge> match) const noexcept {
    if (admits_all()) return true;
    const auto odd = [&](const graph::Edge& edge) { return std::ranges::binary_search(marks_->odd_, edge.which); };
    if (marks_->appears_ && std::ranges::none_of(match, odd)) return true;
    Timestamp oldest = INT64_MAX;
    Timestamp mark = marks_->appears_ ? INT64_MIN : INT64_MAX;
    const std::span<const graph::Edge> changed = marks_->changed_;
    for (const graph::Edge& edge : match) {
      const auto time = marks_->table_->time(edge.which);
      if (!time) return false;
      oldest = std::min(oldest, *time);
      const auto at = std::lower_bound(changed.begin(), changed.end(), edge);
      if (at == changed.end() || *at != edge) continue;
      const Timestamp record = marks_->marks_[static_cast<std::size_t>(at - changed.begin())];
      mark = marks_->appears_ ? std::max(mark, record) : std::min(mark, record);
    }
    Timestamp end = 0;
    if (__builtin_add_overflow(oldest, span_, &end)) return mark != INT64_MAX;
    return end > mark;
  }

 private:
  const ArrivalMarks* marks_;
  Timestamp span_;
};

}  // namespace deltamatch::match
