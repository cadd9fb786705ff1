// From the options of gpu_bench and bench_caching to what they measure: graphs and backends.
#pragma once

#include <memory>
#include <string>

#include "base/parallel.hpp"
#include "bench_options.hpp"
#include "deltamatch/engine.hpp"
#include "graphs.hpp"

namespace deltamatch::bench {

/// Makes the graph of the kind, size and seed that the options name.
[[nodiscard]] Graph make_graph(const BenchOptions& options, Workers& workers);

/// A GPU under a policy. `memory` is what a caching policy may cache, in bytes. Throws Error if there is no such policy, or if
/// the build has no GPU.
[[nodiscard]] std::shared_ptr<Backend> gpu_backend(const BenchOptions& options, const std::string& policy, std::size_t memory);

}  // namespace deltamatch::bench
