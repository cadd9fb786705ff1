// Where matching runs: --backend and what belongs to GPUs. The only place of the program that knows whether it was built with
// them.
#pragma once

#include <memory>
#include <string>

#include "cli/backend_options.hpp"
#include "cli/command.hpp"
#include "deltamatch/engine.hpp"

namespace deltamatch::cli {

void add_backend_options(const Command& command, BackendOptions& options);

/// What the options are called where they were given, for messages.
struct BackendWords {
  std::string backend = "--backend ";  ///< followed by its value
  std::string devices = "--devices";
};

/// Null for the CPU. Throws Error where a GPU is asked for and there is none, or options of GPUs are given without one.
[[nodiscard]] std::shared_ptr<Backend> make_backend(const BackendOptions& options, const BackendWords& words = {});

}  // namespace deltamatch::cli
