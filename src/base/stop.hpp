// A flag that ends work early, and what leaves the work once it is seen.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>

namespace deltamatch {

/// Set where a run is to end early; checked now and then.
using StopFlag = std::atomic<bool>;

/// Leaves work that was to stop, for whoever set the flag: it is caught there, and is no failure.
class Stopped final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "stopped"; }
};

/// Throws Stopped once the flag, which may be null, is set.
inline void leave_if(const StopFlag* stop) {
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw Stopped();
}

/// The same in a loop: looks at every 1024th turn.
inline void leave_if(const StopFlag* stop, std::size_t turn) {
  if (turn % 1024 == 0) leave_if(stop);
}

}  // namespace deltamatch
