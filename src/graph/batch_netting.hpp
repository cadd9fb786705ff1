// What is left of a batch's updates to edges: the last state of each edge counts, and what the window leaves behind goes too.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "deltamatch/engine.hpp"
#include "graph/batch_look_up.hpp"
#include "graph/data_graph.hpp"
#include "graph/window.hpp"

namespace deltamatch::graph {

/// A live edge that is given another time.
struct Refresh {
  Edge edge;
  Timestamp time;
};

struct ResolvedBatch {
  NetBatch net;
  std::size_t consumed = 0;
  std::uint64_t expired = 0;
  Ignored ignored;
  std::vector<Reject> rejects;
  std::optional<Timestamp> watermark;
  /// A vertex goes on under a fresh number, since it bears another label. So an edge of it may be in both halves of the net
  /// batch, and a match that no label forbids then seems to vanish and to appear.
  bool rebound = false;
};

/// Nets one batch at a time against the settled graph.
class BatchNetting {
 public:
  /// By the fresh number of a vertex that was rebound in this batch: the number before. The number before bears edges only as
  /// the fresh one's earlier self.
  using Origins = boost::unordered_flat_map<VertexId, VertexId>;

  /// All outlive it; `window` may be null.
  BatchNetting(const DataGraph& graph, Window* window, Workers& workers)
      : graph_(&graph), window_(window), workers_(&workers) {}

  /// Makes `result.net` of the updates of edges that were read, in any order: `entries`, which are put in order and added to,
  /// and `unknown_deletes`, by index, whose vertices or label were unknown when they were read. Adds to what `result` says
  /// was ignored or has expired; watermark and `rebound` are given. The look-up is finished, of this batch. What it notes in
  /// the window does no harm where the batch does not happen. An edge that lives before and after is in both halves where an
  /// end has been rebound; its time is kept. O(n log n), n with the edges of rebound vertices.
  void run(std::span<const Update> updates, const BatchLookUp& look_up, std::vector<EdgeUpdate>& entries,
           std::span<const std::uint32_t> unknown_deletes, const Origins& origins, ResolvedBatch& result);
  /// Of the batch that was netted last, by rank.
  [[nodiscard]] std::span<const Refresh> refreshes() const noexcept { return refreshes_; }
  void clear() noexcept;

 private:
  struct UnknownEdge {  // that a deletion names and the graph has never seen
    Id source;
    Id target;
    std::string_view label;
    friend auto operator<=>(const UnknownEdge&, const UnknownEdge&) = default;
  };

  void resolve(std::span<const std::uint32_t> unknown_deletes, std::vector<EdgeUpdate>& entries);
  void sort(const BatchLookUp& look_up, std::vector<EdgeUpdate>& entries);
  void find_live(std::span<const EdgeUpdate> entries);
  /// The updates of one edge; whether it is in the settled graph.
  void net(std::span<const EdgeUpdate> entries, bool live);
  void name_by_origin(const Origins& origins, std::vector<EdgeUpdate>& entries);
  void move_untouched(std::span<const EdgeUpdate> entries);
  void insert(const Edge& edge, Timestamp time);
  void put_in_order();
  [[nodiscard]] VertexId now(VertexId vertex) const;
  [[nodiscard]] Edge now(const Edge& edge) const { return graph_->ranked(now(edge.tail), now(edge.head), edge.label); }
  void expire();
  [[nodiscard]] bool inserts(std::uint32_t index) const noexcept { return updates_[index].kind == UpdateKind::insert_edge; }

  const DataGraph* graph_;
  Window* window_;
  Workers* workers_;
  std::span<const Update> updates_;  // these and the result while it runs
  std::vector<EdgeUpdate> merged_;
  std::vector<EdgeUpdate> spare_;       // that sorting works in
  std::vector<std::uint8_t> foreseen_;  // by update
  std::vector<std::uint8_t> live_;      // by entry
  std::vector<Refresh> refreshes_;
  std::vector<Edge> expired_;
  boost::unordered_flat_map<VertexId, VertexId> moved_;  // fresh numbers by the number before
  ResolvedBatch* result_ = nullptr;
};

}  // namespace deltamatch::graph
