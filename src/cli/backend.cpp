#include "cli/backend.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/option_kinds.hpp"
#include "deltamatch/error.hpp"
#ifdef DELTAMATCH_WITH_GPU
#include "deltamatch/gpu.hpp"
#endif

namespace deltamatch::cli {
namespace {

constexpr const char* policies = "auto|random-walk|degree|k-hop|none|managed|resident";

bool tunes_gpu(const BackendOptions& options) {
  return !options.policy.empty() || !options.memory.empty() || !options.devices.empty() || options.walks > 0 || options.measure;
}

#ifdef DELTAMATCH_WITH_GPU

constexpr std::array<std::pair<std::string_view, CachePolicy>, 7> policy_names{{{"auto", CachePolicy::automatic},
                                                                                {"random-walk", CachePolicy::random_walk},
                                                                                {"degree", CachePolicy::degree},
                                                                                {"k-hop", CachePolicy::k_hop},
                                                                                {"none", CachePolicy::none},
                                                                                {"managed", CachePolicy::managed},
                                                                                {"resident", CachePolicy::resident}}};

CachePolicy parse_policy(const std::string& text) {
  if (text.empty()) return CachePolicy::automatic;
  const auto* at =
      std::find_if(policy_names.begin(), policy_names.end(), [&](const auto& entry) { return entry.first == text; });
  if (at == policy_names.end()) {
    throw Error(ErrorKind::usage, "--gpu-policy", "'" + text + "' is not offered", std::string("choose one of ") + policies);
  }
  return at->second;
}

// A number of bytes with K, M or G behind it (powers of 1024).
std::size_t parse_bytes(const std::string& text) {
  if (text.empty()) return 0;
  std::string digits = text;
  unsigned shift = 0;
  switch (digits.back()) {
    case 'K':
      shift = 10;
      break;
    case 'M':
      shift = 20;
      break;
    case 'G':
      shift = 30;
      break;
    default:
      break;
  }
  if (shift > 0) digits.pop_back();
  return static_cast<std::size_t>(parse_number(digits, "--gpu-memory", 1, (std::uint64_t{1} << 44) >> shift)) << shift;
}

std::vector<int> parse_devices(const std::string& text, int count) {
  if (text.empty()) return {0};
  std::vector<int> devices;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto device = static_cast<int>(
        parse_number(text.substr(at, comma - at), "--devices", 0, static_cast<std::uint64_t>(std::max(count - 1, 0))));
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      throw Error(ErrorKind::usage, "--devices", "device " + std::to_string(device) + " is named twice", "name each once");
    }
    devices.push_back(device);
    at = comma + 1;
  }
  return devices;
}

#endif

}  // namespace

void add_backend_options(const Command& command, BackendOptions& options) {
  using Kind = BackendOptions::Kind;
  add_choice(command, "--backend", options.kind, "Where matching runs (default: auto, a GPU where there is one)",
             std::vector<std::pair<std::string, Kind>>{{"auto", Kind::automatic}, {"cpu", Kind::cpu}, {"gpu", Kind::gpu}})
      .group("Running");
  const std::string group = "GPU";
  command.add_text("--gpu-policy", options.policy, "Which neighbour lists lie in device memory (default: auto)", policies)
      .group(group);
  command
      .add_text("--gpu-memory", options.memory, "Device memory for neighbour lists, e.g. 8G (default: what is free)", "BYTES")
      .group(group);
  command.add_text("--devices", options.devices, "GPUs that share the work, e.g. 0,1 (default: 0)", "LIST").group(group);
  add_fraction(command, "--walks", options.walks, "Random walks that estimate what is hot in each batch (default: 65536)", 1,
               1e12)
      .group(group);
  command
      .add_flag(
          "--measure-cache", [&options] { options.measure = true; },
          "Count every look-up on the device, to tell how well the cache is chosen (slows matching down)")
      .group(group);
}

std::shared_ptr<Backend> make_backend(const BackendOptions& options) {
  using Kind = BackendOptions::Kind;
  if (options.kind == Kind::cpu && tunes_gpu(options)) {
    throw Error(ErrorKind::usage, "--backend cpu", "options of GPUs are given too", "leave them out, or use --backend gpu");
  }
#ifdef DELTAMATCH_WITH_GPU
  if (options.kind == Kind::cpu) return nullptr;
  const CachePolicy policy = parse_policy(options.policy);
  const std::size_t memory = parse_bytes(options.memory);
  const int count = gpu_count();
  if (count == 0) {
    if (options.kind == Kind::automatic && !tunes_gpu(options)) return nullptr;
    throw Error(options.kind == Kind::gpu ? "--backend gpu" : "options of GPUs", "no CUDA device is found",
                "see nvidia-smi, or use --backend cpu without them");
  }
  return make_gpu_backend({.devices = parse_devices(options.devices, count),
                           .policy = policy,
                           .memory = memory,
                           .walks = options.walks,
                           .measure = options.measure});
#else
  if (options.kind == Kind::gpu || tunes_gpu(options)) {
    throw Error(ErrorKind::usage, "--backend gpu", "this program was built without GPU support", "use --backend cpu");
  }
  return nullptr;
#endif
}

}  // namespace deltamatch::cli
