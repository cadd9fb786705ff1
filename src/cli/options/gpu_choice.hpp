// Chooses which of the available GPUs match.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/backend_choice.hpp"
#include "deltamatch/gpu.hpp"

namespace deltamatch::cli {

/// The GPUs of a machine. The members are the functions of deltamatch/gpu.hpp with the same names.
struct Gpus {
  std::function<std::vector<int>()> gpu_devices;
  std::function<std::string()> gpu_absence;
  std::function<std::string()> gpus_without_code;
  std::function<std::shared_ptr<Backend>(const GpuOptions&)> make_gpu_backend;
};

/// Returns null if there is none. Throws Error if a GPU is asked for, or options of GPUs are given, and no GPU can be used. If
/// not, it warns of a GPU that cannot be used; without any it is silent. `options` must have no objection.
[[nodiscard]] std::shared_ptr<Backend> choose_gpu(const BackendOptions& options, const BackendWords& words, const Gpus& gpus);

}  // namespace deltamatch::cli
