// The time since a point in time, in seconds.
#pragma once

#include <chrono>

namespace deltamatch {

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace deltamatch
