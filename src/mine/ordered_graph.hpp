// A graph renumbered by an order that an algorithm needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "deltamatch/mine.hpp"
#include "match/dense_set_counter.hpp"
#include "match/motif_counter.hpp"

namespace deltamatch::mine {

class OrderedGraph {
 public:
  /// Position i holds the vertex order[i]. Vertices that are not in `order` are left out. O(m log m).
  OrderedGraph(const SimpleGraph& graph, std::vector<VertexId> order);

  [[nodiscard]] VertexId vertices() const noexcept { return static_cast<VertexId>(order_.size()); }
  /// The neighbours of v as ascending positions.
  [[nodiscard]] std::span<const VertexId> neighbours(VertexId v) const noexcept {
    return {neighbours_.data() + begin_[v], neighbours_.data() + begin_[v + 1]};
  }
  /// The neighbours after v.
  [[nodiscard]] std::span<const VertexId> later(VertexId v) const noexcept {
    return {neighbours_.data() + later_[v], neighbours_.data() + begin_[v + 1]};
  }
  [[nodiscard]] std::span<const VertexId> earlier(VertexId v) const noexcept {
    return {neighbours_.data() + begin_[v], neighbours_.data() + later_[v]};
  }
  [[nodiscard]] match::LaterLists later_lists() const noexcept { return {later_, std::span(begin_).subspan(1), neighbours_}; }
  [[nodiscard]] match::NeighbourLists neighbour_lists() const noexcept { return {begin_, neighbours_}; }
  [[nodiscard]] VertexId degree(VertexId v) const noexcept { return static_cast<VertexId>(begin_[v + 1] - begin_[v]); }
  [[nodiscard]] bool joined(VertexId u, VertexId v) const noexcept;
  /// The original graph's vertex at a position.
  [[nodiscard]] VertexId original(VertexId v) const noexcept { return order_[v]; }

 private:
  std::vector<VertexId> order_;
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint64_t> later_;
  std::vector<VertexId> neighbours_;
};

/// All vertices that have neighbours, by descending degree.
[[nodiscard]] std::vector<VertexId> degree_order(const SimpleGraph& graph);

/// Removes a vertex of smallest remaining degree again and again, and returns the vertices in this order. It leaves out the
/// vertices before the first one whose remaining degree is at least `core`; the rest is the `core`-core. No vertex has more
/// later neighbours than the graph's degeneracy. O(n + m).
[[nodiscard]] std::vector<VertexId> degeneracy_order(const SimpleGraph& graph, VertexId core);

}  // namespace deltamatch::mine
