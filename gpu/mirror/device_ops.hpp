// What the mirror of the data graph asks of a device: memory, copies, and three kernels. The CUDA one queues everything on one
// stream; tests run the mirror on one whose device memory is the host's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gpu/mirror/block_merge.hpp"
#include "gpu/mirror/layout.hpp"

namespace deltamatch::gpu {

/// A row that takes a new value.
struct RowChange {
  Row row;
  std::uint32_t vertex;
  std::uint32_t unused[3];
};
static_assert(sizeof(RowChange) == 32);

/// Words that go to their place in the pool. Both places are multiples of 4 words, and so is the count.
struct Piece {
  std::uint64_t to;    ///< in the pool
  std::uint32_t from;  ///< in what was sent
  std::uint32_t words;
};
static_assert(sizeof(Piece) == 16);

/// Calls take effect in order; they may return before they have.
class DeviceOps {
 public:
  /// Buffers in flight that fence and wait tell apart.
  static constexpr unsigned fences = 3;

  virtual ~DeviceOps() = default;
  DeviceOps() = default;
  DeviceOps(const DeviceOps&) = delete;
  DeviceOps& operator=(const DeviceOps&) = delete;

  /// Of the device, aligned to 256 bytes. Throws DeviceOutOfMemory.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* memory) noexcept = 0;
  /// Of the host, where copies start from. Throws std::bad_alloc.
  [[nodiscard]] virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void free_host(void* memory) noexcept = 0;
  /// Of the device, at this moment.
  [[nodiscard]] virtual std::size_t free_bytes() = 0;

  virtual void copy_in(void* device, const void* host, std::size_t bytes) = 0;

  /// rows[change.vertex] = change.row. A vertex that occurs twice has equal rows.
  virtual void scatter_rows(Row* rows, const RowChange* changes, std::size_t count) = 0;
  virtual void scatter_words(std::uint32_t* pool, const Piece* pieces, std::size_t count, const std::uint32_t* words) = 0;
  virtual void merge(const MergeWork& work, std::size_t pieces) = 0;

  /// Marks the present end of the queue.
  virtual void fence(unsigned which) = 0;
  /// Until everything before that fence has taken effect; at once where it was never set.
  virtual void wait(unsigned which) = 0;
  /// Until everything has taken effect.
  virtual void drain() = 0;
};

}  // namespace deltamatch::gpu
