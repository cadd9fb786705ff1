// Time that a thread has had a core for: where other work shares the machine, what it takes from the thread does not count.
#pragma once

#include <ctime>

namespace deltamatch::bench {

/// Seconds of the calling thread.
[[nodiscard]] inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace deltamatch::bench
