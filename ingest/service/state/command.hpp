// Runs a program of the operator's without a shell.
#pragma once

#include <chrono>
#include <span>
#include <stop_token>
#include <string>

namespace deltamatch::ingest {

/// Runs the program `command[0]`, found through PATH, with the other texts as its arguments. Its input is empty. Returns what
/// it writes to standard output, at most 8 MiB. Its environment is that of this process, and its process group is its own.
///
/// Throws Error if it cannot be started, does not end with 0, writes more, or takes longer than `timeout`, or if `stop` was
/// requested. In the last three cases its group gets SIGTERM, and SIGKILL two seconds later. The message names the program and
/// has the end of what it wrote to standard error, but no arguments, which may hold secrets. `where` starts it.
std::string run_command(std::span<const std::string> command, std::chrono::milliseconds timeout, std::string_view where,
                        const std::stop_token& stop = {});

}  // namespace deltamatch::ingest
