// The kernel that counts with tables on one device: its memory, its launches, and what is tried again. Internal to gpu.
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

/// Not thread-safe; on the current device. prepare, launch, and once the stream is done again until there is nothing to be
/// tried again.
class DeviceSums {
 public:
  /// Takes number `share` of `shares` of the work, and memory for it; adds what the kernel reads to `bundle`. `vertices`: more
  /// than any that lists lead to. `most`: bytes for tables and sets, as far as one block gets by with them. Throws
  /// DeviceOutOfMemory.
  void prepare(const FlatSums& flat, std::uint32_t share, std::uint32_t shares, std::size_t vertices, std::size_t most,
               Bundle& bundle);
  [[nodiscard]] bool empty() const noexcept { return light_.items.empty() && heavy_.items.empty(); }

  /// Queues the kernels. `work` has what all kernels read and write; the rest is added. `bundle`: as in prepare, sent.
  void launch(SumLaunch work, const Bundle& bundle, cudaStream_t stream);

  /// Where blocks had too little memory for items, gives them more and queues these again. False where there are none, or no
  /// memory: see given_up. The stream must be done.
  bool launch_again(cudaStream_t stream);

  /// Programs of which some work could not be done for want of memory.
  [[nodiscard]] std::span<const std::uint32_t> given_up() const noexcept { return given_up_; }

 private:
  /// Blocks of one size, with their memory and their work.
  struct Team {
    unsigned warps;
    std::vector<SumItem> items{};
    unsigned blocks = 0;
    SumMemory memory{};
    unsigned clean_blocks = 0;     ///< the first blocks, whose tables are empty
    bool unclean = false;          ///< none are: the kernel may have ended anyhow
    std::uint64_t generation = 0;  ///< of the memory that was laid out
    DeviceBuffer<std::byte> tables{};
    DeviceBuffer<std::uint32_t> refused{};
    std::size_t at_items = 0;
  };

  void take(std::span<const SumItem> items, std::uint32_t share, std::uint32_t shares, Team& team, Bundle& bundle);
  /// Entries of a table that the memory is good for.
  [[nodiscard]] std::size_t planned_capacity(const Team& team) const;
  void lay_out(std::size_t capacity, Team& team) const;
  void queue(Team& team, const SumItem* items, cudaStream_t stream);
  /// Takes what a team refused.
  static void collect(Team& team, std::vector<SumItem>& refused);

  Team light_{light_warps};
  Team heavy_{heavy_warps};
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
