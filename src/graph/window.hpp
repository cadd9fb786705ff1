// Sliding window by event time: which live edges have outlived it.
//
// Needs a timed graph: the time an edge bears is the truth, entries here only say when to look. An entry is made for each edge
// that comes to live; entries of edges that were deleted or refreshed meanwhile are found stale and dropped or put off, so
// neither deletion nor refresh nor roll-back has to find anything here. Entries wait unsorted in buckets of a 64th of the
// window; the bucket under the watermark's edge is a heap. O(1) per insert, O(log bucket) per expiry.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "deltamatch/id.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::graph {

class Window {
 public:
  /// `span` > 0, in microseconds.
  explicit Window(Timestamp span);

  /// Whether an edge of that time is dead at the watermark.
  [[nodiscard]] bool dead(Timestamp time, Timestamp watermark) const noexcept;

  /// Notes an edge that comes to live, or is given an earlier time. An edge that does not come to live after all does no harm.
  void note(const Edge& edge, Timestamp time);

  /// Appends to `expired`, without duplicates and by rank, all live edges of the settled graph that are dead at the watermark.
  /// Until `commit`, `undo` makes the next call find them again.
  void collect(const DataGraph& graph, Timestamp watermark, std::vector<Edge>& expired);
  void commit() noexcept { taken_.clear(); }
  void undo() noexcept;

  [[nodiscard]] Timestamp span() const noexcept { return span_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Entry {
    Timestamp time;
    Edge edge;
    friend bool operator>(const Entry& a, const Entry& b) noexcept { return a.time > b.time; }
  };
  [[nodiscard]] Timestamp bucket_of(Timestamp time) const noexcept;

  Timestamp span_;
  Timestamp bucket_span_;
  Timestamp front_ = INT64_MIN;  // buckets up to this one are in the heap
  std::vector<Entry> heap_;      // least time on top
  std::vector<Entry> taken_;     // by collect, since the last commit
  std::map<Timestamp, std::vector<Entry>> buckets_;
};

}  // namespace deltamatch::graph
