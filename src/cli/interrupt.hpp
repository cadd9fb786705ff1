// SIGINT: while the start graph is read there is nothing that an answer could cover, and the run ends at once. Later it is a
// request: the batch at hand is finished, or the search of a whole graph broken off, then the run ends with its summary. A
// second SIGINT ends it at once.
#pragma once

namespace deltamatch::cli {

/// From here on SIGINT ends the program with a message and exit_interrupted, also where it waits for input. So no part of a
/// graph is taken for the whole.
void end_at_interrupt() noexcept;
/// From here on, the graph being there, the first SIGINT is only noted. To be called before any output is opened.
void watch_interrupts() noexcept;
/// Called by any thread.
[[nodiscard]] bool interrupted() noexcept;

}  // namespace deltamatch::cli
