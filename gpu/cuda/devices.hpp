// CUDA devices: which there are, and whether this build's code runs on one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace deltamatch::gpu {

struct Device {
  int ordinal = 0;  ///< as CUDA counts them in this process
  std::string name;
  int major = 0;  ///< compute capability
  int minor = 0;
  std::size_t bytes = 0;  ///< of device memory
  bool has_code = false;  ///< this build holds code for it, if only to be translated by the driver
};

/// Whether this build holds code for devices of a compute capability, or code that drivers translate for them.
[[nodiscard]] bool has_code_for(int major, int minor) noexcept;

/// The devices of this process in order of their ordinals; none where there is no driver or no device. Throws Error where CUDA
/// fails in any other way.
[[nodiscard]] std::vector<Device> devices();

/// Runs a small kernel on a device and checks what it wrote. Throws Error where the device does not exist, where this build
/// holds no code for it, or where its answer is wrong. Creates the device's context: up to seconds for the first call.
void probe(int ordinal);

/// Multiprocessors of the current device that a kernel's blocks are to fill: all, unless limited.
[[nodiscard]] int multiprocessors();

/// For tests under tools whose cost is each warp's: no kernel of this process is launched for more of them; 0: for all.
void limit_multiprocessors(int most) noexcept;

}  // namespace deltamatch::gpu
