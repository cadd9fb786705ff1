// Launches the kernels that were made for plans on one device. Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <vector>

#include "gpu/cuda/buffers.hpp"
#include "gpu/cuda/memory.hpp"
#include "gpu/made/driver.hpp"
#include "gpu/made/made_kernels.hpp"
#include "gpu/made/made_launch.hpp"
#include "gpu/made/staged_index.hpp"

namespace deltamatch::gpu {

/// The anchors of one program with kernels of its own, and where they are on the device.
struct MadeWork {
  const MadeKernel* kernel;
  MadePass pass;
};

/// Used with its device current. Not thread-safe.
class MadeLauncher {
 public:
  /// Loads kernels that are not on the device yet, and takes memory for the launches. Throws DeviceOutOfMemory.
  void prepare(const std::vector<const MadeKernel*>& kernels, const GraphView& graph);

  /// Queues the kernels of all work; work of the same kernels lies side by side. Kernels read `graph`, add to
  /// `counters` and end early if `stop` becomes 1. Takes no memory and does not wait.
  void launch(const std::vector<MadeWork>& work, const GraphView& graph, Counters* counters, const unsigned* stop,
              cudaStream_t stream);

 private:
  struct Loaded {
    LoadedModule module;
    std::vector<DriverFunction> kernels;
    std::vector<unsigned> blocks;  // for which all warps run at once
  };
  // Kernels of one plan after the other. Those of several strands run at once.
  struct Strand {
    Stream stream;
    Event done;
    DeviceMemory<MadeState> state;
    DeviceBuffer<std::uint32_t> tasks;
    DeviceBuffer<std::uint32_t> pool;
    DeviceBuffer<std::uint32_t> scratch;
  };
  void launch(const MadeWork* work, std::size_t count, const GraphView& graph, Counters* counters, const unsigned* stop,
              Strand& strand);
  void launch(const MadeKernel& kernel, MadeLaunch launch, cudaStream_t stream);

  std::map<Cubin, Loaded> loaded_;
  std::vector<Strand> strands_;
  Event staged_made_;
  StagedIndex staged_;
  std::size_t pool_words_ = 0;
  std::uint64_t queue_words_ = 0;  // of one depth
};

}  // namespace deltamatch::gpu
