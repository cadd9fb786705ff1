#include "cli/options/make_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/option_kinds.hpp"
#include "cli/terminal/output.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::cli {
namespace {

constexpr int most_devices = 1024;

std::vector<int> parse_devices(const std::string& text) {
  std::vector<int> devices;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto device = static_cast<int>(parse_number(text.substr(at, comma - at), "--devices", 0, most_devices - 1));
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      throw Error(ErrorKind::usage, "--devices", "device " + std::to_string(device) + " is named twice", "name each once");
    }
    devices.push_back(device);
    at = comma + 1;
  }
  return devices;
}

/// Turns a table of names into the choices of an option.
template <typename Table>
auto choices(const Table& table) {
  std::vector<std::pair<std::string, typename Table::value_type::second_type>> result;
  result.reserve(table.size());
  for (const auto& [name, value] : table) result.emplace_back(name, value);
  return result;
}

}  // namespace

void warn_on_stderr(const std::string& text) { print_err(fmt::format("deltamatch: {}\n", text)); }

void add_backend_options(const Command& command, BackendOptions& options, DeviceUse use) {
  add_choice(command, "--backend", options.name, "Where matching runs (default: auto, on a GPU if there is one)",
             choices(backend_names()))
      .group("Running");
#ifdef DELTAMATCH_WITH_GPU
  const std::string group = "GPU";
#else
  const std::string group = "GPU (not in this build)";
#endif
  add_size(command, "--gpu-memory", options.gpu.memory,
           use == DeviceUse::counts ? "Memory per device, e.g. 8G (default: what is free, less 1/16)"
                                    : "Memory per device for lists, e.g. 8G (default: free less 1 GiB)")
      .group(group);
  command
      .add_value(
          "--devices", [&options](const std::string& text) { options.gpu.devices = parse_devices(text); },
          "GPUs that share the work, e.g. 0,1 (default: 0)", "LIST")
      .group(group);
  if (use == DeviceUse::counts) return;
  add_choice(command, "--gpu-policy", options.gpu.policy, "Which neighbour lists lie in device memory (default: auto)",
             choices(cache_policy_names))
      .group(group);
  add_fraction(command, "--walks", options.gpu.walks, "Random walks that choose lists in a batch (default: up to 65536)",
               GpuOptions::least_walks, GpuOptions::most_walks)
      .group(group);
  add_choice(command, "--walk-count", options.gpu.walk_count, "How walks are drawn and counted (default: even)",
             choices(walk_count_names))
      .group(group);
  command
      .add_flag(
          "--measure-cache", [&options] { options.gpu.measure = true; },
          "Count all look-ups, to judge the choice of lists; slows matching")
      .group(group);
}

std::shared_ptr<Backend> make_backend(const BackendOptions& options, const BackendWords& words) {
  if (const auto objected = objection(options, words.backend)) {
    throw Error(ErrorKind::usage, options.name == automatic_backend ? "options of GPUs" : words.backend + options.name,
                objected->what, objected->remedy);
  }
  return choose_backend(options, words);
}

}  // namespace deltamatch::cli
