// The data edges from which the plans of a whole-graph match start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "graph/data_graph.hpp"
#include "match/enumerator.hpp"
#include "match/matcher.hpp"

namespace deltamatch::engine {

/// All edges of the settled graph that some plan of the task admits as its anchor, by their labels. Each comes once, parallel
/// ones too. They ascend by tail, or by slot if they have slots. Lists are kept by label, so a list that no plan admits is
/// skipped as a whole.
///
/// If lists are lent in place of those that the anchors read, the edges in the lent lists are used. All anchors are then images
/// of one query edge. Everything it is given must outlive it.
class AnchorEdges {
 public:
  AnchorEdges(const graph::DataGraph& graph, const match::QueryTask& task, Workers& workers, const match::StopFlag& stop);

  /// The number of edges. If labels matter, it is counted once: O(vertices with such labels) on all threads.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The next `wanted` edges, or as many as are left. None once stopped. Valid until the next call. Gathered by all threads.
  [[nodiscard]] std::span<const graph::Edge> next(std::size_t wanted);
  /// The sum of of(edge) over all edges, on all threads. Call it before the first edge is given.
  template <class Of>
  [[nodiscard]] double sum(const Of& of) const;

 private:
  // A set of plans, one bit each. From plan 64 on, plans share the bits of the first 64. A list is only skipped if no plan
  // admits it.
  using Plans = std::uint64_t;
  struct Admitted {
    Plans as_tail = 0;
    Plans as_head = 0;
  };
  static constexpr std::size_t grain = 1024;  // vertices that a thread takes at a time

  [[nodiscard]] std::size_t vertices() const noexcept {
    return std::min<std::size_t>(graph_->dictionary.capacity(), graph_->base().vertices());
  }
  /// Edges with the same tail and label, whose heads have one label.
  struct EdgeList {
    VertexId tail;
    LabelId label;
    std::span<const std::uint32_t> heads;
    const std::uint32_t* tags;  ///< parallel to heads if edges have slots, else null

    [[nodiscard]] graph::Edge edge(std::size_t i) const noexcept {
      return {tail, heads[i], tags != nullptr ? tags[i] >> 1 : label};
    }
  };
  // Calls visit(list) for each list of the vertex's edges.
  template <class Visit>
  void for_each_list(VertexId vertex, Visit&& visit) const;
  void read_lent(const graph::Resolved& where);
  void gather(std::size_t wanted);
  void gather_slots(std::size_t wanted);
  [[nodiscard]] bool admits(const graph::Edge& edge) const noexcept;
  void make_room(std::size_t more);

  const graph::DataGraph* graph_;
  Workers* workers_;
  const match::StopFlag* stop_;
  std::vector<Admitted> labels_;     // by vertex label
  std::vector<Admitted> relations_;  // by base relation: the plans that admit its neighbours
  std::vector<Plans> edge_labels_;   // by edge label
  std::uint64_t size_ = 0;
  // The gathered edges. Edges from first_ + given_ to end_ have not been given. The given_ edges before them were given last.
  std::unique_ptr<graph::Edge[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t first_ = 0;
  std::size_t given_ = 0;
  std::size_t end_ = 0;
  std::size_t next_vertex_ = 0;
  std::size_t next_slot_ = 0;  // if edges have slots
  bool lent_ = false;          // all edges are in the buffer
  std::size_t step_;           // vertices that are gathered at a time
  std::vector<std::vector<graph::Edge>> parts_;
};

template <class Visit>
void AnchorEdges::for_each_list(VertexId vertex, Visit&& visit) const {
  const Admitted own = labels_[graph_->dictionary.label(vertex)];
  if ((own.as_tail | own.as_head) == 0) return;
  const bool tagged = graph_->edge_table != nullptr;
  graph_->base().for_each_list(
      vertex, [&](graph::RelationId number, std::span<const std::uint32_t> ids, const std::uint32_t* payload) {
        const graph::BaseRelation& relation = graph_->relations()[number];
        if (relation.direction == graph::Direction::in) return;
        const Admitted others = relations_[number];
        const Plans plans = (own.as_tail & others.as_head) | (graph_->directed() ? 0 : own.as_head & others.as_tail);
        if (plans == 0) return;
        // An undirected edge is in the lists of both ends. It is visited at the lesser end only.
        std::size_t first = 0;
        if (!graph_->directed()) first = static_cast<std::size_t>(std::ranges::lower_bound(ids, vertex) - ids.begin());
        visit(EdgeList{vertex, relation.edge_label, ids.subspan(first), tagged ? payload + first : nullptr});
      });
}

template <class Of>
double AnchorEdges::sum(const Of& of) const {
  std::vector<double> sums(workers_->size());
  if (lent_) {
    workers_->for_each(end_, grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) sums[worker] += of(buffer_[i]);
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }
  workers_->for_each(vertices(), grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
    if (stop_->load(std::memory_order_relaxed)) return;
    double sum = 0;
    for (std::size_t v = begin; v < end; ++v) {
      for_each_list(static_cast<VertexId>(v), [&](const EdgeList& list) {
        for (std::size_t i = 0; i < list.heads.size(); ++i) sum += of(list.edge(i));
      });
    }
    sums[worker] += sum;
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace deltamatch::engine
