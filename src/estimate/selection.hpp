// Which vertices to cache under a budget of bytes, by several policies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "estimate/accesses.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"

namespace deltamatch::estimate {

/// What caching a vertex's lists takes; 0: it has none, and is left out.
using BytesOf = std::function<std::size_t(const StoredVertex&)>;

struct Selection {
  std::vector<StoredVertex> hot;  ///< best first
  std::size_t bytes = 0;          ///< never above the budget
};

/// Those with most accesses per byte first, ties by vertex, until the budget is full; what does not fit is skipped. O(n + k log
/// n) for the k best that are looked at, O(n) where everything fits (then in order of vertices).
[[nodiscard]] Selection select(std::span<const Access> accesses, const BytesOf& bytes, std::size_t budget);

/// Those of highest degree first, in the stores that the graph's readings use.
[[nodiscard]] Selection select_by_degree(const graph::DataGraph& graph, const BytesOf& bytes, std::size_t budget);

/// Those within `hops` of the ends of the passes' anchors along any edges, near ones first, as VSGM (Jiang et al., 2022) copies
/// them; the first that does not fit ends it.
[[nodiscard]] Selection select_within(const graph::DataGraph& graph, std::span<const match::PassWork> passes, unsigned hops,
                                      const BytesOf& bytes, std::size_t budget);

/// How far from a changed edge the matches of the tasks can reach: so many hops hold every list that matching may read.
[[nodiscard]] unsigned hops_of(std::span<const match::QueryTask> tasks);

/// The share |S and T| / |S| of the most accessed vertices S, by true counts, that are among the cached ones T. S is the given
/// share of all that are accessed, at least one; 1 where nothing is accessed. Among vertices with as many accesses as the last
/// of S cached ones are preferred, since no ranking tells them apart.
[[nodiscard]] double coverage(std::span<const Access> truth, std::span<const StoredVertex> cached, double share = 0.05);

}  // namespace deltamatch::estimate
