// A flag that stops work early, and the exception that leaves the work.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>

namespace deltamatch {

/// Set to end a run early. Work checks it now and then.
using StopFlag = std::atomic<bool>;

/// Thrown by work that sees the flag. Whoever set the flag catches it; it is not a failure.
class Stopped final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "stopped"; }
};

/// Throws Stopped if the flag is set. The flag may be null.
inline void throw_if_stopped(const StopFlag* stop) {
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw Stopped();
}

/// The same for a loop: checks the flag every 1024th turn.
inline void throw_if_stopped(const StopFlag* stop, std::size_t turn) {
  if (turn % 1024 == 0) throw_if_stopped(stop);
}

}  // namespace deltamatch
