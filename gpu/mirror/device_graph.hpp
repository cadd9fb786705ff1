// The data graph as a device sees it: for the base and the derived store a dense table of rows, the staged batch, and a cache
// of packed blocks. Follows the host's graph from batch to batch by what has changed.
//
// Life of a batch: begin (rows, staged batch and readings go to the device), select (what is worth caching moves there), then
// kernels read view(). Everything is queued on the one stream that `ops` was made with, in the order of the calls; kernels that
// read the view must be queued on it too, and must have ended before the next begin or select. Nothing is freed before that.
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

/// Where kernels read lists from.
enum class Storage : std::uint8_t {
  host,      ///< the graph's own blocks, which lie in registered or managed memory
  cached,    ///< device memory where select put them, else the graph's own blocks in registered memory
  resident,  ///< device memory, all of them; the graph's own blocks are never read
};

struct DeviceGraphOptions {
  Storage storage = Storage::cached;
  std::size_t cache_bytes = 0;                      ///< for packed blocks, at most; 0: as much as there is
  std::size_t chunk_bytes = std::size_t{16} << 20;  ///< moved while the next is packed; twice that is held on either side
  std::size_t reserve_bytes = 0;                    ///< of what is free on the device: left to others, where that is possible
};

struct DeviceGraphStatistics {
  std::uint64_t copied_bytes = 0;     ///< sent to the device since the mirror was made: rows, batches, packed blocks
  std::uint64_t packed_bytes = 0;     ///< of those: packed blocks
  std::uint64_t kept = 0;             ///< vertices that select wanted and found in place, since the mirror was made
  std::uint64_t moved = 0;            ///< vertices whose blocks were packed and sent
  std::uint64_t evicted = 0;          ///< vertices that gave room to others
  std::uint64_t merged = 0;           ///< vertices that were brought up to date on the device, from the batch lying there
  std::uint64_t cached_vertices = 0;  ///< now
  std::uint64_t cached_lists = 0;     ///< now
  std::uint64_t cached_bytes = 0;     ///< now
  std::uint64_t cache_bytes = 0;      ///< what the budget came to
  bool reduced = false;               ///< device memory was too short for the cache that was asked for, or that there was
  std::uint64_t device_bytes = 0;     ///< all device memory that is held
};

class DeviceGraph {
 public:
  /// Begin takes the cache's memory; where less than asked for is free, it halves until it fits. `workers` outlives it. One
  /// mirror follows one graph at a time; the graph must track its changes (DataGraph::track_changes), else all is sent every
  /// time.
  DeviceGraph(std::unique_ptr<DeviceOps> ops, const DeviceGraphOptions& options, Workers& workers);
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  /// Brings the mirror up to date with the graph, what is staged included. `resolved` is by reading. Throws DeviceOutOfMemory,
  /// Error, std::bad_alloc; the next begin then starts over.
  void begin(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved);
  /// The same where kernels will read no more than `reads`: blocks on the device need not hold other lists. Nothing is staged.
  void begin(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, const Reads& reads);

  /// Storage::cached, after begin: makes these vertices lie in the cache, those first that stand first, as far as they fit.
  /// What lies there already stays; what else does stays while there is room beside some for lists that grow. They stay over
  /// any number of batches, though their lists change, but for few that may find no room in between. Else does nothing.
  void select(std::span<const HotVertex> hot);

  /// The next begin finds the cache empty, as if nothing had been selected before. Storage::cached only.
  void forget() noexcept;

  /// What `vertex` takes in the cache; valid after begin, and any thread may ask. Storage::cached only.
  [[nodiscard]] std::size_t packed_bytes(HotVertex vertex) const noexcept;
  /// Whether kernels find the vertex's lists in device memory; valid after begin or select, until the next.
  [[nodiscard]] bool holds(HotVertex vertex) const noexcept;
  /// Bytes that select can fill.
  [[nodiscard]] std::size_t cache_bytes() const noexcept;
  /// Gives half of the cache's memory back, and forgets what lies in it: for callers that need device memory themselves. False
  /// where there is none left to give. Storage::cached only. Call begin again afterwards.
  bool shrink();

  /// Device pointers; valid until the next begin or select.
  [[nodiscard]] const GraphView& view() const noexcept;
  [[nodiscard]] DeviceGraphStatistics statistics() const noexcept;
  [[nodiscard]] std::size_t host_bytes() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Device memory that Storage::resident needs for the graph as it stands, whatever its readings: an upper bound.
[[nodiscard]] std::size_t resident_bytes(const graph::DataGraph& graph) noexcept;

/// The same, exactly, of the lists that are read, with the least room that a resident graph has beside them. O(|V|).
[[nodiscard]] std::size_t resident_bytes(const graph::DataGraph& graph, const Reads& reads, Workers& workers);

/// Whether the graph can be resident and grow by a quarter within `budget` (0: no bound) and what is free on the device.
[[nodiscard]] bool fits(const graph::DataGraph& graph, std::size_t free_bytes, std::size_t budget) noexcept;

}  // namespace deltamatch::gpu
