// What the operating system says about this process, as Prometheus names it.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace deltamatch::ingest {

/// The standard metrics of this process, as of now: `process_cpu_seconds_total`, `process_open_fds`, `process_max_fds`,
/// `process_virtual_memory_bytes`, `process_resident_memory_bytes`, `process_start_time_seconds` and `process_threads`. What
/// /proc does not tell is left out. Costs about one system call per open file. Throws nothing but std::bad_alloc.
[[nodiscard]] std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace deltamatch::ingest
