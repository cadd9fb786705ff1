// CUDA devices: which ones exist, and whether this build's code runs on them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace deltamatch::gpu {

struct Device {
  int ordinal = 0;  ///< CUDA's number in this process
  std::string name;
  int major = 0;  ///< of the compute capability
  int minor = 0;
  std::size_t bytes = 0;  ///< of device memory
  bool has_code = false;  ///< this build has code for it, or code that its driver translates
};

/// Whether this build has code for a compute capability, or code that drivers translate for it.
[[nodiscard]] bool has_code_for(int major, int minor) noexcept;

/// The devices of this process, by ordinal. Empty if there is no driver or no device. Throws Error if CUDA fails in any other
/// way.
[[nodiscard]] std::vector<Device> devices();

/// Runs a small kernel on a device and checks its result. Throws Error if the device does not exist, if this build has no code
/// for it, or if the result is wrong. Creates the device's context, so the first call may take seconds.
void probe(int ordinal);

/// How many of the current device's multiprocessors the blocks of a kernel are to fill: all, unless limited.
[[nodiscard]] int multiprocessors();

/// Limits the multiprocessors that kernels of this process are launched for; 0: no limit. For tests under tools that cost time
/// for each warp.
void limit_multiprocessors(int most) noexcept;

}  // namespace deltamatch::gpu
