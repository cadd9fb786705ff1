// Several arrays in one piece of memory, so that one copy brings them to a device. Internal to gpu.
#pragma once

#include <cstddef>

namespace deltamatch::gpu {

/// Offsets of the arrays, each aligned to 16 bytes.
class Parts {
 public:
  /// Adds an array of `count` Ts and returns its offset.
  template <class T>
  std::size_t add(std::size_t count) noexcept {
    const std::size_t at = bytes_;
    bytes_ = (bytes_ + count * sizeof(T) + 15) / 16 * 16;
    return at;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace deltamatch::gpu
