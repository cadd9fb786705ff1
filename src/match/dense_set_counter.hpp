// Counts cliques and quasi-cliques elsewhere than on CPU cores. A backend may provide it for mining.
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

/// An undirected simple graph in a degeneracy order, which leaves few later neighbours to each vertex. Holds views.
struct LaterLists {
  std::span<const std::uint64_t> begin;  ///< by vertex: where its later neighbours begin
  std::span<const std::uint64_t> end;    ///< by vertex: where they end
  std::span<const VertexId> neighbours;  ///< ascending within each list

  [[nodiscard]] VertexId vertices() const noexcept { return static_cast<VertexId>(begin.size()); }
  [[nodiscard]] std::span<const VertexId> later(VertexId v) const noexcept {
    return neighbours.subspan(begin[v], end[v] - begin[v]);
  }
};

/// A tally of cliques from the leaves of a pivot tree. A leaf with h held vertices and q pivots stands for C(q, i) cliques of h
/// + i vertices, for every i.
struct CliqueTally {
  Count direct = 0;                                ///< cliques of the one size that is asked for, counted in another way
  std::vector<std::vector<std::uint64_t>> leaves;  ///< the number of leaves, by held vertices, then pivots

  void add_leaves(std::size_t held, std::size_t pivots, std::uint64_t count) {
    if (leaves.size() <= held) leaves.resize(held + 1);
    if (leaves[held].size() <= pivots) leaves[held].resize(pivots + 1, 0);
    leaves[held][pivots] += count;
  }
};

/// For some vertices, the roots: the vertices that may be joined to each into sets that lack few of their edges.
struct DenseSpaces {
  struct Space {
    VertexId root;
    std::uint64_t end;  ///< end of its members
  };
  std::vector<Space> spaces;
  std::vector<VertexId> members;     ///< of one space after the other, ascending within each
  std::vector<std::uint8_t> joined;  ///< by member: 1 if it is joined to the root
  double share = 1;                  ///< of all roots, the share up to here
};

/// Makes the spaces of the next roots, with rows of about `words` words or a little more in all. Returns none if no roots are
/// left. Any thread may call it, but only one at a time.
using MakeSpaces = std::function<DenseSpaces(std::uint64_t words)>;

/// Called now and then with the share of the work that is done, 0 to 1. Returns false to end the run.
using GoOn = std::function<bool(double share)>;

class DenseSetCounter {
 public:
  struct Cliques {
    CliqueTally tally;
    std::vector<VertexId> left;  ///< vertices that the caller must handle: the cliques of which they are the first vertex
  };

  struct Sets {
    std::vector<Count> by_missing;
    std::vector<VertexId> left;  ///< roots of spaces that were made and that the caller must handle
  };

  virtual ~DenseSetCounter() = default;
  DenseSetCounter() = default;
  DenseSetCounter(const DenseSetCounter&) = delete;
  DenseSetCounter& operator=(const DenseSetCounter&) = delete;

  /// Counts cliques of k >= 2 vertices, or without k of every size from 2. Calls `go_on` from the calling thread. Once it
  /// returns false, the tally holds what was found before, and nothing is left. Throws Error if the device fails.
  [[nodiscard]] virtual Cliques count_cliques(const LaterLists& graph, std::optional<unsigned> k, const GoOn& go_on) = 0;

  /// Counts sets of k >= 3 vertices that lack 0 to `budget` edges, with `budget` <= k - 2. A set counts if it and its root lie
  /// in one of the spaces that `make` makes. Not all spaces need have been asked for at the end. Otherwise like count_cliques.
  [[nodiscard]] virtual Sets count_sets(const LaterLists& graph, unsigned k, unsigned budget, const MakeSpaces& make,
                                        const GoOn& go_on) = 0;

  /// Seconds that kernels ran, over all runs. If there are several devices, the longest time of each run counts.
  [[nodiscard]] virtual double kernel_seconds() const noexcept = 0;
};

}  // namespace deltamatch::match
