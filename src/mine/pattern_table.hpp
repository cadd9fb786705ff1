// Finds the pattern of a growing subgraph by table instead of by its raw key.
//
// A state is a class, with the places of the subgraph's vertices in the canonical form of the class. One look-up by the
// neighbour mask of a new vertex gives the next state. For 8 vertices the last step has 853 x 128 entries; a table of raw keys
// would have 2^28.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/motif_counter.hpp"
#include "mine/small_graph.hpp"

namespace deltamatch::mine {

/// The number of a connected pattern among those with as many vertices, ascending by number of edges, then by key.
using ClassId = std::uint16_t;

class PatternTable {
 public:
  /// Makes the table for subgraphs of up to k vertices, 2 <= k <= max_k. Computes O(patterns of k - 1 vertices x 2^(k-1))
  /// canonical forms.
  explicit PatternTable(unsigned k);

  struct State {
    ClassId pattern = 0;
    Permutation places;  ///< of the subgraph's vertices, in the order in which they were added
  };
  /// The state of a single vertex.
  [[nodiscard]] static State start() noexcept { return {}; }
  /// The state with one more vertex. `mask` is the set of its neighbours among the `size` vertices, not empty.
  [[nodiscard]] State next(unsigned size, State state, std::uint32_t mask) const noexcept {
    const Entry& entry = at(size, state.pattern, state.places.moved(mask));
    Permutation places;
    for (unsigned i = 0; i < size; ++i) places.set(i, entry.places.at(state.places.at(i)));
    places.set(size, entry.places.at(size));
    return {entry.pattern, places};
  }
  /// The class alone. `moved` is the mask as positions of the canonical form.
  [[nodiscard]] ClassId next_class(unsigned size, ClassId pattern, std::uint32_t moved) const noexcept {
    return at(size, pattern, moved).pattern;
  }
  /// The class with two more vertices, whose moved masks are `a` (not empty) and `b`.
  [[nodiscard]] ClassId pair_class(unsigned size, ClassId pattern, std::uint32_t a, std::uint32_t b,
                                   bool joined) const noexcept {
    const Entry& entry = at(size, pattern, a);
    return at(size + 1, entry.pattern, entry.places.moved(b | (joined ? 1U << size : 0U))).pattern;
  }

  [[nodiscard]] unsigned k() const noexcept { return k_; }
  /// The keys of all connected patterns with this many vertices, by class.
  [[nodiscard]] std::span<const Key> patterns(unsigned vertices) const noexcept { return patterns_[vertices]; }
  /// Appends the steps from patterns of `size` vertices, by class, then by moved mask.
  void append_steps(unsigned size, std::vector<match::PatternStep>& to) const {
    for (const Entry& entry : steps_[size]) to.push_back({entry.places.places, entry.pattern});
  }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Entry {
    ClassId pattern = 0;
    Permutation places;
  };
  [[nodiscard]] const Entry& at(unsigned size, ClassId pattern, std::uint32_t moved) const noexcept {
    return steps_[size][std::size_t{pattern} << size | moved];
  }

  unsigned k_;
  std::array<std::vector<Key>, max_k + 1> patterns_;
  std::array<std::vector<Entry>, max_k> steps_;  // by size, then class and moved mask
};

}  // namespace deltamatch::mine
