// Chooses which of the available GPUs match, or that the CPU does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/backend_options.hpp"
#include "deltamatch/engine.hpp"

namespace deltamatch::cli {

/// What the options are called where they were given, for messages. Also says where warnings go.
struct BackendWords {
  std::string backend = "--backend ";  ///< followed by its value
  std::string devices = "--devices";
  std::function<void(const std::string&)> warn{};
};

/// The GPUs of a machine. The members are the functions of deltamatch/gpu.hpp with the same names.
struct Gpus {
  std::function<std::vector<int>()> gpu_devices;
  std::function<std::string()> gpu_absence;
  std::function<std::string()> gpus_without_code;
  std::function<std::shared_ptr<Backend>(const GpuOptions&)> make_gpu_backend;
};

/// Returns null for the CPU. Throws Error if a GPU is asked for, or options of GPUs are given, and no GPU can be used. In that
/// case `auto` warns and takes the CPU; without any device it does so silently. `options` must have no objection.
[[nodiscard]] std::shared_ptr<Backend> choose_backend(const BackendOptions& options, const BackendWords& words,
                                                      const Gpus& gpus);

}  // namespace deltamatch::cli
