#include "cli/interrupt.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string_view>

#include "cli/exit_codes.hpp"

namespace deltamatch::cli {
namespace {

constexpr std::array heeded{SIGINT, SIGTERM};

std::atomic<int> noted = 0;  // the signal
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may write no other");

void handle_interrupts(void (*handler)(int), int flags) noexcept {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  for (const int signal : heeded) sigaction(signal, &action, nullptr);
}

extern "C" void note_interrupt(int signal) {
  noted.store(signal);
  handle_interrupts(SIG_DFL, 0);  // a second one, whichever it is, has its usual effect
}

bool clears_line = false;

extern "C" void end_program(int signal) {
  // Progress may stand on a terminal's line.
  const std::string_view clearing = clears_line ? "\r\x1b[K" : "";
  const std::string_view message = signal == SIGTERM
                                       ? "deltamatch: stopped by SIGTERM before the graph was read, so there is no answer\n"
                                       : "deltamatch: stopped by SIGINT before the graph was read, so there is no answer\n";
  // A handler may call little more than these two.
  for (const std::string_view part : {clearing, message}) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, part.data(), part.size());
  }
  ::_exit(exit_by_signal + signal);
}

}  // namespace

void end_at_interrupt() noexcept {
  clears_line = ::isatty(STDERR_FILENO) != 0;
  handle_interrupts(end_program, 0);
}

void watch_interrupts() noexcept { handle_interrupts(note_interrupt, SA_RESTART); }  // reads go on

bool interrupted() noexcept { return noted.load() != 0; }

std::string_view interrupt_name() noexcept { return noted.load() == SIGTERM ? "SIGTERM" : "SIGINT"; }

int interrupt_exit_code() noexcept { return exit_by_signal + noted.load(); }

}  // namespace deltamatch::cli
