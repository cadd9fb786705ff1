// A sliding window by event time, which finds the live edges that have expired.
//
// It needs a timed graph. The time stored with an edge is the truth; an entry here says only when to check the edge. Each edge
// that is inserted gets an entry. If an edge was deleted or refreshed since, its entry is found to be stale, and it is dropped
// or postponed. So neither deletion nor refresh nor roll-back has to find entries here. Entries that come in order of time wait
// in a queue. Others wait unsorted in buckets of a 64th of the window, and the bucket at the watermark's edge is a heap. O(1)
// per insert. O(1) per expiry of an entry in the queue, O(log bucket) of others.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "deltamatch/id.hpp"
#include "graph/data_graph.hpp"
#include "graph/scatter_sort.hpp"

namespace deltamatch::graph {

/// An edge that expires in a batch, and when it was inserted last.
struct Expired {
  Edge edge;
  Timestamp time;
  friend auto operator<=>(const Expired&, const Expired&) = default;
};

class Window {
 public:
  /// `span` > 0, in microseconds.
  explicit Window(Timestamp span);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() = default;

  /// Whether an edge of that time has expired at the watermark.
  [[nodiscard]] bool dead(Timestamp time, Timestamp watermark) const noexcept;

  /// Records an edge that is inserted or gets an earlier time. An edge that is not inserted after all does no harm.
  void note(const Edge& edge, Timestamp time);

  /// Appends all live edges of the settled graph that have expired at the watermark, by rank and without duplicates. Until
  /// `commit`, `undo` makes the next call find them again. May run out of memory; then call `undo`.
  void collect(const DataGraph& graph, Timestamp watermark, std::vector<Expired>& expired);
  void commit() noexcept;
  void undo() noexcept;

  [[nodiscard]] Timestamp span() const noexcept { return span_; }
  /// How many entries wait. An edge has several if it was deleted and inserted again. O(buckets).
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Entry {
    Timestamp time;
    Edge edge;
    friend bool operator>(const Entry& a, const Entry& b) noexcept { return a.time > b.time; }
  };
  struct ExpiredOrder {  // by rank; entries of one edge are equal
    __extension__ using Key = unsigned __int128;
    static VertexId vertex(const Expired& each) noexcept { return each.edge.tail; }
    static Key key(const Expired& each) noexcept {
      return static_cast<Key>(std::uint64_t{each.edge.tail} << 32 | each.edge.head) << 32 | each.edge.which;
    }
  };
  using ExpiredSort = ScatterSort<Expired, ExpiredOrder>;
  [[nodiscard]] Timestamp bucket_of(Timestamp time) const noexcept;
  /// Puts the fresh entries where they wait, in order of time.
  void place_fresh();
  void place(const Entry& entry);
  /// Looks up the edges of entries that are due.
  void take(const DataGraph& graph, std::span<const Entry> due, Timestamp expired);
  /// Makes room in the heap for `more` entries, and for those that `undo` would bring back.
  void reserve_for(std::size_t more);

  Timestamp span_;
  Timestamp bucket_span_;
  std::vector<Entry> fresh_;     // noted since the last collect
  std::vector<Entry> later_;     // due in the last collect, but refreshed since they were noted
  std::vector<Entry> queue_;     // by time
  std::size_t next_ = 0;         // into queue_: those before it have been taken
  std::size_t committed_ = 0;    // the same at the last commit
  Timestamp front_ = INT64_MIN;  // buckets up to this one are in the heap
  std::vector<Entry> heap_;      // smallest time on top
  std::vector<Entry> taken_;     // from buckets and heap since the last commit
  std::map<Timestamp, std::vector<Entry>> buckets_;
  Timestamp last_bucket_ = 0;           // that got an entry last
  std::vector<Entry>* last_ = nullptr;  // its entries, unless it is gone
  ExpiredSort::Items found_;            // work memory
  ExpiredSort sort_;
};

}  // namespace deltamatch::graph
