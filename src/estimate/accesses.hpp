// How often matching looks vertices up, counted or estimated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::estimate {

/// A vertex in one of the adjacency stores. A cache holds or lacks all of it.
struct StoredVertex {
  VertexId vertex;
  graph::StoreKind store;
  friend auto operator<=>(const StoredVertex&, const StoredVertex&) = default;
};

/// The key of a stored vertex. Keys ascend as stored vertices do.
constexpr std::uint64_t key_of(const StoredVertex& at) noexcept {
  return std::uint64_t{at.vertex} << 2 | static_cast<unsigned>(at.store);
}
constexpr StoredVertex stored_of(std::uint64_t key) noexcept {
  return {static_cast<VertexId>(key >> 2), static_cast<graph::StoreKind>(key & 3)};
}

/// Look-ups are counted by visits that are certain, and estimated from visits that are drawn. These are of several kinds, by
/// how many others they stand for: fewer than 4, 16, 64, or more. One kind tells little of what another would find.
inline constexpr std::size_t drawn_kinds = 4;
[[nodiscard]] constexpr std::size_t drawn_kind(double others) noexcept {
  std::size_t kind = 0;
  for (double limit = 4; kind + 1 < drawn_kinds && others >= limit; limit *= 4) ++kind;
  return kind;
}

/// How often a vertex's lists are looked up. If partial matches that are extended together share a list, it counts once for all
/// of them.
struct Access {
  StoredVertex at;
  double times;
  std::array<double, drawn_kinds> drawn{};  ///< the parts of them that are estimated from drawn visits; the rest was counted
  friend bool operator==(const Access&, const Access&) = default;
};

/// A look-up of an exact run. If several partial matches share it, each of them has its part.
struct LookUp {
  std::uint64_t key;  ///< key_of
  double times;
};

/// What the anchors of one plan lead to.
struct PlanFigures {
  std::vector<double> partial_matches;  ///< by node of the program; for counts only if they were asked for
  __extension__ __int128 sum = 0;       ///< exact runs: the sum that the program computes
};

struct Accesses {
  std::vector<Access> lists;                    ///< ascending, each looked up more than 0 times
  std::array<double, drawn_kinds> noise{};      ///< by kind of visit: variance of an estimate, divided by the estimate
  std::vector<std::vector<PlanFigures>> plans;  ///< by task and plan
  std::uint64_t pieces = 0;                     ///< pairs of an anchor and a plan for it
  double walks = 0;                             ///< in all rounds; 0 if the run was exact
  unsigned rounds = 0;
  [[nodiscard]] double total() const noexcept {
    double sum = 0;
    for (const Access& access : lists) sum += access.times;
    return sum;
  }
};

}  // namespace deltamatch::estimate
