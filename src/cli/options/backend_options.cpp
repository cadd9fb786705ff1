#include "cli/options/backend_options.hpp"

namespace deltamatch::cli {

std::optional<Objection> objection(const BackendOptions& options, const std::string& written) {
  if (options.name != automatic_backend && options.name != "gpu" && options.gpu.given()) {
    return Objection{"options of GPUs have no effect with it", "leave them out, or use " + written + "gpu"};
  }
  if (options.gpu.walks > 0 && (options.gpu.walk_count == WalkCount::paper || options.gpu.walk_count == WalkCount::formula)) {
    return Objection{"a number of walks is given, but paper and formula choose it themselves", "leave one of them out"};
  }
  const CachePolicy policy = options.gpu.policy.value_or(CachePolicy::automatic);
  const bool walks = policy == CachePolicy::random_walk || policy == CachePolicy::automatic;
  if (!walks && (options.gpu.walks > 0 || options.gpu.walk_count)) {
    return Objection{"options of walks are given, but this policy takes none",
                     "leave them out, or take the policy random-walk"};
  }
  if (options.gpu.memory > 0 && (policy == CachePolicy::none || policy == CachePolicy::managed)) {
    return Objection{"memory for lists is given, but this policy keeps none", "leave it out, or take another policy"};
  }
#ifndef DELTAMATCH_WITH_GPU
  if (options.name == "gpu" || options.gpu.given()) {
    return Objection{"this program was built without GPU support",
                     options.gpu.given() ? "leave the options of GPUs out" : "use " + written + "cpu"};
  }
#endif
  return std::nullopt;
}

}  // namespace deltamatch::cli
