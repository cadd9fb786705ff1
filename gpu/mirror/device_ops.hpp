// What the mirror of the data graph needs from a device: memory, copies, and three kernels. The CUDA implementation queues
// everything on one stream. Tests use one whose device memory is the host's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gpu/mirror/block_merge.hpp"
#include "gpu/mirror/layout.hpp"

namespace deltamatch::gpu {

/// A new value for a row.
struct RowChange {
  Row row;
  std::uint32_t vertex;
  std::uint32_t unused[3];
};
static_assert(sizeof(RowChange) == 32);

/// Words that are copied to their place in the pool. Both places and the count are multiples of 4 words.
struct Piece {
  std::uint64_t to;    ///< in the pool
  std::uint32_t from;  ///< in what was sent
  std::uint32_t words;
};
static_assert(sizeof(Piece) == 16);

/// Calls take effect in order. They may return before that.
class DeviceOps {
 public:
  /// Number of fences, one for each buffer in flight.
  static constexpr unsigned fences = 3;

  virtual ~DeviceOps() = default;
  DeviceOps() = default;
  DeviceOps(const DeviceOps&) = delete;
  DeviceOps& operator=(const DeviceOps&) = delete;

  /// Device memory, aligned to 256 bytes. Throws DeviceOutOfMemory.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* memory) noexcept = 0;
  /// Host memory that copies start from. Throws std::bad_alloc.
  [[nodiscard]] virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void free_host(void* memory) noexcept = 0;
  /// Free device memory at this moment.
  [[nodiscard]] virtual std::size_t free_bytes() = 0;

  virtual void copy_in(void* device, const void* host, std::size_t bytes) = 0;

  /// Sets bytes of device memory to one value.
  virtual void set(void* device, std::uint8_t value, std::size_t bytes) = 0;

  /// Sets rows[change.vertex] = change.row. If a vertex occurs twice, its rows are equal. Sets places[change.vertex] to
  /// DemandRing::absent, if `places` is not null.
  virtual void scatter_rows(Row* rows, const RowChange* changes, std::size_t count, std::uint32_t* places) = 0;
  virtual void scatter_words(std::uint32_t* pool, const Piece* pieces, std::size_t count, const std::uint32_t* words) = 0;
  virtual void merge(const MergeWork& work, std::size_t pieces) = 0;

  /// Sets a fence at the current end of the queue.
  virtual void fence(unsigned which) = 0;
  /// Waits until everything before the fence has taken effect. Returns at once if the fence was never set.
  virtual void wait(unsigned which) = 0;
  /// Waits until everything has taken effect.
  virtual void drain() = 0;
};

}  // namespace deltamatch::gpu
