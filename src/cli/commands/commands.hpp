// The subcommands. Each adds itself and its options to the program. If it is the command given, it leaves a function in `run`.
// That function does the work and returns the exit code.
#pragma once

#include "cli/options/command.hpp"

namespace deltamatch::cli {

void add_replay(const Command& program, Run& run);
void add_match(const Command& program, Run& run);
void add_motifs(const Command& program, Run& run);
void add_cliques(const Command& program, Run& run);
void add_quasi_cliques(const Command& program, Run& run);
void add_explain(const Command& program, Run& run);
void add_validate(const Command& program, Run& run);
void add_convert(const Command& program, Run& run);
void add_generate(const Command& program, Run& run);
void add_snapshot(const Command& program, Run& run);
void add_run(const Command& program, Run& run);  // with the service only, as the next
void add_test_sink(const Command& program, Run& run);

}  // namespace deltamatch::cli
