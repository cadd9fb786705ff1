// Nets a batch: the last state of each edge counts, and edges that the window has passed are removed.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "deltamatch/id.hpp"
#include "deltamatch/result.hpp"
#include "deltamatch/update.hpp"
#include "graph/batch_look_up.hpp"
#include "graph/data_graph.hpp"
#include "graph/window.hpp"

namespace deltamatch::graph {

/// An existing edge that gets another time.
struct Refresh {
  Edge edge;
  Timestamp time;
};

struct ResolvedBatch {
  NetBatch net;
  std::size_t consumed = 0;
  bool cut = false;  ///< the batch ends before the update `consumed`; the rest is another batch
  std::uint64_t expired = 0;
  std::uint64_t out_of_order = 0;  ///< insertions of edges that came later than is allowed (BatchResolver::count_late)
  std::vector<Expired> passed{};   ///< edges that the watermark passes in this batch, ascending; all are removed by it
  Ignored ignored;
  std::vector<Reject> rejects;
  std::optional<Timestamp> watermark;
  /// Some vertex continues under a fresh number, because it has another label now. So an edge of it may be both removed and
  /// inserted in the net batch. A match that both labels allow then appears to vanish and to appear.
  bool rebound = false;
  /// Some edge has another version now, under another slot. A match that both versions allow appears to vanish and to appear.
  bool replaced = false;
  /// If marks are wanted, by edge of the net batch: the running watermark after the record that changed it. INT64_MAX: none
  /// did.
  std::vector<Timestamp> inserted_marks;
  std::vector<Timestamp> removed_marks;

  /// Whether a match may be in both lists of the batch, so that only listing tells what has changed.
  [[nodiscard]] bool renumbered() const noexcept { return rebound || replaced; }
};

/// When edges expire.
struct Expiry {
  std::optional<Timestamp> at;  ///< the watermark at which edges expire
  /// By update, the running watermark at which an edge that it inserts is late. It ascends. Empty: `at` for all.
  std::span<const Timestamp> running{};
};

/// Nets one batch at a time against the settled graph.
class BatchNetting {
 public:
  /// Maps the fresh number of each vertex that was rebound in this batch to its old number. The old number has edges only as
  /// the earlier self of the fresh one.
  using Origins = boost::unordered_flat_map<VertexId, VertexId>;

  /// All arguments must outlive it; `window` may be null.
  BatchNetting(const DataGraph& graph, Window* window, Workers& workers)
      : graph_(&graph), window_(window), workers_(&workers) {}

  /// Makes `result.net` from the edge updates of a batch.
  /// - `foreseen` says, by update, which ones the look-up knows rightly, so that they need no entries. It may become more.
  /// - `entries` are the other updates in any order. They are sorted, and entries may be added or taken away.
  /// - `unknown_deletes` are indices of deletions whose vertices or label were unknown when they were read.
  /// - `expiry` says at which watermark edges of the window expire.
  /// - `result` must have its watermark and `rebound`. Counts of ignored and expired updates are added to it.
  /// - `look_up` must be finished, for this batch.
  ///
  /// If an end of an edge was rebound and the edge exists before and after, it is both removed and inserted. It keeps its time.
  /// O(n log n), where n includes the edges of rebound vertices.
  void run(std::span<const Update> updates, const BatchLookUp& look_up, std::span<std::uint8_t> foreseen, EdgeUpdates& entries,
           std::span<const std::uint32_t> unknown_deletes, const Origins& origins, const Expiry& expiry, ResolvedBatch& result);
  /// Records the edges of the last batch in the window, in order of their updates, which is nearly that of their times. It does
  /// no harm if the batch is undone.
  void note_in_window();
  void set_window(Window* window) noexcept { window_ = window; }
  /// The refreshes of the last batch, by rank.
  [[nodiscard]] std::span<const Refresh> refreshes() const noexcept { return refreshes_; }
  /// The edge of the settled graph with the numbers that its ends have after the last batch.
  [[nodiscard]] Edge now(const Edge& edge) const { return graph_->ranked(now(edge.tail), now(edge.head), edge.which); }
  void clear() noexcept;
  /// In the model `simple`: the edges that records of the last batch insert, and the update that began the life of each. By
  /// rank, unless a vertex was rebound.
  [[nodiscard]] std::span<const EdgeUpdate> arrivals() const noexcept { return arrivals_; }
  /// The first update of the last batch that a batch may not hold together with those before it. Either an edge of this batch
  /// expires there, or the update inserts an edge anew that has expired in this batch. SIZE_MAX: none.
  [[nodiscard]] std::size_t conflict() const noexcept { return conflict_; }
  /// Whether an edge of that time has expired at the end of the batch that was netted last.
  [[nodiscard]] bool expired(Timestamp time) const noexcept {
    return window_ != nullptr && expiry_.at && window_->dead(time, *expiry_.at);
  }

 private:
  struct UnknownEdge {  // an edge that a deletion names and the graph has never had
    Id source;
    Id target;
    std::string_view label;
    friend auto operator<=>(const UnknownEdge&, const UnknownEdge&) = default;
  };

  struct Noted {  // an edge that the window is to remember
    Edge edge;
    Timestamp time;
    std::uint32_t index;  // of the last update that names the edge, or no_update
  };
  static constexpr std::uint32_t no_update = 0xffffffff;
  /// What a range of the batch's edges nets to, by one thread.
  struct Share {
    std::vector<EdgeUpdate> entries;             // of the range, in order
    std::vector<std::uint32_t> begins;           // where the entries of an edge begin
    std::vector<std::optional<Timestamp>> live;  // by edge: its time in the settled graph
    NetBatch net;
    Ignored ignored;
    std::vector<Refresh> refreshes;
    std::vector<EdgeUpdate> arrivals;
    std::vector<Noted> noted;
    std::size_t conflict = SIZE_MAX;
    void clear() noexcept;
  };
  struct Range {  // of edges; it ends where the next one begins
    std::size_t foreseen;
    std::size_t entry;
  };

  void resolve(std::span<const std::uint32_t> unknown_deletes, EdgeUpdates& entries);
  void sort(const BatchLookUp& look_up, EdgeUpdates& entries);
  /// Calls take(entry) for the edge updates of both spans that count, in order.
  template <class Take>
  void merge(std::span<const EdgeUpdate> foreseen, std::span<const EdgeUpdate> entries, Take&& take) const;
  void cut_ranges(std::span<const EdgeUpdate> foreseen, std::span<const EdgeUpdate> entries);
  void net_range(std::span<const EdgeUpdate> foreseen, std::span<const EdgeUpdate> entries, Share& share) const;
  void find_live(Share& share) const;
  void gather();
  /// Nets the updates of one edge. `settled`: its time in the settled graph, if it is there.
  void net(std::span<const EdgeUpdate> entries, std::optional<Timestamp> settled, Share& share) const;
  /// The same for an edge with a slot. `live`: whether it is in the settled graph. A slot has one insertion at most, which
  /// comes first, and one removal at most.
  void net_slot(std::span<const EdgeUpdate> entries, bool live, Share& share) const;
  void name_by_origin(const Origins& origins, EdgeUpdates& entries);
  void move_untouched(std::span<const EdgeUpdate> entries, Share& moved) const;
  void insert(const Edge& edge, Timestamp time, std::uint32_t index, Share& share) const;
  void put_in_order();
  [[nodiscard]] VertexId now(VertexId vertex) const;
  void expire();
  [[nodiscard]] bool late(Timestamp time, std::uint32_t index) const noexcept {
    if (expiry_.running.empty()) return expired(time);
    return window_ != nullptr && window_->dead(time, expiry_.running[index]);
  }
  /// Whether an edge of that time has expired before the update's record.
  [[nodiscard]] bool gone_before(Timestamp time, std::uint32_t index) const noexcept;
  /// The first update at which an edge of that time has expired, if the batch inserts it.
  [[nodiscard]] std::size_t end_of(Timestamp time) const noexcept;
  [[nodiscard]] bool inserts(std::uint32_t index) const noexcept { return updates_[index].kind == UpdateKind::insert_edge; }

  const DataGraph* graph_;
  Window* window_;
  Workers* workers_;
  std::span<const Update> updates_;  // these and result_ are valid while it runs
  std::span<std::uint8_t> foreseen_;
  EdgeUpdates merged_;
  EdgeUpdateSort sort_;
  std::vector<Range> ranges_;  // followed by one sentinel
  std::vector<Share> shares_;  // by range, then that of edges that no update names; they keep their memory
  std::vector<Refresh> refreshes_;
  std::vector<const Noted*> noted_;  // by update; work memory
  std::size_t conflict_ = SIZE_MAX;
  std::vector<EdgeUpdate> arrivals_;
  boost::unordered_flat_map<VertexId, VertexId> moved_;  // fresh numbers by old number
  ResolvedBatch* result_ = nullptr;
  Expiry expiry_;
};

}  // namespace deltamatch::graph
