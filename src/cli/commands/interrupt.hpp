// What SIGINT and SIGTERM do.
// - While the start graph is read, there is nothing to report. The run ends at once.
// - Later, a signal is a request, acknowledged on standard error at once. The run abandons the batch at hand, or stops the
//   search of a whole graph. Then it prints its summary and ends.
// - A second signal ends the run.
#pragma once

#include <chrono>
#include <string_view>

namespace deltamatch::cli {

/// From here on, either signal ends the program with a message and its exit code, even while it waits for input. So a part of a
/// graph is never reported as the whole.
void end_at_interrupt() noexcept;
/// Shortly after the time-out, counted from this call, the program ends in the same way with exit code 1. A call of
/// watch_interrupts() before that lifts it.
void end_after(std::chrono::microseconds timeout) noexcept;
/// From here on, the first signal is only noted and acknowledged. Call it after the graph is read, and before any output is
/// opened.
void watch_interrupts() noexcept;
/// Any thread may call it.
[[nodiscard]] bool interrupted() noexcept;
/// The name of the signal that was noted. Call it only if interrupted().
[[nodiscard]] std::string_view interrupt_name() noexcept;
/// 130 after SIGINT, 143 after SIGTERM, as shells report them. Call it only if interrupted().
[[nodiscard]] int interrupt_exit_code() noexcept;

}  // namespace deltamatch::cli
