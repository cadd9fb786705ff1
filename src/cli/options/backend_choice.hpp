// Which of the GPUs at hand match, or whether the CPU does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/backend_options.hpp"
#include "deltamatch/engine.hpp"

namespace deltamatch::cli {

/// What the options are called where they were given, for messages, and where warnings go.
struct BackendWords {
  std::string backend = "--backend ";  ///< followed by its value
  std::string devices = "--devices";
  std::function<void(const std::string&)> warn{};
};

/// The GPUs of a machine: what deltamatch/gpu.hpp has under these names.
struct Gpus {
  std::function<std::vector<int>()> gpu_devices;
  std::function<std::string()> gpu_absence;
  std::function<std::string()> gpus_without_code;
  std::function<std::shared_ptr<Backend>(const GpuOptions&)> make_gpu_backend;
};

/// Null for the CPU. Throws Error where a GPU is asked for, or options of GPUs are given, and there is none that can be used;
/// `auto` then warns and takes the CPU, silently where there is no device. `options` are without objection.
[[nodiscard]] std::shared_ptr<Backend> choose_backend(const BackendOptions& options, const BackendWords& words,
                                                      const Gpus& gpus);

}  // namespace deltamatch::cli
