// Looks up the vertices and labels of a batch's updates in the dictionary, and sorts the batch's edges.
//
// This is all that netting needs and that does not read the graph's lists. So it can run while the batch before is still being
// matched.
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
#include "graph/scatter_sort.hpp"

namespace deltamatch::graph {

/// One update of one edge. Ascending order puts the updates of an edge side by side, the latest last.
struct EdgeUpdate {
  Edge edge;
  std::uint32_t index;  ///< of the update in the batch
  friend auto operator<=>(const EdgeUpdate&, const EdgeUpdate&) = default;
};

struct EdgeUpdateOrder {
  __extension__ using Key = unsigned __int128;
  static VertexId vertex(const EdgeUpdate& update) noexcept { return update.edge.tail; }
  static Key key(const EdgeUpdate& update) noexcept {
    const std::uint64_t ends = std::uint64_t{update.edge.tail} << 32 | update.edge.head;
    return static_cast<Key>(ends) << 64 | (std::uint64_t{update.edge.which} << 32 | update.index);
  }
};
using EdgeUpdateSort = ScatterSort<EdgeUpdate, EdgeUpdateOrder>;
using EdgeUpdates = EdgeUpdateSort::Items;

/// The look-ups of one batch at a time. Only one thread may call it at a time. It may be another thread than the matching one,
/// as long as no thread changes the graph's dictionary and labels. The results are as of the look-up. A later user must handle
/// what has changed since.
class BatchLookUp {
 public:
  /// The look-up results of one update. The target is set for edges only, and nothing for a deletion that a key describes.
  struct Ends {
    std::uint32_t source_hash = 0;
    std::uint32_t target_hash = 0;
    VertexId source = invalid_vertex;
    VertexId target = invalid_vertex;
    LabelId label = no_label;
  };
  static constexpr LabelId no_label = 0xffffffff;  ///< not known yet, or the update is not of an edge
  /// The update is of a self-loop that a graph of the model `simple` does not keep. Its ends are not looked up.
  static constexpr LabelId loop = 0xfffffffe;

  /// Looks up what is missing of this batch, and forgets any other batch. Ends soon after a stop request. May run out of
  /// memory; the next call continues. O(n log n).
  void run(const DataGraph& graph, const UpdateBatch& batch, const std::stop_token& stop);

  /// Whether some of this batch, as it is now, has been looked up with the current vertex numbers and has not been finished.
  [[nodiscard]] bool knows(const DataGraph& graph, const UpdateBatch& batch) const noexcept {
    return edition_ == batch.edition() && numbering_ == graph.dictionary.numbering();
  }

  /// Whether edge labels have kept their numbers since this batch was first looked up.
  [[nodiscard]] bool labels_hold(const DataGraph& graph) const noexcept { return labels_ == graph.edge_labels.edition(); }

  /// Looks up the rest, at least of the first `count` updates. The results can be read until the next run or finish. These
  /// start again from nothing, even for the same batch. They also do so if this call runs out of memory.
  void finish(const DataGraph& graph, const UpdateBatch& batch, std::size_t count, Workers& workers);

  /// The results for an update of a finished batch.
  [[nodiscard]] const Ends& operator[](std::size_t index) const noexcept { return ends_[index]; }
  /// The edge updates of a finished batch whose vertices and label are all known, in order. They may go on behind what was
  /// asked for.
  [[nodiscard]] std::span<const EdgeUpdate> sorted() const noexcept { return sorted_; }
  /// The number of updates of self-loops that the graph does not keep, among those.
  [[nodiscard]] std::size_t loops() const noexcept { return loops_; }
  /// Whether the edge update is among the sorted ones.
  [[nodiscard]] bool predicted(const DataGraph& graph, const EdgeUpdate& update) const noexcept {
    const Ends& ends = ends_[update.index];
    return graph.model() == EdgeModel::simple && ends.label != no_label && ends.source != invalid_vertex &&
           ends.target != invalid_vertex && graph.ranked(ends.source, ends.target, ends.label) == update.edge;
  }

 private:
  void open(const DataGraph& graph, const UpdateBatch& batch);
  std::size_t look_up(const DataGraph& graph, std::span<const Update> updates, std::size_t begin, std::size_t end,
                      const std::stop_token& stop);
  void put_in_order(const DataGraph& graph, Workers& workers);

  std::uint64_t edition_ = 0;    // of the batch; 0: no batch
  std::uint64_t numbering_ = 0;  // numbering of the dictionary
  std::uint64_t labels_ = 0;     // edition of the edge labels
  std::size_t done_ = 0;         // number of updates looked up
  bool in_order_ = false;        // sorted_ is complete
  std::size_t loops_ = 0;
  std::vector<Ends> ends_;
  EdgeUpdates sorted_;
  EdgeUpdateSort sort_;
};

}  // namespace deltamatch::graph
