// Where matching is to run, as stated on the command line or in a configuration. Each backend with options of its own has a
// struct for them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/gpu.hpp"

namespace deltamatch::cli {

/// The name that stands for the best backend of this machine.
inline constexpr std::string_view automatic_backend = "auto";

/// What a user has stated for GPUs only: the options --gpu-…, --devices, --walks and their like, or the section engine.gpu.
struct GpuChoices {
  std::optional<CachePolicy> policy;
  std::size_t memory = 0;    ///< bytes; 0: not given
  std::vector<int> devices;  ///< empty: not given
  double walks = 0;          ///< 0: not given
  std::optional<WalkCount> walk_count;
  bool measure = false;

  [[nodiscard]] bool given() const noexcept {
    return policy.has_value() || memory > 0 || !devices.empty() || walks > 0 || walk_count.has_value() || measure;
  }
  friend bool operator==(const GpuChoices&, const GpuChoices&) = default;
};

struct BackendOptions {
  std::string name = std::string(automatic_backend);  ///< one of backend_names()
  GpuChoices gpu;

  /// Whether nothing says where to match.
  [[nodiscard]] bool automatic() const noexcept { return name == automatic_backend && !gpu.given(); }
  /// Whether a device is asked for.
  [[nodiscard]] bool insists() const noexcept { return name == automatic_backend ? gpu.given() : name != "cpu"; }
  friend bool operator==(const BackendOptions&, const BackendOptions&) = default;
};

inline constexpr std::array<std::pair<std::string_view, CachePolicy>, 7> cache_policy_names{
    {{"auto", CachePolicy::automatic},
     {"random-walk", CachePolicy::random_walk},
     {"degree", CachePolicy::degree},
     {"k-hop", CachePolicy::k_hop},
     {"none", CachePolicy::none},
     {"managed", CachePolicy::managed},
     {"resident", CachePolicy::resident}}};

inline constexpr std::array<std::pair<std::string_view, WalkCount>, 4> walk_count_names{
    {{"even", WalkCount::even}, {"fixed", WalkCount::fixed}, {"paper", WalkCount::paper}, {"formula", WalkCount::formula}}};

/// Why this build cannot do what the options ask for, and what to do about it. `written` is how the user chooses a backend
/// ("--backend ", "backend: ").
struct Objection {
  std::string what;
  std::string remedy;
};
[[nodiscard]] std::optional<Objection> objection(const BackendOptions& options, const std::string& written);

}  // namespace deltamatch::cli
