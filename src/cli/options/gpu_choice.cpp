#include "cli/options/gpu_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "deltamatch/error.hpp"

namespace deltamatch::cli {

std::shared_ptr<Backend> choose_gpu(const BackendOptions& options, const BackendWords& words, const Gpus& gpus) {
  const bool insists = options.insists();
  try {
    const std::vector<int> usable = gpus.gpu_devices();
    if (usable.empty()) {
      if (!insists) {
        if (const std::string strange = gpus.gpus_without_code(); !strange.empty()) {
          words.warn("matching runs on the CPU, since this build has no code for " + strange +
                     "; build one with CMAKE_CUDA_ARCHITECTURES for it");
        }
        return nullptr;
      }
      throw Error(options.name == "gpu" ? words.backend + "gpu" : "options of GPUs", gpus.gpu_absence(),
                  "see nvidia-smi, or use " + words.backend + "cpu" + (options.gpu.given() ? " without options of GPUs" : ""));
    }
    for (const int device : options.gpu.devices) {
      if (std::find(usable.begin(), usable.end(), device) != usable.end()) continue;
      throw Error(ErrorKind::usage, words.devices, "there is no device " + std::to_string(device) + " that can be used",
                  fmt::format("name some of {}", fmt::join(usable, ", ")));
    }
    return gpus.make_gpu_backend({.devices = options.gpu.devices,
                                  .policy = options.gpu.policy.value_or(CachePolicy::automatic),
                                  .memory = options.gpu.memory,
                                  .walks = options.gpu.walks,
                                  .walk_count = options.gpu.walk_count.value_or(WalkCount::even),
                                  .measure = options.gpu.measure});
  } catch (const Error& error) {
    if (insists) throw;
    words.warn(fmt::format("matching runs on the CPU, since the GPU cannot be used: {}", error.what()));
    return nullptr;
  }
}

}  // namespace deltamatch::cli
