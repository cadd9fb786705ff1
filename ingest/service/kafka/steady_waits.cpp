#include "ingest/service/kafka/steady_waits.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace {

constexpr std::int64_t second = 1'000'000'000;

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * second + time.tv_nsec; }

std::int64_t now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return nanoseconds(time);
}

/// The values of both clocks at one moment.
struct Clocks {
  std::int64_t wall = now(CLOCK_REALTIME);
  std::int64_t steady = now(CLOCK_MONOTONIC);
};

/// The clocks when this thread last asked for the wall time. The end of a wait was computed from that time. That holds even if
/// the thread waits several times and the wall clock steps in between.
thread_local Clocks asked{.wall = 0, .steady = 0};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int timespec_get(timespec* time, int base) noexcept {
  if (base != TIME_UTC) return 0;
  asked = Clocks();
  *time = {.tv_sec = asked.wall / second, .tv_nsec = asked.wall % second};
  return base;
}

int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  const Clocks clocks = asked.steady == 0 ? Clocks() : asked;
  const std::int64_t end = clocks.steady + (nanoseconds(*until) - clocks.wall);
  const timespec steady_end{.tv_sec = end > 0 ? end / second : 0, .tv_nsec = end > 0 ? end % second : 0};
  // The C library implements its C types by those of POSIX.
  const int result = ::pthread_cond_clockwait(reinterpret_cast<pthread_cond_t*>(condition),
                                              reinterpret_cast<pthread_mutex_t*>(mutex), CLOCK_MONOTONIC, &steady_end);
  return result == 0 ? thrd_success : result == ETIMEDOUT ? thrd_timedout : thrd_error;
}
}
#pragma GCC visibility pop

namespace deltamatch::ingest::kafka {

bool waits_are_steady() noexcept {
  return ::dlsym(RTLD_DEFAULT, "cnd_timedwait") == reinterpret_cast<void*>(&::cnd_timedwait) &&
         ::dlsym(RTLD_DEFAULT, "timespec_get") == reinterpret_cast<void*>(&::timespec_get);
}

}  // namespace deltamatch::ingest::kafka
