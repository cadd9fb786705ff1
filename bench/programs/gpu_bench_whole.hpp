// gpu_bench --whole: compares counts in whole graphs.
#pragma once

#include "bench/harness/bench_options.hpp"
#include "bench/harness/result_lines.hpp"

namespace deltamatch::bench {

/// Counts each query in the whole graph under each policy, each on an engine of its own. Caches hold 1 / options.parts of the
/// lists. Prints one JSON line for the graph and one for each count. Returns 1 if counts differ or a policy fails, else 0.
int run_whole(const BenchOptions& options, Report& report);

}  // namespace deltamatch::bench
