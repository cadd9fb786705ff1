// Injects faults into the GPU backend and overrides what it chooses by itself, for tests and measurements. Internal to gpu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "deltamatch/gpu.hpp"
#include "gpu/program/choices.hpp"

namespace deltamatch {

/// Zero means the normal behaviour.
struct GpuTesting {
  std::uint32_t share_interval = 0;  ///< device clocks after which a busy warp looks for idle ones to share its work with
  double idle_share = 0;             ///< fraction of all warps that must be idle before busy ones share their work
  std::uint32_t spare_pages = 0;     ///< pages for listed matches, beyond one for each warp of a kernel
  std::uint32_t refused_launch = 0;  ///< index of the kernel launch that fails at once, from 1 on each device
  std::uint32_t crashed_launch = 0;  ///< index of the kernel launch that reads an invalid address, from 1 on each device
  GpuTables tables = GpuTables::automatic;
  GpuReuse reuse = GpuReuse::automatic;
  GpuMade made = GpuMade::never;
  std::size_t table_memory = 0;    ///< bytes for the tables of all blocks together, if a table works with so few
  bool forgets = false;            ///< every batch finds an empty cache
  std::uint32_t refused_slab = 0;  ///< index of the first slab of the graph's lists that CUDA does not register, from 1
  std::uint32_t set_capacity = 0;  ///< ids that a warp can store for reuse by inner loops
  double ring_share = 0;           ///< part of a cache that kernels fill themselves; below 0: none
  double miss_bytes = 0;           ///< assumed cost in random_walk of a look-up that misses, in addition to reading its list
};

/// What the parts of the backend get.
struct GpuSettings : GpuOptions {
  GpuTesting testing{};
};

/// Makes the backend as make_gpu_backend(options) does, with overrides.
[[nodiscard]] std::shared_ptr<Backend> make_gpu_backend(const GpuOptions& options, const GpuTesting& testing);

}  // namespace deltamatch
