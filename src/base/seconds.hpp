// Times in seconds: since a point in time, and of processors.
#pragma once

#include <chrono>
#include <ctime>

namespace deltamatch {

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The time of processors that the threads of this process have taken so far.
[[nodiscard]] inline double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace deltamatch
