#include "cli/commands/interrupt.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "cli/terminal/exit_codes.hpp"

namespace deltamatch::cli {
namespace {

constexpr std::array heeded{SIGINT, SIGTERM};

std::atomic<int> noted = 0;  // the signal
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may write no other");

bool clears_line = false;

constexpr std::string_view name_of(int signal) noexcept { return signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

/// Writes the signal's name between the two texts. Calls only what a signal handler may call.
void say(std::string_view before, int signal, std::string_view behind) noexcept {
  const std::string_view clearing = clears_line ? "\r\x1b[K" : "";  // a progress line may stand there
  for (const std::string_view part : {clearing, before, name_of(signal), behind}) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, part.data(), part.size());
  }
}

void handle_interrupts(void (*handler)(int), int flags) noexcept {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  for (const int signal : heeded) sigaction(signal, &action, nullptr);
}

extern "C" void note_interrupt(int signal) {
  const int kept = errno;
  noted.store(signal);
  handle_interrupts(SIG_DFL, 0);  // a second signal of either kind has its usual effect
  say("deltamatch: ", signal, ": the run is stopped; a second signal ends it at once, without an answer\n");
  errno = kept;
}

extern "C" void end_program(int signal) {
  say("deltamatch: stopped by ", signal, " before the graph was read, so there is no answer\n");
  ::_exit(exit_by_signal + signal);
}

extern "C" void end_by_timeout(int) {
  constexpr std::string_view text =
      "deltamatch: stopped by --timeout before the graph was read, so there is no answer; raise --timeout, or check that all "
      "inputs deliver data\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(exit_runtime);
}

void set_alarm(std::chrono::microseconds wait, void (*handler)(int)) noexcept {
  struct sigaction action{};
  action.sa_handler = handler;
  sigaction(SIGALRM, &action, nullptr);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(wait.count() / 1'000'000);
  timer.it_value.tv_usec = static_cast<suseconds_t>(wait.count() % 1'000'000);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

void end_after(std::chrono::microseconds timeout) noexcept {
  constexpr std::chrono::milliseconds grace{800};  // an input that is nearly read still gives a report
  set_alarm(timeout + grace, end_by_timeout);
}

void end_at_interrupt() noexcept {
  clears_line = ::isatty(STDERR_FILENO) != 0;
  handle_interrupts(end_program, 0);
}

void watch_interrupts() noexcept {
  handle_interrupts(note_interrupt, SA_RESTART);  // reads are restarted
  set_alarm(std::chrono::microseconds(0), SIG_IGN);
}

bool interrupted() noexcept { return noted.load() != 0; }

std::string_view interrupt_name() noexcept { return name_of(noted.load()); }

int interrupt_exit_code() noexcept { return exit_by_signal + noted.load(); }

}  // namespace deltamatch::cli
