// How often matching looks vertices up, true or estimated.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::estimate {

/// A vertex in one of the adjacency stores: what a cache holds or lacks as a whole.
struct StoredVertex {
  VertexId vertex;
  graph::StoreKind store;
  friend auto operator<=>(const StoredVertex&, const StoredVertex&) = default;
};

/// A number for it; they ascend as the stored vertices do.
constexpr std::uint64_t key_of(const StoredVertex& at) noexcept {
  return std::uint64_t{at.vertex} << 2 | static_cast<unsigned>(at.store);
}
constexpr StoredVertex stored_of(std::uint64_t key) noexcept {
  return {static_cast<VertexId>(key >> 2), static_cast<graph::StoreKind>(key & 3)};
}

/// A list that several of the partial matches share which are extended together counts once for all of them.
struct Access {
  StoredVertex at;
  double times;
  friend bool operator==(const Access&, const Access&) = default;
};

/// What one plan's anchors lead to.
struct PlanFigures {
  std::vector<double> partial_matches;  ///< by node of the program; of counts only where they were asked for
  __extension__ __int128 sum = 0;       ///< exact runs: what the program adds up to
};

struct Accesses {
  std::vector<Access> lists;                    ///< ascending; each more than 0 times
  std::vector<std::vector<PlanFigures>> plans;  ///< by task and plan
  std::uint64_t pieces = 0;                     ///< anchors times the plans they concern
  double walks = 0;                             ///< in all rounds; 0 where the run was exact
  unsigned rounds = 0;
  [[nodiscard]] double total() const noexcept {
    double sum = 0;
    for (const Access& access : lists) sum += access.times;
    return sum;
  }
};

}  // namespace deltamatch::estimate
