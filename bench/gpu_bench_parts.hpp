// What gpu_bench's two contests share: graphs, backends, and the one of whole graphs.
#pragma once

#include <memory>
#include <string>

#include "base/parallel.hpp"
#include "deltamatch/engine.hpp"
#include "gpu_bench_options.hpp"
#include "graphs.hpp"
#include "result_lines.hpp"

namespace deltamatch::bench {

/// Of the kind, the size and the seed that the options say.
[[nodiscard]] Graph make_graph(const BenchOptions& options, Workers& workers);

/// A GPU under a policy; `memory`: bytes for what a caching policy caches. Throws Error where there is no such policy, or where
/// the build has no GPU.
[[nodiscard]] std::shared_ptr<Backend> gpu_backend(const BenchOptions& options, const std::string& policy, std::size_t memory);

/// Counts each query in the whole graph under each policy, on an engine of its own: caches hold 1 / options.parts of the lists.
/// One JSON line for the graph and one for each count; returns 1 where counts differ or a policy fails, else 0.
int run_whole(const BenchOptions& options, Report& report);

}  // namespace deltamatch::bench
