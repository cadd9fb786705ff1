// Compiled kernels, by their text. A plan takes seconds to compile, so equal texts are compiled once. Internal to gpu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.hpp"

namespace deltamatch::gpu {

using Cubin = std::shared_ptr<const std::string>;

/// Threads may share it.
class Cubins {
 public:
  using Compile = std::function<std::string(const std::string& text)>;

  /// Keeps up to `most_bytes` of texts and cubins. Those that were used last stay.
  explicit Cubins(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The cubins of texts, in the same order. Threads of `workers` call `compile` for texts that are not kept, once for each.
  /// They begin with the longest. If a call throws, so does this, and nothing is kept.
  [[nodiscard]] std::vector<Cubin> of(std::span<const std::string> texts, const Compile& compile, Workers& workers);

 private:
  struct Kept {
    Cubin cubin;
    std::uint64_t used;  // number of the call that asked last
  };
  void keep(const std::string& text, const Cubin& cubin);

  std::mutex mutex_;
  std::map<std::string, Kept, std::less<>> kept_;  // by text
  std::size_t bytes_ = 0;
  std::uint64_t calls_ = 0;
  std::size_t most_bytes_;
};

}  // namespace deltamatch::gpu
