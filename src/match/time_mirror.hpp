// Keeps lists in order of time beside a graph, from batch to batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/data_graph.hpp"
#include "graph/time_lists.hpp"
#include "match/matcher.hpp"
#include "match/time_search.hpp"

namespace deltamatch::match {

class TimeMirror {
 public:
  /// Brings the lists to what a pass reads, and returns what it may read of them. Over a staged batch, the pass of removed
  /// edges goes before that of inserted ones, and the transient pass is the last. All may be repeated. After a transient pass,
  /// call `hide_removed`. If the lists have followed the graph since the batch before, it takes O(changed edges), else
  /// O(edges log edges). Valid until the next call. What `work` names must stay valid as long as the batch is staged.
  ///
  /// Only the relations that are `wanted`, by RelationId, need be listed. If others are wanted than before, the lists may have
  /// to be built anew.
  [[nodiscard]] TimePass show(const graph::DataGraph& graph, const PassWork& work, const std::vector<bool>& wanted);
  void hide_removed(const graph::DataGraph& graph);
  [[nodiscard]] std::size_t bytes() const noexcept { return lists_.bytes() + bits_.capacity() * sizeof(std::uint64_t); }

 private:
  void catch_up(const graph::DataGraph& graph, const std::vector<bool>& wanted);
  [[nodiscard]] std::vector<graph::RelationId> missing_of(const std::vector<bool>& wanted) const;
  void go_back(const graph::DataGraph& graph);
  void mark(std::span<const graph::Edge> changed);
  void order(const graph::DataGraph& graph, std::span<const graph::Edge> inserted);

  graph::TimeLists lists_;
  std::vector<bool> listed_;  // by relation
  // The state that the lists show: after the batch `batch_` of the store. 0 as the store: they must be built.
  std::uint64_t store_ = 0;
  std::uint64_t batch_ = 0;
  // The batch that is staged, if passes over it have begun, and whether the lists show the state after it.
  std::uint64_t staged_ = 0;
  bool after_ = false;
  bool both_ = false;     // the lists show the removed edges beside the inserted ones
  Timestamp newest_ = 0;  // before the batch
  std::span<const graph::Edge> removed_;
  std::span<const graph::Edge> inserted_;
  bool in_order_ = false;              // each of them is the newest of those that have arrived
  std::vector<graph::Edge> arrivals_;  // the inserted ones, in the order in which they arrived
  std::vector<std::pair<std::uint64_t, std::size_t>> keys_;
  std::vector<std::uint64_t> bits_;  // by slot, for the edges of marked_
  std::vector<graph::Slot> marked_;
};

}  // namespace deltamatch::match
