#include "cli/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <string_view>

#include "cli/exit_codes.hpp"

namespace deltamatch::cli {
namespace {

std::atomic<bool> noted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may write no other");

extern "C" void note_interrupt(int /*signal*/) { noted.store(true); }

bool clears_line = false;

extern "C" void end_program(int /*signal*/) {
  // Progress may stand on a terminal's line.
  constexpr std::string_view whole = "\r\x1b[Kdeltamatch: stopped by SIGINT before the graph was read, so there is no answer\n";
  constexpr std::size_t clearing = 4;
  const std::string_view message = clears_line ? whole : whole.substr(clearing);
  // A handler may call little more than these two.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(exit_interrupted);
}

void handle_interrupt(void (*handler)(int), int flags) noexcept {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

void end_at_interrupt() noexcept {
  clears_line = ::isatty(STDERR_FILENO) != 0;
  handle_interrupt(end_program, 0);
}

void watch_interrupts() noexcept {
  // Reads go on; a second signal has its usual effect.
  handle_interrupt(note_interrupt, SA_RESTART | static_cast<int>(SA_RESETHAND));
}

bool interrupted() noexcept { return noted.load(); }

}  // namespace deltamatch::cli
