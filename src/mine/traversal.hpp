// The state of one enumeration that is independent of patterns: the subgraph grown so far, and its candidates.
//
// A connected induced subgraph can be grown in many orders. The canonical order starts with the smallest vertex. Then it always
// takes, among the candidates that belong to the subgraph, the one discovered first. So a candidate is canonical iff it was
// discovered after the vertex taken last. Candidates are on a stack in order of discovery, so this test is free: the canonical
// candidates are those above the one taken last. Each subgraph is thus visited once.
//
// DuMato's Algorithm 4 tests ids against the traversal instead. Wernicke's ESU has the same tree.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mine/ordered_graph.hpp"

namespace deltamatch::mine {

/// For each vertex: which of up to 7 taken vertices it is joined to, and whether it is a canonical candidate.
class Traversal {
 public:
  static constexpr std::uint8_t candidate = 0x80;
  static constexpr unsigned max_size = 7;

  explicit Traversal(const OrderedGraph& graph) : graph_(graph), marks_(graph.vertices(), 0) {}

  [[nodiscard]] unsigned size() const noexcept { return size_; }
  [[nodiscard]] VertexId taken(unsigned i) const noexcept { return taken_[i]; }
  [[nodiscard]] std::uint32_t stack_size() const noexcept { return static_cast<std::uint32_t>(stack_.size()); }
  [[nodiscard]] VertexId at(std::uint32_t position) const noexcept { return stack_[position]; }
  /// The taken vertices that are neighbours of v.
  [[nodiscard]] std::uint32_t mask(VertexId v) const noexcept { return marks_[v] & ~std::uint32_t{candidate}; }
  [[nodiscard]] const std::uint8_t* marks() const noexcept { return marks_.data(); }
  /// The smallest taken vertex. Only vertices after it count.
  [[nodiscard]] VertexId root() const noexcept { return taken_[0]; }

  /// A candidate that was passed, or is about to be taken, is no longer canonical. Passing is undone from the top.
  void pass(std::uint32_t position) noexcept { marks_[stack_[position]] &= static_cast<std::uint8_t>(~candidate); }
  void undo_pass(std::uint32_t position) noexcept { marks_[stack_[position]] |= candidate; }

  /// Takes a vertex (the root or a passed candidate) and discovers its neighbours.
  void take(VertexId v) {
    const auto bit = static_cast<std::uint8_t>(1U << size_);
    bottoms_[size_] = stack_size();
    taken_[size_++] = v;
    for_each_behind_root(v, [&](VertexId u) {
      std::uint8_t& mark = marks_[u];
      if (mark == 0) {
        stack_.push_back(u);
        mark = candidate | bit;
      } else {
        mark |= bit;
      }
    });
  }

  void undo_take() noexcept {
    const VertexId v = taken_[--size_];
    const auto kept = static_cast<std::uint8_t>(~(1U << size_));
    for (std::uint32_t i = bottoms_[size_]; i < stack_size(); ++i) marks_[stack_[i]] = 0;
    stack_.resize(bottoms_[size_]);
    if (size_ > 0) for_each_behind_root(v, [&](VertexId u) { marks_[u] &= kept; });
  }

  template <class Visit>
  void for_each_behind_root(VertexId v, Visit&& visit) const {
    const auto list = graph_.neighbours(v);
    for (const VertexId* u = list.data() + list.size(); u != list.data() && u[-1] > taken_[0];) visit(*--u);
  }

 private:
  const OrderedGraph& graph_;
  std::vector<std::uint8_t> marks_;
  std::vector<VertexId> stack_;
  std::array<VertexId, max_size> taken_{};
  std::array<std::uint32_t, max_size> bottoms_{};
  unsigned size_ = 0;
};

}  // namespace deltamatch::mine
