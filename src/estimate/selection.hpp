// Selects the vertices to cache under a budget of bytes, by several policies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "estimate/accesses.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"

namespace deltamatch::estimate {

/// The size of a vertex's lists in a cache. 0: it has none and is left out. Several threads may call it at once.
using BytesOf = std::function<std::size_t(const StoredVertex&)>;

/// What a look-up that misses costs besides reading the list, in bytes that could be read instead.
inline constexpr double miss_bytes = 128;

/// What a selection is made for.
struct Terms {
  double miss = miss_bytes;
  double batches = 1;  ///< for which it is to hold
};

struct Selection {
  std::vector<StoredVertex> hot;  ///< ascending, except that select_within orders by hops
  std::size_t bytes = 0;          ///< never above the budget
};

// All of these run on the threads of `workers`, or on the caller's thread if that is null. The result does not depend on it.

/// Selects the vertices that save most bus traffic for their size: times x (miss_bytes + bytes) / bytes, ties by vertex. Ends
/// once less than about a thousandth of the budget is left. What does not fit is skipped. `accesses` must ascend. O(n).
[[nodiscard]] Selection select(std::span<const Access> accesses, const BytesOf& bytes, std::size_t budget,
                               Workers* workers = nullptr, double miss = miss_bytes);

/// Selects the vertices with the longest lists, in the stores that the graph's query relations use.
[[nodiscard]] Selection select_by_degree(const graph::DataGraph& graph, const BytesOf& bytes, std::size_t budget,
                                         Workers* workers = nullptr);

/// Selects the vertices within `hops` of the ends of the passes' anchors, and of their roots, along any edges, near ones first.
/// VSGM (Jiang et al., 2022) copies these. Ends at the first that does not fit.
[[nodiscard]] Selection select_within(const graph::DataGraph& graph, std::span<const match::PassWork> passes, unsigned hops,
                                      const BytesOf& bytes, std::size_t budget, Workers* workers = nullptr);

/// The hops from an anchor or root within which all lists lie that matching the tasks may read.
[[nodiscard]] unsigned hops_of(std::span<const match::QueryTask> tasks);

/// An accessed vertex, by exact counts: its accesses, whether it was cached, and its size in a cache.
struct Accessed {
  double times;
  bool cached;
  std::size_t bytes = 0;
};

/// The vertices that are looked up most.
struct TopLists {
  double share;     ///< of all vertices that were looked up
  double accesses;  ///< their part of all look-ups
  double coverage;  ///< the part of them that was cached
  double bytes;     ///< cache size that holds all of them
};

/// For each share: the most accessed vertices S are that share of all accessed vertices, at least one. Finds which part of all
/// accesses falls on S, which part of S is cached, and how many bytes S takes.
///
/// Among vertices with as many accesses as the last of S, cached ones are preferred, since no ranking can separate them. Sorts
/// `truth`. Both parts are 1 if nothing is accessed.
[[nodiscard]] std::vector<TopLists> top_lists(std::vector<Accessed>& truth, std::span<const double> shares);

}  // namespace deltamatch::estimate
