// One step of the enumeration of sets that lack a few of their edges (see also src/mine/dense_sets.hpp).
//
// A node's candidates lie in layers, by the number of taken vertices that they are not adjacent to. Taking a candidate leaves
// the candidates behind it. Those not adjacent to it move one layer up. They are dropped if that exceeds the last layer that
// the budget allows. The last vertex of a set is counted, not taken.
//
// A node lies in memory, layer after layer. The lanes of a group share out the words of a layer. Runs on host and device alike.
#pragma once

#include <cstdint>

#include "gpu/cuda/lane_bits.hpp"

namespace deltamatch::gpu {

/// A candidate that is taken, and its layer.
struct TakenMember {
  static constexpr unsigned none = ~0U;
  unsigned member = none;
  unsigned layer = 0;
};

template <class Group>
struct SetSteps {
  Group group;
  const Word* rows;  ///< of all spaces
  unsigned words;    ///< of a row, and of a layer
  unsigned layers;   ///< one more than the edges that may be missing

  /// The least candidate from `from` on. `node` is its layers, `missing` the number of its missing edges.
  DELTAMATCH_HOST_DEVICE TakenMember next(const Word* node, unsigned missing, unsigned from) const {
    for (unsigned base = from / 64 / Group::size * Group::size; base < words; base += Group::size) {
      const unsigned w = base + group.rank();
      const Word open = w < from / 64 ? 0 : w == from / 64 ? ~Word{0} << from % 64 : ~Word{0};
      Word any = 0;
      if (w < words && open != 0) {
        for (unsigned layer = 0; layer + missing < layers; ++layer) any |= node[layer * words + w];
        any &= open;
      }
      const unsigned lanes = group.ballot(any != 0);
      if (lanes == 0) continue;
      const unsigned lane = lowest_bit(lanes);
      const unsigned bit = lowest_bit(group.from(any, lane));
      const unsigned word = base + lane;
      unsigned layer = 0;
      while ((node[layer * words + word] >> bit & 1) == 0) ++layer;
      return {word * 64 + bit, layer};
    }
    return {};
  }

  /// Passes the lane its words of the candidates that remain after `taken`: `word(layer, w, bits)`. Most words that are 0 are
  /// skipped.
  template <class Visit>
  DELTAMATCH_HOST_DEVICE void for_each_word(const Word* node, std::uint32_t first_row, unsigned missing, TakenMember taken,
                                            Visit&& visit) const {
    const Word* const row = rows + (std::size_t{first_row} + taken.member) * words;
    for (unsigned w = taken.member / 64 / Group::size * Group::size + group.rank(); w < words; w += Group::size) {
      const Word joined = row[w];
      const Word behind = bits_behind(taken.member, w);
      Word below = 0;  // the layer below
      for (unsigned layer = 0; layer + missing + taken.layer < layers; ++layer) {
        const Word same = node[layer * words + w];
        visit(layer, w, ((same & joined) | (below & ~joined)) & behind);
        below = same;
      }
    }
  }

  /// How many candidates remain after `taken`.
  DELTAMATCH_HOST_DEVICE unsigned left(const Word* node, std::uint32_t first_row, unsigned missing, TakenMember taken) const {
    unsigned sum = 0;
    for_each_word(node, first_row, missing, taken, [&](unsigned, unsigned, Word bits) { sum += count_bits(bits); });
    return group.sum(sum);
  }

  /// Writes the node after `taken` to `child`, with all of its words.
  DELTAMATCH_HOST_DEVICE void take(const Word* node, std::uint32_t first_row, unsigned missing, TakenMember taken,
                                   Word* child) const {
    const unsigned first = taken.member / 64 / Group::size * Group::size;
    for (unsigned layer = 0; layer < layers; ++layer) {
      const bool open = layer + missing + taken.layer < layers;
      for (unsigned w = group.rank(); w < (open ? first : words); w += Group::size) child[layer * words + w] = 0;
    }
    for_each_word(node, first_row, missing, taken,
                  [&](unsigned layer, unsigned w, Word bits) { child[layer * words + w] = bits; });
  }

  /// Copies a node.
  DELTAMATCH_HOST_DEVICE void copy(const Word* node, Word* to) const {
    for (unsigned w = group.rank(); w < layers * words; w += Group::size) to[w] = node[w];
  }
};

}  // namespace deltamatch::gpu
