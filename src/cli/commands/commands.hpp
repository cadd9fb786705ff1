// The subcommands. Each adds itself and its options to the program and, when it is the one chosen, leaves in `run` what is to
// be done; running it gives the exit code.
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
void add_run(const Command& program, Run& run);  // with the service only

}  // namespace deltamatch::cli
