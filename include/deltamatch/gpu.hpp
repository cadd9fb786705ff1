// Matching on NVIDIA GPUs: a backend for EngineOptions. Part of deltamatch::gpu, which a build without CUDA does not have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deltamatch {

class Backend;

/// Which neighbour lists lie in device memory while a batch is matched. All others are read from host memory by the kernel.
enum class CachePolicy : std::uint8_t {
  automatic,    ///< resident where the graph fits, else random_walk
  random_walk,  ///< those that save most of the bus for their size, as random walks through the batch's plans find
  degree,       ///< the longest
  k_hop,        ///< those that the batch's matches can reach, nearest first
  none,         ///< no list: every look-up reads host memory
  managed,      ///< the driver moves pages on demand (unified memory): small graphs only
  resident,     ///< the whole graph, updated in place
};

/// How CachePolicy::random_walk estimates what a batch will look up, and with how many random walks.
enum class WalkCount : std::uint8_t {
  even,     ///< every partial match of a loop is visited with one probability; GpuOptions::walks of them
  fixed,    ///< walks as in GCSM (Wei and Jiang, 2024), GpuOptions::walks of them
  paper,    ///< the same, as many as the paper's experiments take
  formula,  ///< the same, as many as the paper's formula (5) asks for, again and again with the least estimate so far
};

/// Which sums the kernel that counts with tables works, rather than the one that walks loops.
enum class GpuTables : std::uint8_t {
  automatic,  ///< those in which ways from several matched vertices meet at one that is next to none
  always,     ///< all that it can
  never,
};

/// Whether loops of a kernel read again the sets that loops above them have found.
enum class GpuReuse : std::uint8_t {
  automatic,  ///< in the programs that are expected to do less than half of the work then
  always,     ///< where they can
  never,
};

/// For tests and measurements: zero stands for what is done otherwise.
struct GpuTesting {
  std::uint32_t share_interval =
      0;                          ///< clocks of the device after which a busy warp looks for idle ones to share its work with
  double idle_share = 0;          ///< of all warps, that must be idle before parts of work are given to them
  std::uint32_t spare_pages = 0;  ///< pages for listed matches, beyond one for each warp of a kernel
  std::uint32_t refused_launch = 0;  ///< counted from 1 on each device: the launch of a kernel that fails at once
  std::uint32_t crashed_launch = 0;  ///< likewise: the one whose kernel reads where it must not
  GpuTables tables = GpuTables::automatic;
  GpuReuse reuse = GpuReuse::automatic;
  std::size_t table_memory = 0;    ///< bytes for the tables of all blocks together, as far as one gets by with them
  bool forgets = false;            ///< every batch finds an empty cache
  std::uint32_t refused_slab = 0;  ///< counted from 1: the first slab of the graph's lists that CUDA does not register
  std::uint32_t set_capacity = 0;  ///< ids that a warp has room for, to be read again by the loops below a loop
  double miss_bytes = 0;           ///< what random-walk takes a look-up that misses to cost beyond reading its list
};

struct GpuOptions {
  static constexpr double least_walks = 0x1p10;
  static constexpr double most_walks = 0x1p22;

  std::vector<int> devices = {};  ///< CUDA ordinals; a batch's anchors are split over them. Empty: the first of gpu_devices()
  CachePolicy policy = CachePolicy::automatic;
  std::size_t memory = 0;  ///< bytes of each device for neighbour lists; 0: what is free, less a reserve for matching
  /// Random walks for each batch, from least_walks to most_walks; 0: as many as take a twentieth of the time of matching, and
  /// only where the cache is chosen anew, which takes a twentieth of the time of matching at most. A cache is chosen for every
  /// batch where a number is given, or WalkCount::paper or formula. To be given with WalkCount::even
  /// and fixed only; what the others ask for is brought to within the same bounds.
  double walks = 0;
  WalkCount walk_count = WalkCount::even;
  /// Counts every look-up on the device for CacheStatistics::coverage. Slows matching down.
  bool measure = false;
  GpuTesting testing{};
};

/// CUDA ordinals of the devices that this build has code for, ascending.
[[nodiscard]] std::vector<int> gpu_devices();

/// Why there are none, for a message; empty where there are.
[[nodiscard]] std::string gpu_absence();

/// The names of the devices that this build has no code for, with commas between them.
[[nodiscard]] std::string gpus_without_code();

/// Throws Error where a device does not exist or cannot be used, or options make no sense.
[[nodiscard]] std::shared_ptr<Backend> make_gpu_backend(const GpuOptions& options = {});

}  // namespace deltamatch
