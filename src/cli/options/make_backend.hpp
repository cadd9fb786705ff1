// Where matching runs: --backend and the options of devices.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/options/backend_choice.hpp"
#include "cli/options/backend_options.hpp"
#include "cli/options/command.hpp"
#include "deltamatch/engine.hpp"

namespace deltamatch::cli {

/// What a command does on devices. It matches with cached neighbour lists, or only counts with kernels that keep nothing.
enum class DeviceUse : std::uint8_t { caches_lists, counts };

void add_backend_options(const Command& command, BackendOptions& options, DeviceUse use = DeviceUse::caches_lists);

void warn_on_stderr(const std::string& text);

/// Calls choose_backend with the backends of this build. Also throws Error if the options contradict each other, or this build
/// has no code for them.
[[nodiscard]] std::shared_ptr<Backend> make_backend(const BackendOptions& options,
                                                    const BackendWords& words = {.warn = warn_on_stderr});

}  // namespace deltamatch::cli
