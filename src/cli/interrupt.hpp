// SIGINT and SIGTERM: while the start graph is read there is nothing that an answer could cover, and the run ends at once.
// Later either is a request: the batch at hand is abandoned, or the search of a whole graph broken off, then the run ends with
// its summary. The request is acknowledged on standard error at once. A second signal ends the run.
#pragma once

#include <chrono>
#include <string_view>

namespace deltamatch::cli {

/// From here on either signal ends the program with a message and its exit code, also where it waits for input. So no part of a
/// graph is taken for the whole.
void end_at_interrupt() noexcept;
/// So long after this call, and some moments, the program ends likewise with exit code 1, unless watch_interrupts() has been
/// called by then.
void end_after(std::chrono::microseconds timeout) noexcept;
/// From here on, the graph being there, the first signal is only noted, and said to be. To be called before any output is
/// opened.
void watch_interrupts() noexcept;
/// Called by any thread.
[[nodiscard]] bool interrupted() noexcept;
/// Of the signal that was noted; to be called once interrupted().
[[nodiscard]] std::string_view interrupt_name() noexcept;
/// 130 for SIGINT, 143 for SIGTERM, as a shell tells them; to be called once interrupted().
[[nodiscard]] int interrupt_exit_code() noexcept;

}  // namespace deltamatch::cli
