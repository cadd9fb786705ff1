// One step along the tree of pivots, which holds each clique once. The method is by Jain and Seshadhri, "The power of pivoting
// for exact clique counting", 2020; see also src/mine/cliques.cpp.
//
// A node's cliques contain its held vertices, any of its pivots, and some of its candidates, which are adjacent to all of
// those. A pivot among the candidates splits the cliques into two kinds:
// - Cliques within the pivot and its neighbours stay with the node, which gets one pivot more.
// - The others contain a first candidate that is not adjacent to the pivot. They belong to a child that holds one vertex more.
//
// A scan of the candidates, with a population count for each, finds the pivot. It also finds candidates that are adjacent to
// all others, which become pivots at once. And it finds children with too few candidates for the wanted size.
//
// Runs on host and device alike.
#pragma once

#include <cstdint>

#include "gpu/cuda/lane_bits.hpp"
#include "gpu/mine/dense_layout.hpp"

namespace deltamatch::gpu {

template <unsigned words>
struct CliqueNode {
  std::uint32_t rows;
  std::uint32_t pivots;
  Bits<words> candidates;
};

enum class CliqueStep {
  pruned,  ///< no clique of the size
  leaf,    ///< no candidates are left
  split,
};

template <unsigned words>
struct CliqueSplit {
  unsigned pivot;
  Bits<words> others;    ///< candidates that are not adjacent to the pivot
  Bits<words> branches;  ///< those of them that have a child
};

template <unsigned words, class Group>
struct CliqueSteps : Sets<words, Group> {
  using Base = Sets<words, Group>;
  using Set = Bits<words>;
  using Base::both, Base::count, Base::group;

  const Word* rows;  ///< of all spaces

  DELTAMATCH_HOST_DEVICE CliqueSteps(Group of, const Word* all_rows) : Base{of}, rows(all_rows) {}

  DELTAMATCH_HOST_DEVICE Set row(const CliqueNode<words>& node, unsigned member) const {
    return Base::load(rows + std::size_t{node.rows + member} * Base::row_words);
  }

  DELTAMATCH_HOST_DEVICE CliqueNode<words> load(const Nodes& nodes, std::uint64_t i) const {
    const NodeHead head = nodes.heads[i];
    return {head.rows, head.used, Base::load(nodes.words + i * Base::row_words)};
  }

  DELTAMATCH_HOST_DEVICE void store(const CliqueNode<words>& node, const Nodes& nodes, std::uint64_t i) const {
    if (group.rank() == 0) nodes.heads[i] = {node.rows, static_cast<std::uint16_t>(node.pivots), 0};
    Base::store(node.candidates, nodes.words + i * Base::row_words);
  }

  /// Finds the pivot, unless the node ends here. Candidates that are adjacent to all others become pivots first. `missing`: see
  /// CliqueWork.
  DELTAMATCH_HOST_DEVICE CliqueStep step(CliqueNode<words>& node, unsigned missing, CliqueSplit<words>& split) const {
    const unsigned size = count(node.candidates);
    if (node.pivots + size < missing) return CliqueStep::pruned;
    Set universal{};
    split.branches = {};
    unsigned most = 0;  // 1 + neighbours among the candidates
    Base::for_each(node.candidates, [&](const Place& place) {
      const unsigned joined = count(both(node.candidates, row(node, Base::member(place))));
      if (joined + 1 == size) {
        Base::insert(universal, place);
      } else {
        if (joined + 1 > most) {
          most = joined + 1;
          split.pivot = Base::member(place);
        }
        if (node.pivots + joined + 1 >= missing) Base::insert(split.branches, place);
      }
    });
    node.pivots += count(universal);
    if (most == 0) return CliqueStep::leaf;
    Base::remove(node.candidates, universal);
    split.others = node.candidates;
    Base::remove(split.others, row(node, split.pivot));
    erase_member(split.others, split.pivot);
    split.branches = both(split.branches, split.others);
    return CliqueStep::split;
  }

  /// Passes the children to `child`, ascending. The node itself gets one pivot more.
  template <class Child>
  DELTAMATCH_HOST_DEVICE void branch(CliqueNode<words>& node, const CliqueSplit<words>& split, Child&& child) const {
    Base::for_each(split.others, [&](const Place& place) {
      Base::erase(node.candidates, place);
      if (!Base::contains(split.branches, place)) return;
      child(CliqueNode<words>{node.rows, node.pivots, both(node.candidates, row(node, Base::member(place)))});
    });
    node.candidates = both(node.candidates, row(node, split.pivot));
    ++node.pivots;
  }

  /// Counts the cliques of a node that have `missing` <= 2 vertices more than it holds.
  DELTAMATCH_HOST_DEVICE unsigned long long completions(const CliqueNode<words>& node, unsigned missing) const {
    if (missing == 0) return 1;
    const unsigned long long size = count(node.candidates);
    const unsigned long long pivots = node.pivots;
    if (missing == 1) return pivots + size;
    unsigned long long ends = 0;
    Base::for_each(node.candidates,
                   [&](const Place& place) { ends += count(both(node.candidates, row(node, Base::member(place)))); });
    return pivots * (pivots - 1) / 2 + pivots * size + ends / 2;
  }

 private:
  DELTAMATCH_HOST_DEVICE void erase_member(Set& set, unsigned member) const {
    const unsigned word = member / 64;
    Base::erase(set, {word / Group::size, word % Group::size, member % 64});
  }
};

}  // namespace deltamatch::gpu
