#include "from_options.hpp"

#include <cmath>

#include "deltamatch/error.hpp"
#include "gpu/testing.hpp"

namespace deltamatch::bench {

Graph make_graph(const BenchOptions& options, Workers& workers) {
  if (options.graph == "rmat") {
    return make_rmat({.scale = options.scale, .edges = options.edges, .directed = options.directed}, options.seed, workers);
  }
  if (options.graph == "ldbc") {
    return make_social({.vertices = options.vertices,
                        .edges = options.edges,
                        .exponent = options.exponent,
                        .max_degree = options.max_degree,
                        .local = options.local,
                        .directed = options.directed},
                       options.seed, workers);
  }
  const auto side = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(options.vertices)));
  return make_grid({.width = side, .height = side}, options.seed, workers);
}

#ifdef DELTAMATCH_WITH_GPU
std::shared_ptr<Backend> gpu_backend(const BenchOptions& options, const std::string& policy, std::size_t memory) {
  const GpuSettings wanted = gpu_settings(options, policy, memory);
  const std::size_t there = gpu_devices().size();
  if (there == 0) throw Error(ErrorKind::usage, "--policies", "'" + policy + "' takes a device: " + gpu_absence(), "give cpu");
  if (wanted.devices.size() > there) {
    throw Error(
        ErrorKind::usage, "--policies",
        "'" + policy + "' takes " + std::to_string(wanted.devices.size()) + " devices, there are " + std::to_string(there));
  }
  return make_gpu_backend(wanted, wanted.testing);
}
#else
std::shared_ptr<Backend> gpu_backend(const BenchOptions&, const std::string& policy, std::size_t) {
  throw Error(ErrorKind::usage, "--policies", "'" + policy + "' is not offered in a build without CUDA", "give cpu");
}
#endif

}  // namespace deltamatch::bench
