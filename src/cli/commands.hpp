// The subcommands. Each adds itself and its options to the program and, when it is the one chosen, leaves in `run` what is to
// be done; running it gives the exit code.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace deltamatch::cli {

using Run = std::function<int()>;

void add_replay(CLI::App& program, Run& run);
void add_match(CLI::App& program, Run& run);
void add_explain(CLI::App& program, Run& run);
void add_validate(CLI::App& program, Run& run);
void add_generate(CLI::App& program, Run& run);
void add_snapshot(CLI::App& program, Run& run);

}  // namespace deltamatch::cli
