// The data graph as a device sees it. Each store has a dense table of rows, the staged batch, and a cache of packed blocks. The
// mirror follows the host's graph from batch to batch by what has changed.
//
// The order for a batch:
// 1. begin sends rows, the staged batch and query relations to the device
// 2. select moves what is worth caching there
// 3. kernels read view()
//
// Everything is queued on the stream that `ops` was made with, in the order of the calls. Kernels that read the view must be
// queued on it, too. They must have ended before the next begin or select. Nothing is freed before that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/parallel.hpp"
#include "gpu/mirror/cache_plan.hpp"
#include "gpu/mirror/device_ops.hpp"
#include "gpu/mirror/layout.hpp"
#include "gpu/mirror/pack.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::gpu {

/// Where kernels read lists.
enum class Storage : std::uint8_t {
  host,      ///< the graph's own blocks, in registered or managed memory
  cached,    ///< device memory for selected vertices, else the graph's own blocks in registered memory
  resident,  ///< device memory for all lists; the graph's own blocks are never read
};

struct DeviceGraphOptions {
  Storage storage = Storage::cached;
  std::size_t cache_bytes = 0;                      ///< for packed blocks, at most; 0: all that is free
  std::size_t chunk_bytes = std::size_t{16} << 20;  ///< moved while the next is packed; twice that is held on host and device
  std::size_t reserve_bytes = 0;                    ///< of the free device memory: left to others if possible
  double ring_share = 0;                            ///< part of the cache that kernels fill themselves (Storage::cached)
};

struct DeviceGraphStatistics {
  std::uint64_t copied_bytes = 0;     ///< sent to the device since the mirror was made: rows, batches, packed blocks
  std::uint64_t packed_bytes = 0;     ///< of those: packed blocks
  std::uint64_t kept = 0;             ///< vertices that select wanted and found in place, since the mirror was made
  std::uint64_t moved = 0;            ///< vertices whose blocks were packed and sent
  std::uint64_t evicted = 0;          ///< vertices that made room for others
  std::uint64_t merged = 0;           ///< vertices brought up to date on the device, from the batch that lies there
  std::uint64_t cached_vertices = 0;  ///< now
  std::uint64_t cached_lists = 0;     ///< now
  std::uint64_t cached_bytes = 0;     ///< now
  std::uint64_t cache_bytes = 0;      ///< the size that the cache really has
  bool reduced = false;               ///< device memory was too short for the requested or the earlier cache
  std::uint64_t device_bytes = 0;     ///< all device memory that is held
};

class DeviceGraph {
 public:
  /// The mirror takes the cache's memory in begin. If less than requested is free, it halves the size until it fits. `workers`
  /// outlives the mirror. A mirror follows one graph at a time. The graph must track its changes (DataGraph::track_changes);
  /// otherwise everything is sent every time.
  DeviceGraph(std::unique_ptr<DeviceOps> ops, const DeviceGraphOptions& options, Workers& workers);
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  /// Brings the mirror up to date with the graph, including what is staged. `resolved` is by query relation. Throws
  /// DeviceOutOfMemory, Error, std::bad_alloc; the next begin then starts over.
  void begin(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved);
  /// Does the same if kernels read no more than `reads`. Blocks on the device need not hold other lists. Nothing may be staged.
  void begin(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, const Reads& reads);

  /// Puts these vertices into the cache, as far as they fit; earlier ones have precedence. Call it after begin. Does nothing
  /// unless the storage is Storage::cached.
  ///
  /// Vertices that are there already stay. Others stay while there is room, with some left for lists that grow. Cached vertices
  /// stay for any number of batches, even if their lists change. A few may lose their place if there is no room.
  void select(std::span<const HotVertex> hot);

  /// Gives kernels another share of the cache to fill themselves. The next begin finds the cache empty. Returns false if the
  /// share is as before. Storage::cached only.
  bool divide(double ring_share) noexcept;
  /// Makes the next begin find the cache empty, as if nothing had been selected before. Storage::cached only.
  void forget() noexcept;

  /// Bytes that `vertex` takes in the cache. Valid after begin; any thread may call it. Storage::cached only.
  [[nodiscard]] std::size_t packed_bytes(HotVertex vertex) const noexcept;
  /// Whether kernels find the vertex's lists in device memory. Valid after begin or select, until the next.
  [[nodiscard]] bool holds(HotVertex vertex) const noexcept;
  /// Bytes that select can fill.
  [[nodiscard]] std::size_t cache_bytes() const noexcept;
  /// Gives back half of the cache's memory and forgets its contents, for callers that need device memory. Returns false if
  /// nothing is left to give. Storage::cached only. Call begin again afterwards.
  bool shrink();

  /// The view as device pointers, valid until the next begin or select.
  [[nodiscard]] const GraphView& view() const noexcept;
  [[nodiscard]] DeviceGraphStatistics statistics() const noexcept;
  [[nodiscard]] std::size_t host_bytes() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// An upper bound of the device memory that Storage::resident needs for the graph as it is, with any query relations.
[[nodiscard]] std::size_t resident_bytes(const graph::DataGraph& graph) noexcept;

/// The exact device memory for the lists that are read, with the least spare room of a resident graph. O(|V|).
[[nodiscard]] std::size_t resident_bytes(const graph::DataGraph& graph, const Reads& reads, Workers& workers);

/// Whether the graph can be resident and grow by a quarter, within `budget` (0: no limit) and the free device memory.
[[nodiscard]] bool fits(const graph::DataGraph& graph, std::size_t free_bytes, std::size_t budget) noexcept;

}  // namespace deltamatch::gpu
