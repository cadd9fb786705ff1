// SIGINT as a request: the batch at hand is finished, or the search of a whole graph broken off, then the run ends with its
// summary. A second SIGINT ends it at once.
#pragma once

namespace deltamatch::cli {

/// From here on the first SIGINT is only noted.
void watch_interrupts() noexcept;
/// Called by any thread.
[[nodiscard]] bool interrupted() noexcept;

}  // namespace deltamatch::cli
