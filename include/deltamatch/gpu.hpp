// The backend that matches on NVIDIA GPUs, for EngineOptions. Part of deltamatch::gpu, which a build without CUDA does not
// have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "deltamatch/backend.hpp"

namespace deltamatch {

/// Which neighbour lists are in device memory while a batch is matched. The kernel reads all others from host memory.
enum class CachePolicy : std::uint8_t {
  automatic,  ///< resident if the graph fits, else random_walk
  /// Lists that save most bus traffic for their size, estimated by random walks through the batch's plans, and lists that
  /// kernels have missed lately. Which share each of them has is found by measurement.
  random_walk,
  degree,    ///< the longest lists
  k_hop,     ///< lists that the batch's matches can reach, nearest first
  none,      ///< no lists: every look-up reads host memory
  managed,   ///< the driver moves pages on demand (unified memory): small graphs only
  resident,  ///< the whole graph, updated in place
};

/// How CachePolicy::random_walk estimates the look-ups of a batch, and with how many random walks.
enum class WalkCount : std::uint8_t {
  even,     ///< GpuOptions::walks walks that visit every partial match of a loop with equal probability
  fixed,    ///< GpuOptions::walks walks as in GCSM (Wei and Jiang, 2024)
  paper,    ///< as fixed, with the number of walks in the paper's experiments
  formula,  ///< as fixed, with the paper's formula (5), repeated with the least estimate so far
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
  /// Counts every look-up on the device for backend_metrics::coverage. This slows matching down.
  bool measure = false;
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
