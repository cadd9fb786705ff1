// Where the changes of a vertex lie, by vertex: a hash table that kernels made for plans ask. Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/cuda/buffers.hpp"
#include "gpu/mirror/layout.hpp"

namespace deltamatch::gpu {

/// Used with its device current.
class StagedIndex {
 public:
  /// Takes memory for a store's staged vertices. Throws DeviceOutOfMemory.
  void prepare(const Store& store);
  /// Queues the making of the table.
  void make(const Store& store, cudaStream_t stream);
  [[nodiscard]] const std::uint32_t* table() const noexcept { return table_.get(); }
  [[nodiscard]] std::uint32_t mask() const noexcept { return mask_; }

 private:
  DeviceBuffer<std::uint32_t> table_;  // by hash: vertex, first slice, end, unused
  std::uint32_t mask_ = 0;             // places less one
};

}  // namespace deltamatch::gpu
