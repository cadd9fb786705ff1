// What the dictionary says of a batch's updates, and the batch's edges in order: all that netting needs and that does not ask
// the lists of the graph. So it can be found out while the batch ahead is still being matched.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "base/parallel.hpp"
#include "base/types.hpp"
#include "deltamatch/update.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::graph {

/// One update of one edge. Ascending order puts the updates of an edge side by side, the latest last.
struct EdgeUpdate {
  Edge edge;
  std::uint32_t index;  ///< of the update in the batch
  friend auto operator<=>(const EdgeUpdate&, const EdgeUpdate&) = default;
};

/// O(n log n). `spare` is room to work in.
void sort_edge_updates(std::vector<EdgeUpdate>& updates, std::vector<EdgeUpdate>& spare, Workers& workers);

/// The look-ups of one batch at a time. One thread calls it at a time; while nobody changes dictionary and labels of the graph,
/// that may be another one than matches. What it tells is as of the look-up: who uses it later sees to what has changed since.
class BatchLookUp {
 public:
  /// Of an update. The target counts for edges only.
  struct Ends {
    std::uint32_t source_hash = 0;
    std::uint32_t target_hash = 0;
    VertexId source = invalid_vertex;
    VertexId target = invalid_vertex;
    LabelId label = no_label;
  };
  static constexpr LabelId no_label = 0xffffffff;  ///< not known yet, or not an edge's

  /// Looks up what is not looked up yet of this batch, of which alone it knows then; ends soon once it is to stop. May fail for
  /// want of memory; the next call goes on. O(n log n).
  void run(const DataGraph& graph, const UpdateBatch& batch, const std::stop_token& stop);

  /// Whether some of this batch, as it stands, has been looked up under the numbers that vertices bear now, and not finished.
  [[nodiscard]] bool knows(const DataGraph& graph, const UpdateBatch& batch) const noexcept {
    return edition_ == batch.edition() && numbering_ == graph.dictionary.numbering();
  }

  /// Whether the labels of edges have kept their numbers since this batch was first looked up.
  [[nodiscard]] bool labels_hold(const DataGraph& graph) const noexcept { return labels_ == graph.edge_labels.edition(); }

  /// Looks up the rest. All that is known can be read until the next run or finish, which begins anew, even for the same batch;
  /// so it does where this one fails for want of memory.
  void finish(const DataGraph& graph, const UpdateBatch& batch, Workers& workers);

  /// By update; of a finished batch.
  [[nodiscard]] const Ends& operator[](std::size_t index) const noexcept { return ends_[index]; }
  /// Updates of edges all of whose parts are known, in order; of a finished batch.
  [[nodiscard]] std::span<const EdgeUpdate> sorted() const noexcept { return sorted_; }
  /// Whether the edge update is among them.
  [[nodiscard]] bool foresaw(const DataGraph& graph, const EdgeUpdate& update) const noexcept {
    const Ends& ends = ends_[update.index];
    return ends.label != no_label && ends.source != invalid_vertex && ends.target != invalid_vertex &&
           graph.ranked(ends.source, ends.target, ends.label) == update.edge;
  }

 private:
  void open(const DataGraph& graph, const UpdateBatch& batch);
  std::size_t look_up(const DataGraph& graph, std::span<const Update> updates, std::size_t begin, std::size_t end,
                      const std::stop_token& stop);
  void put_in_order(const DataGraph& graph, Workers& workers);

  std::uint64_t edition_ = 0;    // of the batch; 0: of none
  std::uint64_t numbering_ = 0;  // of the dictionary
  std::uint64_t labels_ = 0;     // edition of the edge labels
  std::size_t done_ = 0;         // updates looked up
  bool in_order_ = false;        // sorted_ is made
  std::vector<Ends> ends_;
  std::vector<EdgeUpdate> sorted_;
  std::vector<EdgeUpdate> spare_;  // that sorting works in
};

}  // namespace deltamatch::graph
