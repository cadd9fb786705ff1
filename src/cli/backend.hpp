// Where matching runs: --backend and what belongs to GPUs. The only place of the program that knows whether it was built with
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cli/backend_options.hpp"
#include "cli/command.hpp"
#include "deltamatch/engine.hpp"

namespace deltamatch::cli {

/// What a command does on GPUs: match with cached neighbour lists, or only count with kernels that keep nothing.
enum class GpuUse : std::uint8_t { caches_lists, counts };

void add_backend_options(const Command& command, BackendOptions& options, GpuUse use = GpuUse::caches_lists);

void warn_on_stderr(const std::string& text);

/// What the options are called where they were given, for messages, and where warnings go.
struct BackendWords {
  std::string backend = "--backend ";  ///< followed by its value
  std::string devices = "--devices";
  std::function<void(const std::string&)> warn = warn_on_stderr;
};

/// Null for the CPU. Throws Error where a GPU is asked for, or options of GPUs are given, and there is none that can be used;
/// `auto` then warns and takes the CPU, silently where there is no device at all.
[[nodiscard]] std::shared_ptr<Backend> make_backend(const BackendOptions& options, const BackendWords& words = {});

}  // namespace deltamatch::cli
