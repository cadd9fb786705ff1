#include "cli/interrupt.hpp"

#include <csignal>

namespace deltamatch::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note_interrupt(int /*signal*/) { noted = 1; }

}  // namespace

void watch_interrupts() noexcept {
  struct sigaction action{};
  action.sa_handler = note_interrupt;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // reads go on; a second signal has its usual effect
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() noexcept { return noted != 0; }

}  // namespace deltamatch::cli
