// Where matching runs: --backend and what belongs to GPUs. The only place of the program that knows whether it was built with
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/options/backend_choice.hpp"
#include "cli/options/backend_options.hpp"
#include "cli/options/command.hpp"
#include "deltamatch/engine.hpp"

namespace deltamatch::cli {

/// What a command does on GPUs: match with cached neighbour lists, or only count with kernels that keep nothing.
enum class GpuUse : std::uint8_t { caches_lists, counts };

void add_backend_options(const Command& command, BackendOptions& options, GpuUse use = GpuUse::caches_lists);

void warn_on_stderr(const std::string& text);

/// choose_backend for the GPUs that there are. Throws Error also where the options do not go together or the build has no code
/// for what they ask; where it was built without GPU support, `auto` takes the CPU silently.
[[nodiscard]] std::shared_ptr<Backend> make_backend(const BackendOptions& options,
                                                    const BackendWords& words = {.warn = warn_on_stderr});

}  // namespace deltamatch::cli
