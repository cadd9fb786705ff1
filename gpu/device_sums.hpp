// The kernel that counts with tables, on one device: its memory, its launches and its retries. Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/cuda/buffers.hpp"
#include "gpu/program/flat_sums.hpp"
#include "gpu/tables/table_sums.hpp"

namespace deltamatch::gpu {

/// Counts with tables on the current device. Not thread-safe.
///
/// Call prepare, then launch. Then call launch_again each time the stream is done, until it returns false.
class DeviceSums {
 public:
  /// Takes share number `share` of `shares` of the work, with its memory. Adds what the kernel reads to `bundle`. `vertices`
  /// exceeds all ids in the lists. `most` is the limit in bytes for tables and sets; one block may still need more. Throws
  /// DeviceOutOfMemory.
  void prepare(const FlatSums& flat, std::uint32_t share, std::uint32_t shares, std::size_t vertices, std::size_t most,
               Bundle& bundle);
  [[nodiscard]] bool empty() const noexcept { return light_.items.empty() && heavy_.items.empty(); }

  /// Queues the kernels. `work` holds what all kernels share; the rest is filled in here. `bundle` is that of prepare, already
  /// sent.
  void launch(SumLaunch work, const Bundle& bundle, cudaStream_t stream);

  /// Queues the items again whose blocks ran out of memory, with more of it. Returns false if there are none, or if there is no
  /// memory (see given_up). The stream must be done.
  bool launch_again(cudaStream_t stream);

  /// Programs with items that could not be counted for lack of memory.
  [[nodiscard]] std::span<const std::uint32_t> given_up() const noexcept { return given_up_; }

 private:
  /// Blocks of one size, with their memory and their work.
  struct BlockGroup {
    unsigned warps;
    std::vector<SumItem> items{};
    unsigned blocks = 0;
    SumMemory memory{};
    unsigned clean_blocks = 0;     ///< the first blocks, whose tables are empty
    bool unclean = false;          ///< no table is known to be empty, since the kernel may have failed
    std::uint64_t generation = 0;  ///< generation of the memory that was laid out
    DeviceBuffer<std::byte> tables{};
    DeviceBuffer<std::uint32_t> refused{};
    std::size_t at_items = 0;
  };

  void take(std::span<const SumItem> items, std::uint32_t share, std::uint32_t shares, BlockGroup& group, Bundle& bundle);
  /// How many entries each table can have in the memory of a team.
  [[nodiscard]] std::size_t planned_capacity(const BlockGroup& group) const;
  void lay_out(std::size_t capacity, BlockGroup& group) const;
  void queue(BlockGroup& group, const SumItem* items, cudaStream_t stream);
  /// Moves the items that a team refused to `refused`.
  static void collect(BlockGroup& group, std::vector<SumItem>& refused);

  BlockGroup light_{light_warps};
  BlockGroup heavy_{heavy_warps};
  SumLaunch work_{};
  std::uint32_t tables_ = 0;
  std::uint32_t sets_ = 0;
  std::size_t vertices_ = 0;
  std::size_t most_ = 0;  // bytes for each team
  std::vector<std::uint32_t> given_up_;
  DeviceBuffer<SumItem> again_;
  struct {
    std::size_t programs, terms, factors, vertices, edges, anchors;
  } at_{};
};

}  // namespace deltamatch::gpu
