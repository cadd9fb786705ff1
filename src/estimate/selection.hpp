// Which vertices to cache under a budget of bytes, by several policies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/engine.hpp"
#include "estimate/accesses.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"

namespace deltamatch::estimate {

/// What caching a vertex's lists takes; 0: it has none, and is left out. May be asked by several threads at once.
using BytesOf = std::function<std::size_t(const StoredVertex&)>;

/// What a look-up that misses costs beyond reading the list, in bytes that could be read instead.
inline constexpr double miss_bytes = 128;

struct Selection {
  std::vector<StoredVertex> hot;  ///< ascending, but by hops for select_within
  std::size_t bytes = 0;          ///< never above the budget
};

// All run on the threads of `workers`, or on the caller alone where that is null; the result does not depend on it.

/// Those that save most of the bus for their size, times x (miss_bytes + bytes) / bytes, ties by vertex, until all but a
/// thousandth of the budget is full; what does not fit is skipped. `accesses` ascend. O(n).
[[nodiscard]] Selection select(std::span<const Access> accesses, const BytesOf& bytes, std::size_t budget,
                               Workers* workers = nullptr, double miss = miss_bytes);

/// Those with the longest lists, in the stores that the graph's readings use.
[[nodiscard]] Selection select_by_degree(const graph::DataGraph& graph, const BytesOf& bytes, std::size_t budget,
                                         Workers* workers = nullptr);

/// Those within `hops` of the ends of the passes' anchors, and of their roots, along any edges, near ones first, as VSGM (Jiang
/// et al., 2022) copies them; the first that does not fit ends it.
[[nodiscard]] Selection select_within(const graph::DataGraph& graph, std::span<const match::PassWork> passes, unsigned hops,
                                      const BytesOf& bytes, std::size_t budget, Workers* workers = nullptr);

/// How far from an anchor or root the matches of the tasks can reach: so many hops hold every list that matching may read.
[[nodiscard]] unsigned hops_of(std::span<const match::QueryTask> tasks);

/// By true counts, a vertex's accesses, whether it was cached, and what it takes in a cache.
struct Accessed {
  double times;
  bool cached;
  std::size_t bytes = 0;
};

/// Of the most accessed vertices S, which are the given share of all that are accessed, at least one: which part of all
/// accesses falls on them, which part of them is cached, and what they all take. Among vertices with as many accesses as the
/// last of S cached ones are preferred, since no ranking tells them apart. By share; `truth` is sorted on the way. Both 1 where
/// nothing is accessed.
[[nodiscard]] std::vector<TopLists> top_lists(std::vector<Accessed>& truth, std::span<const double> shares);

}  // namespace deltamatch::estimate
