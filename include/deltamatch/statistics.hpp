// Sizes of the graph and its labels, and what a backend's cache did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace deltamatch {

struct GraphStatistics {
  std::uint64_t vertices = 0;  ///< in the dictionary
  std::uint64_t edges = 0;
  std::uint64_t bytes = 0;            ///< of adjacency, dictionary and labels, and of the window's records if there is a window
  std::uint64_t adjacency_bytes = 0;  ///< lists, rows and free blocks
  std::uint64_t dictionary_bytes = 0;
  std::uint64_t vertex_labels = 0;  ///< distinct labels, without the empty one
  std::uint64_t edge_labels = 0;    ///< distinct labels, without the empty one
  std::uint64_t label_bytes = 0;    ///< of both tables
};

/// The memory that the edges of one label use.
struct EdgeLabelStatistics {
  std::string label;
  std::uint64_t edges = 0;
  std::uint64_t bytes = 0;  ///< of their neighbour lists; memory per vertex and spare room belong to no label
};

/// The most frequently read lists. `share` is relative to all lists that were read.
struct TopLists {
  double share;
  double accesses;  ///< their fraction of all look-ups
  double coverage;  ///< the fraction of these look-ups that hit the cache
  double bytes;     ///< cache size that holds all of them
};

/// What a backend's cache of neighbour lists did since the engine was made. All 0 without a cache. A list counts once for each
/// look-up by a kernel.
struct CacheStatistics {
  std::uint64_t hits = 0;          ///< look-ups of lists in device memory
  std::uint64_t misses = 0;        ///< look-ups of lists that were read from host memory
  std::uint64_t copied_bytes = 0;  ///< sent to the device in bulk, for the cache and for batches
  std::uint64_t cached_lists = 0;  ///< in device memory now
  std::uint64_t cached_bytes = 0;
  std::uint64_t choices = 0;       ///< how often the cache's contents were chosen anew
  std::uint64_t shared_parts = 0;  ///< parts of work that busy warps gave to idle ones
  std::uint64_t on_cpu = 0;        ///< how many times a query of a batch ran on the CPU instead, in one of its passes or both
  double kernel_seconds = 0;       ///< run time of kernels; of several devices the longest
  std::string notice;              ///< what the backend did differently than planned, and why; empty if nothing
  /// If measuring is on: averages over the batches, for shares of 1 % to 5 %, 10 % and 20 %.
  std::vector<TopLists> top;
  double coverage = 0;  ///< of the top 5 %
};

}  // namespace deltamatch
