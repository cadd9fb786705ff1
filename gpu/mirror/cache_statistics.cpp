#include "gpu/mirror/cache_statistics.hpp"

#include <cmath>
#include <utility>

namespace deltamatch::gpu {

BackendStatistics to_metrics(const CacheStatistics& statistics) {
  using Kind = BackendMetric::Kind;
  BackendStatistics made;
  const auto add = [&](std::string_view name, std::variant<std::uint64_t, double> value, Kind kind, const char* help) {
    made.metrics.push_back({std::string(name), value, kind, help});
  };
  add(backend_metrics::hits, statistics.hits, Kind::counter, "Lists that kernels looked up in device memory.");
  add(backend_metrics::misses, statistics.misses, Kind::counter, "Lists that kernels looked up in host memory.");
  add("filled", statistics.filled, Kind::counter, "Vertices whose lists kernels copied to device memory on a miss.");
  add(backend_metrics::copied_bytes, statistics.copied_bytes, Kind::counter, "Bytes sent to GPUs in bulk.");
  add(backend_metrics::cached_lists, statistics.cached_lists, Kind::gauge, "Lists in device memory.");
  add(backend_metrics::cached_bytes, statistics.cached_bytes, Kind::gauge, "Bytes of lists in device memory.");
  add("choices", statistics.choices, Kind::counter, "Times that the contents of the cache were chosen anew.");
  add("on_cpu", statistics.on_cpu, Kind::counter, "Queries that the CPU matched instead, counted once per batch.");
  add("shared_parts", statistics.shared_parts, Kind::counter, "Parts of work that busy warps gave to idle ones.");
  add(backend_metrics::kernel_seconds, statistics.kernel_seconds, Kind::counter, "Seconds that kernels ran.");
  if (!statistics.top.empty()) {
    add(backend_metrics::coverage, statistics.coverage, Kind::gauge,
        "Share of the 5 % most looked-up lists that lay in device memory.");
  }
  for (const estimate::TopLists& top : statistics.top) {
    const std::string name = "top_" + std::to_string(std::lround(100 * top.share)) + "_";
    add(name + "accesses", top.accesses, Kind::gauge, "Share of all look-ups that fell on the most looked-up lists.");
    add(name + "coverage", top.coverage, Kind::gauge, "Share of the most looked-up lists that lay in device memory.");
    add(name + "bytes", top.bytes, Kind::gauge, "Bytes of the most looked-up lists.");
  }
  made.notice = statistics.notice;
  return made;
}

}  // namespace deltamatch::gpu
