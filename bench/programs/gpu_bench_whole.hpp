// gpu_bench --whole: the contest of counts in whole graphs.
#pragma once

#include "bench/harness/bench_options.hpp"
#include "bench/harness/result_lines.hpp"

namespace deltamatch::bench {

/// Counts each query in the whole graph under each policy, on an engine of its own: caches hold 1 / options.parts of the lists.
/// One JSON line for the graph and one for each count; returns 1 where counts differ or a policy fails, else 0.
int run_whole(const BenchOptions& options, Report& report);

}  // namespace deltamatch::bench
