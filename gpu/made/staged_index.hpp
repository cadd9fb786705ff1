// Where the changes of a vertex lie, by vertex: a hash table that kernels made for plans ask. It also has the lists to which
// the batch adds entries, with these. Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gpu/cuda/buffers.hpp"
#include "gpu/made/made_launch.hpp"
#include "gpu/mirror/layout.hpp"

namespace deltamatch::gpu {

/// Used with its device current.
class StagedIndex {
 public:
  /// Takes memory for a store's staged vertices, and the first time `words` for merged lists. Throws DeviceOutOfMemory.
  void prepare(const Store& store, std::size_t words);
  /// Queues the making of the table.
  void make(const Store& store, cudaStream_t stream);
  [[nodiscard]] const std::uint32_t* table() const noexcept { return table_.get(); }
  [[nodiscard]] std::uint32_t mask() const noexcept { return mask_; }
  [[nodiscard]] const MergedLists& merged() const noexcept { return merged_; }

 private:
  DeviceBuffer<std::uint32_t> table_;  // by hash: vertex, first slice, end, header of its merged lists
  DeviceBuffer<std::uint32_t> words_;
  DeviceBuffer<std::uint32_t> state_;
  MergedLists merged_{};
  std::uint32_t mask_ = 0;  // places less one
};

}  // namespace deltamatch::gpu
