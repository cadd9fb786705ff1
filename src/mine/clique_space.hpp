// The later neighbours of a vertex in a degeneracy order, as a small dense graph with one row of bits per vertex.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "mine/ordered_graph.hpp"

namespace deltamatch::mine {

using Word = std::uint64_t;

[[nodiscard]] inline unsigned popcount(std::span<const Word> bits) noexcept {
  unsigned count = 0;
  for (const Word word : bits) count += static_cast<unsigned>(std::popcount(word));
  return count;
}

[[nodiscard]] inline unsigned popcount_and(const Word* a, const Word* b, std::size_t words) noexcept {
  unsigned count = 0;
  for (std::size_t i = 0; i < words; ++i) count += static_cast<unsigned>(std::popcount(a[i] & b[i]));
  return count;
}

template <class Visit>
void for_each_bit(const Word* bits, std::size_t words, Visit&& visit) {
  for (std::size_t i = 0; i < words; ++i) {
    for (Word rest = bits[i]; rest != 0; rest &= rest - 1) {
      visit(static_cast<unsigned>(i * 64) + static_cast<unsigned>(std::countr_zero(rest)));
    }
  }
}

class CliqueSpace {
 public:
  explicit CliqueSpace(const OrderedGraph& graph) : graph_(graph), local_(graph.vertices(), 0) {}

  /// Makes `v` the centre, unless it is already. O(sum of the later lists of v's later neighbours).
  void centre(VertexId v) {
    if (v == centre_) return;
    for (const VertexId u : members_) local_[u] = 0;
    centre_ = v;
    members_ = graph_.later(v);
    words_ = (members_.size() + 63) / 64;
    rows_.assign(members_.size() * words_, 0);
    VertexId next = 0;
    for (const VertexId u : members_) local_[u] = ++next;
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
      for (const VertexId w : graph_.later(members_[i])) {
        if (const VertexId j = local_[w]; j != 0) {
          set(i, j - 1);
          set(j - 1, i);
        }
      }
    }
  }

  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(members_.size()); }
  [[nodiscard]] std::size_t words() const noexcept { return words_; }
  [[nodiscard]] const Word* row(unsigned i) const noexcept { return rows_.data() + i * words_; }
  /// The member's vertex in the ordered graph.
  [[nodiscard]] VertexId member(unsigned i) const noexcept { return members_[i]; }

 private:
  void set(std::uint32_t i, std::uint32_t j) noexcept { rows_[i * words_ + j / 64] |= Word{1} << j % 64; }

  const OrderedGraph& graph_;
  std::vector<VertexId> local_;  // 1 + place among the members; 0: not a member
  std::span<const VertexId> members_;
  std::vector<Word> rows_;
  std::size_t words_ = 0;
  VertexId centre_ = invalid_vertex;
};

}  // namespace deltamatch::mine
