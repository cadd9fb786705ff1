// The backend that matches on NVIDIA GPUs, for EngineOptions. Part of deltamatch::gpu, which a build without CUDA does not
// have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deltamatch {

class Backend;

/// Which neighbour lists are in device memory while a batch is matched. The kernel reads all others from host memory.
enum class CachePolicy : std::uint8_t {
  automatic,    ///< resident if the graph fits, else random_walk
  random_walk,  ///< lists that save most bus traffic for their size, estimated by random walks through the batch's plans
  degree,       ///< the longest lists
  k_hop,        ///< lists that the batch's matches can reach, nearest first
  none,         ///< no lists: every look-up reads host memory
  managed,      ///< the driver moves pages on demand (unified memory): small graphs only
  resident,     ///< the whole graph, updated in place
};

/// How CachePolicy::random_walk estimates the look-ups of a batch, and with how many random walks.
enum class WalkCount : std::uint8_t {
  even,     ///< GpuOptions::walks walks that visit every partial match of a loop with equal probability
  fixed,    ///< GpuOptions::walks walks as in GCSM (Wei and Jiang, 2024)
  paper,    ///< as fixed, with the number of walks in the paper's experiments
  formula,  ///< as fixed, with the paper's formula (5), repeated with the least estimate so far
};

/// Which sums run in the kernel that counts with tables, instead of the one that walks loops.
enum class GpuTables : std::uint8_t {
  automatic,  ///< sums in which paths from several matched vertices meet at a vertex that is adjacent to none of them
  always,     ///< every sum that it supports
  never,
};

/// Whether loops of a kernel reuse the sets that outer loops have found.
enum class GpuReuse : std::uint8_t {
  automatic,  ///< in programs that are expected to do less than half of the work then
  always,     ///< wherever they can
  never,
};

/// Overrides for tests and measurements. Zero means the normal behaviour.
struct GpuTesting {
  std::uint32_t share_interval = 0;  ///< device clocks after which a busy warp looks for idle ones to share its work with
  double idle_share = 0;             ///< fraction of all warps that must be idle before busy ones share their work
  std::uint32_t spare_pages = 0;     ///< pages for listed matches, beyond one for each warp of a kernel
  std::uint32_t refused_launch = 0;  ///< index of the kernel launch that fails at once, from 1 on each device
  std::uint32_t crashed_launch = 0;  ///< index of the kernel launch that reads an invalid address, from 1 on each device
  GpuTables tables = GpuTables::automatic;
  GpuReuse reuse = GpuReuse::automatic;
  std::size_t table_memory = 0;    ///< bytes for the tables of all blocks together, if a table works with so few
  bool forgets = false;            ///< every batch finds an empty cache
  std::uint32_t refused_slab = 0;  ///< index of the first slab of the graph's lists that CUDA does not register, from 1
  std::uint32_t set_capacity = 0;  ///< ids that a warp can store for reuse by inner loops
  double miss_bytes = 0;           ///< assumed cost in random_walk of a look-up that misses, in addition to reading its list
};

struct GpuOptions {
  static constexpr double least_walks = 0x1p10;
  static constexpr double most_walks = 0x1p22;

  std::vector<int> devices = {};  ///< CUDA ordinals; they share a batch's anchors. Empty: the first of gpu_devices()
  CachePolicy policy = CachePolicy::automatic;
  std::size_t memory = 0;  ///< bytes of each device for neighbour lists; 0: what is free, less a reserve for matching
  /// Random walks for each batch, from least_walks to most_walks. May be given only with WalkCount::even and fixed. The numbers
  /// of the other two are clamped to the same bounds. If it is 0, walks take a twentieth of the time of matching. The cache is
  /// then chosen anew only now and then, which also takes at most a twentieth of the time of matching. If it is given, or with
  /// WalkCount::paper or formula, the cache is chosen anew for every batch.
  double walks = 0;
  WalkCount walk_count = WalkCount::even;
  /// Counts every look-up on the device for CacheStatistics::coverage. This slows matching down.
  bool measure = false;
  GpuTesting testing{};
};

/// The CUDA ordinals, ascending, of the devices that this build has code for.
[[nodiscard]] std::vector<int> gpu_devices();

/// Explains why gpu_devices() is empty, for a message. Empty if there are devices.
[[nodiscard]] std::string gpu_absence();

/// The names of the devices that this build has no code for, separated by commas.
[[nodiscard]] std::string gpus_without_code();

/// Makes the backend. Throws Error if a device does not exist or cannot be used, or if options are invalid.
[[nodiscard]] std::shared_ptr<Backend> make_gpu_backend(const GpuOptions& options = {});

}  // namespace deltamatch
