#include "gpu_bench_parts.hpp"

#include <cmath>
#include <map>

#include "deltamatch/error.hpp"
#ifdef DELTAMATCH_WITH_GPU
#include "deltamatch/gpu.hpp"
#endif

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
  static const std::map<std::string, CachePolicy> names{
      {"automatic", CachePolicy::automatic}, {"none", CachePolicy::none},       {"degree", CachePolicy::degree},
      {"k-hop", CachePolicy::k_hop},         {"managed", CachePolicy::managed}, {"random-walk", CachePolicy::random_walk},
      {"resident", CachePolicy::resident}};
  static const std::map<std::string, GpuTables> tables{
      {"auto", GpuTables::automatic}, {"always", GpuTables::always}, {"never", GpuTables::never}};
  static const std::map<std::string, WalkCount> walk_counts{
      {"even", WalkCount::even}, {"fixed", WalkCount::fixed}, {"paper", WalkCount::paper}, {"formula", WalkCount::formula}};
  const auto at = names.find(policy);
  if (at == names.end()) throw Error(ErrorKind::usage, "--policies", "'" + policy + "' is not offered");
  const bool cached = policy == "automatic" || policy == "degree" || policy == "k-hop" || policy == "random-walk";
  return make_gpu_backend(
      {.devices = {0},
       .policy = at->second,
       .memory = cached ? memory : 0,
       .walks = options.walks,
       .measure = options.measure,
       .testing = {.idle_share = options.idle_share, .tables = tables.at(options.tables), .forgets = options.fresh}});
}
#else
std::shared_ptr<Backend> gpu_backend(const BenchOptions&, const std::string& policy, std::size_t) {
  throw Error(ErrorKind::usage, "--policies", "'" + policy + "' is not offered in a build without CUDA", "give cpu");
}
#endif

}  // namespace deltamatch::bench
