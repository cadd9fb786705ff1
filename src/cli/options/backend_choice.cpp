#include "cli/options/backend_choice.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/options/gpu_choice.hpp"

namespace deltamatch::cli {

namespace {

std::shared_ptr<Backend> make_cpu(const BackendOptions& /*options*/, const BackendWords& /*words*/) { return nullptr; }

#ifdef DELTAMATCH_WITH_GPU
std::shared_ptr<Backend> make_gpu(const BackendOptions& options, const BackendWords& words) {
  return choose_gpu(options, words,
                    {gpu_devices, gpu_absence, gpus_without_code, [](const GpuOptions& gpu) { return make_gpu_backend(gpu); }});
}
#else
// objection() refuses a GPU that is asked for.
std::shared_ptr<Backend> make_gpu(const BackendOptions& /*options*/, const BackendWords& /*words*/) { return nullptr; }
#endif

}  // namespace

BackendWords configuration_words(std::function<void(const std::string&)> warn) {
  return {.backend = "engine.backend: ", .devices = "engine.gpu.devices", .warn = std::move(warn)};
}

std::span<const BackendEntry> backend_table() {
  static const std::array table{
      BackendEntry{"gpu", true, make_gpu},
      BackendEntry{"cpu", false, make_cpu},
  };
  return table;
}

std::vector<std::pair<std::string_view, std::string>> backend_names(std::span<const BackendEntry> table) {
  std::vector<std::pair<std::string_view, std::string>> names;
  for (const BackendEntry& entry : table) names.emplace_back(entry.name, entry.name);
  std::ranges::sort(names);
  names.emplace(names.begin(), automatic_backend, automatic_backend);
  return names;
}

std::shared_ptr<Backend> choose_backend(const BackendOptions& options, const BackendWords& words,
                                        std::span<const BackendEntry> table) {
  for (const BackendEntry& entry : table) {
    const bool wanted = options.name == automatic_backend ? entry.automatic : options.name == entry.name;
    if (!wanted) continue;
    if (auto made = entry.make(options, words)) return made;
  }
  return nullptr;
}

}  // namespace deltamatch::cli
