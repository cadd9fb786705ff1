// NVRTC, NVIDIA's compiler as a library. It is opened if it is installed; nothing is linked to it. Internal to gpu.
#pragma once

#include <memory>
#include <string>

namespace deltamatch::gpu {

class Compiler {
 public:
  /// Opens the library: the one that the environment variable DELTAMATCH_NVRTC names, else the newest that is found. Null if
  /// there is none, or if the variable is set and empty.
  [[nodiscard]] static std::unique_ptr<Compiler> open();
  ~Compiler();
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  /// Compiles kernels for a compute capability. The text may include the headers that are built in (gpu/made/embed.cmake).
  /// Returns a cubin. Throws Error with what the compiler says. Calls from several threads may overlap.
  [[nodiscard]] std::string compile(const std::string& text, int major, int minor) const;

 private:
  struct Functions;
  explicit Compiler(std::unique_ptr<Functions> functions);
  std::unique_ptr<Functions> functions_;
};

}  // namespace deltamatch::gpu
