// Counting cliques and quasi-cliques elsewhere than on the CPU's cores: what a backend may do for mining.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "base/types.hpp"

namespace deltamatch::match {

/// An undirected simple graph in an order, which keeps few neighbours behind each vertex: a degeneracy order. Views.
struct LaterLists {
  std::span<const std::uint64_t> begin;  ///< of each vertex: where its later neighbours begin, ascending
  std::span<const std::uint64_t> end;    ///< and where they end
  std::span<const VertexId> neighbours;

  [[nodiscard]] VertexId vertices() const noexcept { return static_cast<VertexId>(begin.size()); }
  [[nodiscard]] std::span<const VertexId> later(VertexId v) const noexcept {
    return neighbours.subspan(begin[v], end[v] - begin[v]);
  }
};

/// Cliques as leaves of the tree of pivots tell of them: a leaf with h held vertices and q pivots stands for C(q, i) cliques of
/// h + i vertices, for every i.
struct CliqueTally {
  Count direct = 0;                                ///< cliques of the one size that is asked for, counted otherwise
  std::vector<std::vector<std::uint64_t>> leaves;  ///< how many, by held vertices, then pivots

  void add_leaves(std::size_t held, std::size_t pivots, std::uint64_t count) {
    if (leaves.size() <= held) leaves.resize(held + 1);
    if (leaves[held].size() <= pivots) leaves[held].resize(pivots + 1, 0);
    leaves[held][pivots] += count;
  }
};

/// What may be joined to each of some vertices, the roots, into sets that lack few of their edges.
struct DenseSpaces {
  struct Space {
    VertexId root;
    std::uint64_t end;  ///< of its members
  };
  std::vector<Space> spaces;
  std::vector<VertexId> members;     ///< of one space after the other, ascending in each
  std::vector<std::uint8_t> joined;  ///< by member: 1 if it is to the root
  double share = 1;                  ///< of all roots, those up to here
};

/// Makes the spaces of the next roots, with rows of `words` words or a little more in all; none when there are none left. May
/// be called by any thread, one at a time.
using MakeSpaces = std::function<DenseSpaces(std::uint64_t words)>;

/// Told now and then which share of the work is done, 0 to 1; false ends the run.
using GoOn = std::function<bool(double share)>;

class DenseSetCounter {
 public:
  struct Cliques {
    CliqueTally tally;
    std::vector<VertexId> left;  ///< vertices whose cliques (those that they are the first vertex of) the caller has to count
  };

  struct Sets {
    std::vector<Count> by_missing;
    std::vector<VertexId> left;  ///< roots of spaces that were made and that the caller has to look after
  };

  virtual ~DenseSetCounter() = default;
  DenseSetCounter() = default;
  DenseSetCounter(const DenseSetCounter&) = delete;
  DenseSetCounter& operator=(const DenseSetCounter&) = delete;

  /// Cliques of k >= 2 vertices, or with nullopt of every size from 2. Once `go_on` has said no, the tally holds what was found
  /// before, and nothing is left. Calls `go_on` from the calling thread. Throws Error where the device fails.
  [[nodiscard]] virtual Cliques count_cliques(const LaterLists& graph, std::optional<unsigned> k, const GoOn& go_on) = 0;

  /// Sets of k >= 3 vertices that lack 1 to `budget` <= k - 2 edges, or none, as far as their root and they lie in one of the
  /// spaces that `make` makes; not all of which need have been asked for at the end. Otherwise as count_cliques.
  [[nodiscard]] virtual Sets count_sets(const LaterLists& graph, unsigned k, unsigned budget, const MakeSpaces& make,
                                        const GoOn& go_on) = 0;

  /// That kernels ran, in all runs; of each the longest of several devices.
  [[nodiscard]] virtual double kernel_seconds() const noexcept = 0;
};

}  // namespace deltamatch::match
