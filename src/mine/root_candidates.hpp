// Finds the vertices that can form sets with a root. The sets have k vertices and lack at most `budget` <= k - 2 of their
// edges. The root is their first vertex in a degeneracy order. dense_sets.hpp explains which vertices qualify.
#pragma once

#include <span>
#include <vector>

#include "mine/ordered_graph.hpp"

namespace deltamatch::mine {

class RootCandidates {
 public:
  RootCandidates(const OrderedGraph& graph, unsigned k, unsigned budget)
      : graph_(&graph), k_(k), budget_(budget), common_(graph.vertices(), 0) {}

  /// Computes the candidates of a root. O(sum of the degrees of the root's later neighbours).
  void centre(VertexId root) {
    const auto later = graph_->later(root);
    members_.clear();
    const auto each = [&](auto&& visit) {
      for (const VertexId w : later) {
        const auto list = graph_->neighbours(w);
        for (const VertexId* u = list.data() + list.size(); u[-1] > root;) visit(*--u);  // the root is in the list
      }
    };
    each([&](VertexId u) { ++common_[u]; });
    for (const VertexId u : later) {
      if (common_[u] + budget_ + 2 >= k_) members_.push_back(u);
      common_[u] = 0;
    }
    joined_ = members_.size();
    each([&](VertexId u) {
      if (budget_ > 0 && common_[u] + budget_ + 1 >= k_) members_.push_back(u);
      common_[u] = 0;
    });
  }

  /// The candidates; those joined to the root come first.
  [[nodiscard]] std::span<const VertexId> members() const noexcept { return members_; }
  [[nodiscard]] std::size_t joined() const noexcept { return joined_; }

 private:
  const OrderedGraph* graph_;
  unsigned k_;
  unsigned budget_;
  std::vector<VertexId> common_;  // by vertex: number of common neighbours with the root; 0 between roots
  std::vector<VertexId> members_;
  std::size_t joined_ = 0;
};

}  // namespace deltamatch::mine
