// Preloaded into the service (LD_PRELOAD). The wall clock is half an hour ahead. With DELTAMATCH_CLOCK=stepping, it steps there
// and back every 100 ms. The kernel does not know about it. So a wait until a wall time that was computed while the clock was
// ahead takes half an hour longer. The same happens after a real step back.
#include <dlfcn.h>
#include <sys/time.h>

#include <cstdlib>
#include <ctime>
#include <string_view>

namespace {

using GetTime = int(clockid_t, timespec*);

int get_time(clockid_t clock, timespec* time) {
  static GetTime* const next = reinterpret_cast<GetTime*>(::dlsym(RTLD_NEXT, "clock_gettime"));
  return next(clock, time);
}

bool steps() {
  const char* const told = std::getenv("DELTAMATCH_CLOCK");
  return told != nullptr && std::string_view(told) == "stepping";
}

int get_wall_time(timespec* time) {
  static const bool stepping = steps();
  timespec steady{};
  get_time(CLOCK_MONOTONIC, &steady);
  const int result = get_time(CLOCK_REALTIME, time);
  if (!stepping || steady.tv_nsec / 100'000'000 % 2 == 0)
    time->tv_sec += 1800;  // brokers refuse records of more than an hour ahead
  return result;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  return clock == CLOCK_REALTIME ? get_wall_time(time) : get_time(clock, time);
}

int timespec_get(timespec* time, int base) noexcept { return base == TIME_UTC && get_wall_time(time) == 0 ? base : 0; }

int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  timespec wall{};
  const int result = get_wall_time(&wall);
  *time = {.tv_sec = wall.tv_sec, .tv_usec = wall.tv_nsec / 1000};
  return result;
}
}
