#include "cli/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace deltamatch::cli {
namespace {

std::atomic<bool> noted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may write no other");

extern "C" void note_interrupt(int /*signal*/) { noted.store(true); }

}  // namespace

void watch_interrupts() noexcept {
  struct sigaction action{};
  action.sa_handler = note_interrupt;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // reads go on; a second signal has its usual effect
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() noexcept { return noted.load(); }

}  // namespace deltamatch::cli
